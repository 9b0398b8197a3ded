#include "algorithms/pattern.hpp"

namespace collsim {

Part unit_part(const Pattern& pattern) {
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.ranks = pattern.blocks();
  call.count = 1;
  call.type = DataType::Int8;
  return Part(call, pattern.blocks(), pattern.scratch_blocks());
}

std::uint64_t Pattern::messages() const {
  const Part part = unit_part(*this);
  std::uint64_t count = 0;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    const Rank rank(r);
    for (std::uint32_t lane = 0; lane < lanes(rank); ++lane) {
      for (std::uint64_t index = 0; index < steps(rank, lane); ++index) {
        count += step(rank, lane, index, part).sends.count;
      }
    }
  }
  return count;
}

}  // namespace collsim
