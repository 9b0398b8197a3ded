#pragma once

// The event queue: small typed events in the order (time, phase, sequence), so first in, first out
// on ties. Nothing is cancelled: an event carries a generation, and its owner ignores it when the
// generation is no longer current.
//
// In symmetric collectives thousands of events share one time and phase. They are kept in one
// batch, a list in order of arrival, and only batches are ordered by a heap (4-ary: fewer cache
// misses than a binary one). An event that joins a batch costs O(1). Batches are found by a small
// direct-mapped table that may forget one: then a second batch of the same time and phase begins
// behind it, which keeps the order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/units.hpp"

namespace collsim {

/// The order of events of one instant. No result depends on it; it keeps traces readable and makes
/// every run handle events in the same order.
enum class EventPhase : std::uint8_t {
  Capacity,   ///< a link's capacity changes: before anything that may start on it
  Departure,  ///< the last byte of a transfer has left: frees its lane
  Arrival,    ///< the last byte has arrived: after departures, which may be of the same lane
  Staged,     ///< a message lies where the proxy finds it
  Work,       ///< a lane's timed work is over
  Launch,     ///< a rank's kernel starts
  Step,       ///< a timed step or a wait is over
  Operation,  ///< a rank's next operation starts: after everything that may end the previous one
};

struct Event {
  Time time;
  EventPhase phase = EventPhase::Step;
  std::uint32_t subject = 0;  ///< what it is about: a transfer, a message, a lane, an operation
  std::uint32_t generation =
      0;  ///< of a transfer: old ones are void; of an operation: the rank; of a
          ///< lane: the operation
};

class EventQueue {
 public:
  EventQueue();

  /// Throws: InternalError if the event lies before now(). Complexity: O(log batches pending), O(1)
  /// if it joins a batch.
  void push(const Event& event);
  /// Requires: not empty. Moves now() to the event's time. Complexity: as push().
  Event pop();

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Time now() const { return now_; }
  /// Time of the next event. Requires: not empty.
  [[nodiscard]] Time next_time() const { return heap_.front().time; }
  /// Events popped so far.
  [[nodiscard]] std::uint64_t popped() const { return popped_; }

 private:
  /// An event of a batch. Position 0 of items_ is nobody's and ends lists.
  struct Item {
    std::uint32_t subject = 0;
    std::uint32_t generation = 0;
    std::uint32_t next = 0;
  };
  /// Events of one time and phase; first = 0: not in use. Position 0 of batches_ is never in use.
  struct Batch {
    Time time;
    EventPhase phase = EventPhase::Step;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  struct Entry {
    Time time;
    std::uint64_t order = 0;  ///< phase in the top 8 bits, sequence of the batch below
    std::uint32_t batch = 0;
  };

  static bool before(const Entry& a, const Entry& b);
  std::uint32_t new_item(const Event& event);
  void new_batch(const Event& event, std::uint32_t item, std::uint32_t& recent);
  void sift_up(std::size_t hole, const Entry& entry);
  void remove_front();

  std::vector<Entry> heap_;
  std::vector<Batch> batches_;
  std::vector<std::uint32_t> free_batches_;
  std::vector<Item> items_;
  std::uint32_t free_items_ = 0;            ///< first of a list
  std::array<std::uint32_t, 64> recent_{};  ///< by hash of time and phase: a batch, 0 for none
  std::size_t size_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t popped_ = 0;
  Time now_{};
};

}  // namespace collsim
