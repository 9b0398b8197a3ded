#pragma once

// The machine of interpreter.hpp as threads of the host: real memory orders, one or several threads a block.

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include "kernels/interpreter.hpp"

namespace collsim::kernels {

class HostMachine {
 public:
  /// Requires: the barrier outlives it, and is for `threads`.
  HostMachine(std::uint32_t thread, std::uint32_t threads, std::barrier<>& barrier)
      : thread_(thread), threads_(threads), barrier_(barrier) {}

  [[nodiscard]] std::uint32_t thread() const { return thread_; }
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  void barrier() {
    if (threads_ > 1) {
      barrier_.arrive_and_wait();
    }
  }

  std::uint64_t acquire(const std::uint64_t* counter) const {
    return std::atomic_ref(*const_cast<std::uint64_t*>(counter))  // NOLINT(*-const-cast)
        .load(std::memory_order_acquire);
  }
  /// publish() releases: sanitizers know no fences.
  void fence() const {}
  void publish(std::uint64_t* counter, std::uint64_t value) const {
    std::atomic_ref(*counter).store(value, std::memory_order_release);
  }
  bool claim(std::uint64_t* word) const {
    std::uint64_t free = 0;
    return std::atomic_ref(*word).compare_exchange_strong(free, 1);
  }

  template <class Word>
  Word load(const std::byte* from) const {
    Word word{};
    std::memcpy(static_cast<void*>(&word), from, sizeof(word));
    return word;
  }
  template <class Word>
  void store(std::byte* to, Word word) const {
    std::memcpy(to, &word, sizeof(word));
  }

  /// Flags are the message's only order: as weak as on the device.
  Line load_line(const std::byte* from) const {
    // NOLINTNEXTLINE(*-const-cast,*-reinterpret-cast): atomic_ref takes no const object before C++26
    auto* const halves = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(from));
    return {std::atomic_ref(halves[0]).load(std::memory_order_relaxed),
            std::atomic_ref(halves[1]).load(std::memory_order_relaxed)};
  }
  void store_line(std::byte* to, Line line) const {
    auto* const halves = reinterpret_cast<std::uint64_t*>(to);  // NOLINT(*-reinterpret-cast)
    std::atomic_ref(halves[0]).store(line.first, std::memory_order_relaxed);
    std::atomic_ref(halves[1]).store(line.second, std::memory_order_relaxed);
  }

  /// A thread moves a line of LL128 alone.
  static constexpr std::uint32_t line_threads = 1;
  static constexpr std::uint32_t team_threads = 1;
  void meet_team() const {}
  bool any_of_team(bool own) const { return own; }
  /// The second half is, or is behind, what says that the rest is there: read first, written last.
  Line load_flagged(const std::byte* from) const {
    // NOLINTNEXTLINE(*-const-cast,*-reinterpret-cast): atomic_ref takes no const object before C++26
    auto* const halves = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(from));
    const std::uint64_t second = std::atomic_ref(halves[1]).load(std::memory_order_acquire);
    return {std::atomic_ref(halves[0]).load(std::memory_order_relaxed), second};
  }
  void store_flagged(std::byte* to, Line line) const {
    auto* const halves = reinterpret_cast<std::uint64_t*>(to);  // NOLINT(*-reinterpret-cast)
    std::atomic_ref(halves[0]).store(line.first, std::memory_order_relaxed);
    std::atomic_ref(halves[1]).store(line.second, std::memory_order_release);
  }

  std::uint64_t now() const {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  }
  void relax() const { std::this_thread::yield(); }

 private:
  std::uint32_t thread_;
  std::uint32_t threads_;
  std::barrier<>& barrier_;
};

}  // namespace collsim::kernels
