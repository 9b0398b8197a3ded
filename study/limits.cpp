#include "study/limits.hpp"

#include <algorithm>
#include <string>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// In whole MiB; what cannot be counted is as much as can.
Bytes memory_of(std::uint64_t lanes, std::uint64_t rank_times) {
  constexpr U128 bytes_per_lane = 1'400;
  constexpr U128 mebibyte = U128{1} << 20U;
  constexpr auto most = static_cast<U128>(std::numeric_limits<std::int64_t>::max());
  const U128 bytes = lanes * bytes_per_lane + U128{rank_times} * sizeof(Duration);
  return Bytes(static_cast<std::int64_t>(
      std::min((bytes + mebibyte - 1) / mebibyte * mebibyte, most / mebibyte * mebibyte)));
}

}  // namespace

RunSize size_of_run(const Program& program, std::uint64_t groups, std::uint64_t calls) {
  std::uint64_t lanes = 0;
  const std::uint32_t ranks = program.call().ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    lanes += program.lane_count(Rank(rank));
  }
  const std::uint64_t transfers = program.transfer_count();
  if (groups > 0 && transfers > std::numeric_limits<std::uint64_t>::max() / groups) {
    throw RangeError(std::to_string(groups) + " groups of " + std::to_string(transfers) +
                     " transfers are more than can be counted");
  }
  return {transfers * groups, calls, memory_of(lanes * groups, groups * ranks * calls)};
}

WithinLimits check_limits(const RunSize& size, const RunLimits& limits) {
  if (size.calls > 0 && size.transfers > limits.max_transfers / size.calls) {
    return WithinLimits::TooManyTransfers;
  }
  return size.memory > limits.max_memory ? WithinLimits::TooMuchMemory : WithinLimits::Yes;
}

}  // namespace collsim
