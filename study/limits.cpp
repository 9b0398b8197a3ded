#include "study/limits.hpp"

#include <cstdint>

namespace collsim {

Bytes memory_estimate(const Program& program) {
  constexpr std::int64_t bytes_per_lane = 1'400;
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  std::int64_t lanes = 0;
  for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
    lanes += program.lane_count(Rank(rank));
  }
  return Bytes((lanes * bytes_per_lane + mebibyte - 1) / mebibyte * mebibyte);
}

}  // namespace collsim
