#include "tools/worker_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Runs numbers 0 … count - 1 and returns them as they came back.
std::vector<std::size_t> run(WorkerPool& pool, std::size_t count) {
  std::vector<std::size_t> done;
  for (std::size_t next = 0; done.size() < count;) {
    while (next < count && pool.free() > 0) {
      pool.submit(next++);
    }
    if (const auto line = pool.take(std::chrono::seconds(60))) {
      CHECK(line->line == "line " + std::to_string(line->index));
      done.push_back(line->index);
    }
  }
  return done;
}

WorkerPool::Work echo() {
  return [](std::size_t index) { return "line " + std::to_string(index); };
}

/// While it lives no thread can be started once `exhaust` was called: its stack would be larger than what any process
/// can address.
class Threads {
 public:
  Threads() { pthread_getattr_default_np(&before_); }
  ~Threads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  static void exhaust() {
    constexpr std::size_t stack = std::size_t{1} << 60U;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstacksize(&attributes, stack) == 0);
    REQUIRE(pthread_setattr_default_np(&attributes) == 0);
    pthread_attr_destroy(&attributes);
  }

 private:
  pthread_attr_t before_{};
};

}  // namespace

TEST_CASE("Every number that is handed out comes back once") {
  for (const std::size_t workers : {1U, 4U}) {
    WorkerPool pool(workers, echo);
    std::vector<std::size_t> done = run(pool, 1000);
    std::ranges::sort(done);
    for (std::size_t i = 0; i < done.size(); ++i) {
      CHECK(done[i] == i);
    }
    CHECK(pool.free() == workers);
    CHECK(pool.under_way() == 0);
  }
}

TEST_CASE("A worker alone keeps the order, and has a state of its own") {
  std::size_t made = 0;
  WorkerPool pool(1, [&made] {
    ++made;
    return [calls = std::make_shared<std::size_t>(0)](std::size_t index) {
      return (*calls)++ == index ? "line " + std::to_string(index) : "out of order";
    };
  });
  CHECK(made == 1);
  const std::vector<std::size_t> done = run(pool, 100);
  CHECK(std::ranges::is_sorted(done));
}

TEST_CASE("Where threads run out those that there are do the work") {
  const Threads threads;
  std::size_t made = 0;
  WorkerPool pool(900, [&made] {
    if (++made == 3) {
      Threads::exhaust();
    }
    return echo();
  });
  CHECK(pool.workers() == 2);
  CHECK(pool.free() == 2);
  CHECK(run(pool, 100).size() == 100);
}

TEST_CASE("Where no thread can be started the number of jobs is refused") {
  const Threads threads;
  Threads::exhaust();
  std::string message;
  try {
    const WorkerPool pool(900, echo);
  } catch (const InputError& error) {
    message = error.render();
  }
  CHECK(message.starts_with("error: --jobs: no thread can be started: "));
}

TEST_CASE("Where nothing is under way there is nothing to take") {
  WorkerPool pool(2, echo);
  CHECK_FALSE(pool.take(std::chrono::milliseconds(1)));
}

}  // namespace collsim
