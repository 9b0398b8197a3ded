#include "sim/mailbox.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim;
using detail::Mailbox;
using detail::Message;

namespace {

/// Counts how often somebody looks at a message.
class CountingPool {
 public:
  std::uint32_t make(std::uint32_t slot) {
    messages_.emplace_back().receive_slot = slot;
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  [[nodiscard]] Message& operator[](std::uint32_t id) {
    ++looks_;
    return messages_[id];
  }
  [[nodiscard]] const Message& operator[](std::uint32_t id) const {
    ++looks_;
    return messages_[id];
  }
  [[nodiscard]] std::size_t looks() const { return looks_; }

 private:
  std::vector<Message> messages_;
  mutable std::size_t looks_ = 0;
};

}  // namespace

TEST_CASE("a mailbox gives the messages of each slot in the order in which they came") {
  CountingPool pool;
  Mailbox mailbox;
  CHECK_FALSE(mailbox.has(pool, 3));
  const std::uint32_t first = pool.make(3);
  const std::uint32_t second = pool.make(3);
  const std::uint32_t other = pool.make(4);
  CHECK(mailbox.add(pool, first));
  CHECK_FALSE(mailbox.add(pool, second));
  CHECK(mailbox.add(pool, other));
  CHECK(mailbox.take(pool, 3) == first);
  CHECK(mailbox.has(pool, 3));
  CHECK(mailbox.take(pool, 3) == second);
  CHECK_FALSE(mailbox.has(pool, 3));
  CHECK(mailbox.take(pool, 4) == other);
  CHECK_FALSE(mailbox.has(pool, 4));
}

TEST_CASE("a mailbox is as many queues as there are slots, whatever the slots' numbers") {
  std::mt19937 random(17);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (const std::uint32_t step : {1U, 64U, 1U << 20U}) {
    CountingPool pool;
    Mailbox mailbox;
    std::map<std::uint32_t, std::deque<std::uint32_t>> queues;
    for (int round = 0; round < 5000; ++round) {
      const std::uint32_t slot = step * below(200);
      std::deque<std::uint32_t>& queue = queues[slot];
      REQUIRE(mailbox.has(pool, slot) == !queue.empty());
      // Fills for the first half of the rounds, empties in the second.
      const bool adds = below(4) != 0;
      if (adds == (round < 2500)) {
        const std::uint32_t id = pool.make(slot);
        REQUIRE(mailbox.add(pool, id) == queue.empty());
        queue.push_back(id);
      } else if (!queue.empty()) {
        REQUIRE(mailbox.take(pool, slot) == queue.front());
        queue.pop_front();
      }
    }
  }
}

TEST_CASE("a message of a step with many receive slots costs as much as one of a step with few") {
  // Four searches each: is it there, add, is it there, take. A search of the one chain sees at most
  // 8 messages, one of a chain of its own fewer. Adding and taking look at a message and its
  // neighbours, dealing out at each message O(1) times over all doublings: 8 more.
  constexpr std::size_t looks_per_message = 4 * 8 + 8;
  for (const std::uint32_t slots : {1U, 8U, 9U, 1024U, 16384U}) {
    CountingPool pool;
    Mailbox mailbox;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      CHECK_FALSE(mailbox.has(pool, slot));
      mailbox.add(pool, pool.make(slot));
    }
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      CHECK(mailbox.has(pool, slot));
      CHECK(mailbox.take(pool, slot) == slot);
    }
    CAPTURE(slots);
    CHECK(pool.looks() <= looks_per_message * slots);
  }
}

TEST_CASE("a sender that is far ahead does not make the messages of the others costly") {
  CountingPool pool;
  Mailbox mailbox;
  constexpr std::uint32_t ahead = 10'000;
  for (std::uint32_t number = 0; number < ahead; ++number) {
    mailbox.add(pool, pool.make(0));
  }
  const std::size_t before = pool.looks();
  CHECK_FALSE(mailbox.has(pool, 1));
  mailbox.add(pool, pool.make(1));
  CHECK(mailbox.take(pool, 1) == ahead);
  CHECK(pool.looks() - before <= 16);
}
