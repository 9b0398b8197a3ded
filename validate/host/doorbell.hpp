#pragma once

// How a thread sleeps until one of the many things that it waits for has happened.
//
// Whoever changes something that the thread may wait for rings. The thread reads count() before it looks at what it waits for, and
// sleeps only if nobody has rung since.

#include <atomic>
#include <cstdint>

namespace collsim {

class Doorbell {
 public:
  [[nodiscard]] std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  void ring() {
    count_.fetch_add(1, std::memory_order_release);
    count_.notify_one();
  }
  /// Returns when the count is no longer `seen`: after that many looks it sleeps.
  void wait(std::uint32_t seen, std::uint32_t looks) {
    for (std::uint32_t i = 0; i < looks; ++i) {
      if (count() != seen) {
        return;
      }
      relax();
    }
    count_.wait(seen, std::memory_order_acquire);
  }

 private:
  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  alignas(64) std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace collsim
