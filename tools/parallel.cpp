#include "tools/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace collsim {

void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& body,
                          const std::function<void(std::size_t done)>& progress) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::mutex failing;
  std::exception_ptr failure;
  std::size_t failed = count;
  const auto work = [&](bool reports) {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
        next = count;
      }
      ++done;
      if (reports && progress) {
        progress(done);
      }
    }
  };
  {
    const std::size_t threads =
        std::min<std::size_t>(std::max(std::thread::hardware_concurrency(), 1U), count);
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) {
      others.emplace_back(work, false);
    }
    work(true);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace collsim
