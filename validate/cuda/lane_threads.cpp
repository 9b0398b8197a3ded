#include "validate/cuda/lane_threads.hpp"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>

#include "kernels/host_machine.hpp"
#include "kernels/with_element.hpp"

namespace collsim {

namespace {

/// A block of threads.
struct Block {
  explicit Block(std::uint32_t threads) : barrier(threads) {}

  std::barrier<> barrier;
  kernels::BlockState state{};
};

}  // namespace

LaneThreads::LaneThreads(const Program& program, const LaneThreadsOptions& options)
    : options_(options), program_(program, options.wire) {
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
    for (const kernels::BlockTable& block : program_.blocks(Rank(rank), starts_[rank])) {
      blocks_.push_back(block);
      device_of_block_.push_back(rank % options_.devices);
    }
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
  const auto patience = std::chrono::nanoseconds(options_.patience).count();
  kernels::LaunchTable launch =
      program_.launch(blocks_.data(), &failure, static_cast<std::uint64_t>(patience));
  launch.flags = options_.flags;
  std::vector<std::unique_ptr<std::barrier<>>> ends_of_launch;
  ends_of_launch.reserve(options_.devices);
  for (std::uint32_t device = 0; device < options_.devices; ++device) {
    const auto threads = std::ranges::count(device_of_block_, device) * options_.threads;
    ends_of_launch.push_back(std::make_unique<std::barrier<>>(threads));
  }
  std::vector<std::unique_ptr<Block>> blocks;
  blocks.reserve(blocks_.size());
  std::vector<std::jthread> threads;
  threads.reserve(blocks_.size() * options_.threads);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks.push_back(std::make_unique<Block>(options_.threads));
    for (std::uint32_t thread = 0; thread < options_.threads; ++thread) {
      threads.emplace_back([&, &block = *blocks[i], &table = blocks_[i],
                            &end_of_launch = *ends_of_launch[device_of_block_[i]], thread] {
        kernels::HostMachine machine(thread, options_.threads, block.barrier);
        for (std::uint32_t call = 0; call < calls; ++call) {
          kernels::with_element(program_.type(), [&]<class T>() {
            kernels::LaneRun(machine, launch, table, block.state).template run<T>();
          });
          end_of_launch.arrive_and_wait();
        }
      });
    }
  }
  threads.clear();
  if (failure.claimed != 0) {
    throw ExecutionError("no progress for " + std::to_string(options_.patience.count()) +
                         " ms: " + program_.text_of(failure));
  }
}

}  // namespace collsim
