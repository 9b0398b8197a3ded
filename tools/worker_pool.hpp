#pragma once

// Threads that turn numbers into lines of text, each with a state of its own, for a thread that hands numbers out and
// takes lines in when it likes.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace collsim {

struct FinishedLine {
  std::size_t index = 0;
  std::string line;
};

class WorkerPool {
 public:
  /// What a worker does with a number. Must not throw.
  using Work = std::function<std::string(std::size_t)>;

  /// `make` gives each of the workers what it does; called in the thread that makes the pool. Where the system does
  /// not allow so many threads, there are as many workers as it allows. Throws: InputError("--jobs") if that is none.
  WorkerPool(std::size_t workers, const std::function<Work()>& make);
  /// Waits for what is under way.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// How many there are, at least one if any were asked for.
  [[nodiscard]] std::size_t workers() const { return workers_.size(); }
  /// How many numbers can be handed out that a worker would begin at once.
  [[nodiscard]] std::size_t free() const { return workers_.size() - under_way_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  void submit(std::size_t index);
  /// A line that is finished; waits for one at most so long.
  [[nodiscard]] std::optional<FinishedLine> take(std::chrono::milliseconds patience);

 private:
  void work(const std::stop_token& stop, const Work& work);

  std::mutex mutex_;
  std::condition_variable_any handed_out_;
  std::condition_variable finished_;
  std::deque<std::size_t> queue_;
  std::deque<FinishedLine> lines_;
  std::size_t under_way_ = 0;  ///< of the thread that hands out
  std::vector<std::jthread> workers_;
};

}  // namespace collsim
