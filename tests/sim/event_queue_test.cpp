#include "sim/event_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

using namespace literals;

Event event(std::int64_t picoseconds, EventPhase phase, std::uint32_t subject) {
  return Event{Time(Duration(picoseconds)), phase, subject, subject + 100};
}

std::vector<std::uint32_t> drain(EventQueue& queue) {
  std::vector<std::uint32_t> subjects;
  while (!queue.empty()) {
    subjects.push_back(queue.pop().subject);
  }
  return subjects;
}

TEST_CASE("events come out by time, then phase, then first in, first out", "[event_queue]") {
  EventQueue queue;
  queue.push(event(5, EventPhase::Arrival, 0));
  queue.push(event(5, EventPhase::Departure, 1));
  queue.push(event(3, EventPhase::Operation, 2));
  queue.push(event(5, EventPhase::Departure, 3));
  queue.push(event(5, EventPhase::Capacity, 4));
  queue.push(event(3, EventPhase::Operation, 5));
  CHECK(queue.size() == 6);
  CHECK(queue.next_time() == Time(3_ps));
  CHECK(drain(queue) == std::vector<std::uint32_t>{2, 5, 4, 1, 3, 0});
  CHECK(queue.now() == Time(5_ps));
  CHECK(queue.popped() == 6);
}

TEST_CASE("an event comes out as it went in", "[event_queue]") {
  EventQueue queue;
  queue.push(Event{Time(7_ps), EventPhase::Step, 11, 12});
  const Event out = queue.pop();
  CHECK(out.time == Time(7_ps));
  CHECK(out.phase == EventPhase::Step);
  CHECK(out.subject == 11);
  CHECK(out.generation == 12);
  CHECK(queue.empty());
}

TEST_CASE("an event of the present instant and an earlier phase comes next", "[event_queue]") {
  EventQueue queue;
  queue.push(event(5, EventPhase::Arrival, 0));
  queue.push(event(5, EventPhase::Arrival, 1));
  CHECK(queue.pop().subject == 0);
  queue.push(event(5, EventPhase::Departure, 2));
  queue.push(event(5, EventPhase::Arrival, 3));
  CHECK(drain(queue) == std::vector<std::uint32_t>{2, 1, 3});
}

TEST_CASE("an event in the past is a bug of ours", "[event_queue]") {
  EventQueue queue;
  queue.push(event(5, EventPhase::Step, 0));
  queue.pop();
  CHECK_THROWS_AS(queue.push(event(4, EventPhase::Step, 1)), InternalError);
}

// The law: at any moment the queue gives the least of what it holds by (time, phase, order of
// push). The reference is a stable search through a plain vector. Few different times make large
// batches, many make the table of recent batches forget.
TEST_CASE("any mixture of pushes and pops is in order", "[event_queue]") {
  const std::int64_t spread = GENERATE(as<std::int64_t>{}, 1, 7, 400, 1'000'000);
  CAPTURE(spread);
  std::mt19937_64 random(static_cast<std::uint64_t>(spread));
  EventQueue queue;
  std::vector<Event> reference;
  const auto earlier = [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.phase < b.phase;
  };
  bool same = true;
  for (std::uint32_t round = 0; round < 20'000; ++round) {
    const bool fill = (round / 500) % 2 == 0;
    if (reference.empty() || random() % 4 < (fill ? 3U : 1U)) {
      const auto delay = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread));
      const auto phase = static_cast<EventPhase>(random() % 5);
      const Event next{queue.now() + Duration(delay), phase, round, round};
      queue.push(next);
      reference.push_back(next);
    } else {
      const auto least = std::min_element(reference.begin(), reference.end(), earlier);
      same = same && queue.next_time() == least->time && queue.pop().subject == least->subject;
      reference.erase(least);
    }
    same = same && queue.size() == reference.size();
  }
  CHECK(same);
}

}  // namespace
}  // namespace collsim
