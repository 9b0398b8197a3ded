#include "validate/cuda/gpu_shares.hpp"

namespace collsim {

std::vector<std::uint32_t> gpus_by_rank(std::uint32_t ranks, std::uint32_t gpus) {
  std::vector<std::uint32_t> result;
  result.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    result.push_back(
        ranks <= gpus ? rank : static_cast<std::uint32_t>(std::uint64_t{rank} * gpus / ranks));
  }
  return result;
}

HostShare share_of_host(const std::vector<std::string>& hosts, std::uint32_t rank) {
  HostShare share;
  for (std::uint32_t other = 0; other < hosts.size(); ++other) {
    if (hosts[other] == hosts[rank]) {
      share.index += other < rank ? 1 : 0;
      ++share.ranks;
    }
  }
  return share;
}

}  // namespace collsim
