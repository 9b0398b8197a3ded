#include "tools/worker_pool.hpp"

#include <system_error>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

WorkerPool::WorkerPool(std::size_t workers, const std::function<Work()>& make) {
  for (std::size_t i = 0; i < workers; ++i) {
    Work job = make();
    try {
      workers_.emplace_back(
          [this, job = std::move(job)](const std::stop_token& stop) { work(stop, job); });
    } catch (const std::system_error& error) {
      if (workers_.empty()) {
        throw InputError(
            "no thread can be started: " + error.code().message(), "--jobs",
            "the limits of processes and of memory (ulimit -a) must leave room for one");
      }
      return;
    }
  }
}

WorkerPool::~WorkerPool() {
  for (std::jthread& worker : workers_) {
    worker.request_stop();
  }
}

void WorkerPool::work(const std::stop_token& stop, const Work& work) {
  while (true) {
    std::size_t index = 0;
    {
      std::unique_lock lock(mutex_);
      if (!handed_out_.wait(lock, stop, [this] { return !queue_.empty(); })) {
        return;
      }
      index = queue_.front();
      queue_.pop_front();
    }
    std::string line = work(index);
    {
      const std::lock_guard lock(mutex_);
      lines_.push_back({index, std::move(line)});
    }
    finished_.notify_one();
  }
}

void WorkerPool::submit(std::size_t index) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(index);
  }
  ++under_way_;
  handed_out_.notify_one();
}

std::optional<FinishedLine> WorkerPool::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!finished_.wait_for(lock, patience, [this] { return !lines_.empty(); })) {
    return std::nullopt;
  }
  FinishedLine line = std::move(lines_.front());
  lines_.pop_front();
  --under_way_;
  return line;
}

}  // namespace collsim
