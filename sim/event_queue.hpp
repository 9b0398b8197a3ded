#pragma once

// The event queue: a binary heap of small typed events in the order (time, phase, sequence). First
// in, first out on ties. Nothing is cancelled: an event carries a generation, and its owner ignores
// it when the generation is no longer current.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/units.hpp"

namespace collsim {

/// The order of events of one instant. No result depends on it; it keeps traces readable and makes
/// every run handle events in the same order.
enum class EventPhase : std::uint8_t {
  capacity,   ///< a link's capacity changes: before anything that may start on it
  departure,  ///< the last byte of a transfer has left: frees its lane
  arrival,    ///< the last byte has arrived: after departures, which may be of the same lane
  step,       ///< a timed step or a wait is over
  operation,  ///< a rank's next operation starts: after everything that may end the previous one
};

struct Event {
  Time time;
  EventPhase phase = EventPhase::step;
  std::uint32_t subject = 0;     ///< what it is about: a transfer, a message, a lane, an operation
  std::uint32_t generation = 0;  ///< of the subject
};

class EventQueue {
 public:
  /// Throws: InternalError if the event lies before now(). Complexity: O(log pending).
  void push(const Event& event);
  /// Requires: not empty. Moves now() to the event's time. Complexity: O(log pending).
  Event pop();

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] Time now() const { return now_; }
  /// Time of the next event. Requires: not empty.
  [[nodiscard]] Time next_time() const { return heap_.front().time; }
  /// Events popped so far.
  [[nodiscard]] std::uint64_t popped() const { return popped_; }

 private:
  struct Entry {
    Time time;
    std::uint64_t order = 0;  ///< phase in the top 8 bits, sequence below
    std::uint32_t subject = 0;
    std::uint32_t generation = 0;
  };
  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
  std::uint64_t popped_ = 0;
  Time now_{};
};

}  // namespace collsim
