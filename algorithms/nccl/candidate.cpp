#include "algorithms/nccl/candidate.hpp"

namespace collsim::nccl {

bool is_better(const Candidate& found, const Candidate& best, std::size_t gpus) {
  if (found.channels < found.least_channels) {
    return false;
  }
  if (found.pattern == Pattern::Nvls) {
    return (found.channels > best.channels && found.channels <= gpus) ||
           found.total_inter() > best.total_inter();
  }
  if (found.total_intra() != best.total_intra()) {
    return found.total_intra() > best.total_intra();
  }
  return found.pattern == best.pattern && found.cross_nic == best.cross_nic &&
         found.hops < best.hops;
}

}  // namespace collsim::nccl
