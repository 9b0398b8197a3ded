#include "validate/cuda/lane_threads.hpp"

#include <algorithm>
#include <iterator>

namespace collsim {

LaneThreads::LaneThreads(const Program& program, const LaneThreadsOptions& options)
    : options_(options),
      program_(program, choose_wire(program, options.wire, WideLines::Carried)),
      gpus_(options.devices) {
  arenas_.reserve(program_.ranks());
  starts_.reserve(program_.ranks());
  for (std::uint32_t rank = 0; rank < program_.ranks(); ++rank) {
    // A cache line less aligned than on a GPU, which nothing depends on.
    arenas_.emplace_back(program_.arena_bytes(Rank(rank)));
    starts_.push_back(arenas_.back().data());
    std::fill_n(starts_.back(), arenas_.back().size(), std::byte{0});
  }
  for (std::uint32_t rank = 0; rank < program_.ranks(); ++rank) {
    const std::vector<std::byte> tables = program_.tables(Rank(rank), starts_);
    std::ranges::copy(tables, starts_[rank] + program_.tables_at(Rank(rank)));
    std::ranges::copy(program_.blocks(Rank(rank), starts_[rank]),
                      std::back_inserter(gpus_[rank % options_.devices]));
  }
}

void LaneThreads::poison(Rank rank) {
  std::fill_n(starts_[rank.index()], program_.memory_bytes(rank), std::byte{poison_pattern});
}

std::span<std::byte> LaneThreads::input(Rank rank) {
  return {starts_[rank.index()] + program_.input_at(rank), program_.input_bytes(rank)};
}

std::span<std::byte> LaneThreads::output(Rank rank) {
  return {starts_[rank.index()] + program_.output_at(rank), program_.output_bytes(rank)};
}

void LaneThreads::run(std::uint32_t calls) {
  kernels::Failure failure{};
  kernels::LaunchTable launch = program_.launch(nullptr, &failure, nullptr, options_.patience);
  launch.flags = options_.flags;
  run_block_threads(program_.type(), launch, gpus_, options_.threads, calls, {});
  if (failure.claimed != 0) {
    throw ExecutionError("no progress for " + std::to_string(options_.patience.count()) +
                         " ms: " + program_.text_of(failure));
  }
}

}  // namespace collsim
