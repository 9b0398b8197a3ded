#include "validate/cuda/block_threads.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
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

/// Ends all waits when it goes, which is too late for those that have ended by themselves.
class Abort {
 public:
  explicit Abort(std::uint64_t& word) : word_(word) {}
  ~Abort() { std::atomic_ref(word_).store(1, std::memory_order_release); }
  Abort(const Abort&) = delete;
  Abort& operator=(const Abort&) = delete;

 private:
  std::uint64_t& word_;
};

}  // namespace

void run_block_threads(DataType type, kernels::LaunchTable launch,
                       const std::vector<BlocksOfGpu>& gpus, std::uint32_t threads,
                       std::uint32_t calls, const std::function<void()>& watch) {
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<std::barrier<>>> ends_of_call;
  std::uint64_t word = 0;
  launch.abort = &word;
  std::atomic<std::size_t> running = 0;
  for (const BlocksOfGpu& gpu : gpus) {
    running += gpu.size() * threads;
  }
  std::vector<std::jthread> all;
  all.reserve(running);
  for (const BlocksOfGpu& gpu : gpus) {
    const auto members = static_cast<std::ptrdiff_t>(gpu.size() * threads);
    ends_of_call.push_back(std::make_unique<std::barrier<>>(members));
    for (const kernels::BlockTable& table : gpu) {
      blocks.push_back(std::make_unique<Block>(threads));
      for (std::uint32_t thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, &block = *blocks.back(), &end_of_call = *ends_of_call.back(), thread] {
          kernels::HostMachine machine(thread, threads, block.barrier);
          for (std::uint32_t call = 0; call < calls; ++call) {
            kernels::with_element(type, [&]<class T>() {
              kernels::LaneRun(machine, launch, table, block.state).template run<T>();
            });
            end_of_call.arrive_and_wait();
          }
          --running;
        });
      }
    }
  }
  const Abort abort(word);
  constexpr std::chrono::microseconds nap{200};
  while (watch && running > 0) {
    watch();
    std::this_thread::sleep_for(nap);
  }
  if (!watch) {
    all.clear();
  }
}

}  // namespace collsim
