#pragma once

// Slots that are reused: memory follows the number in use at once. A slot is handed out as its last
// user left it, so that a generation in it can outlive its users.

#include <cstddef>
#include <vector>

namespace collsim {

template <class Id, class Slot>
class SlotPool {
 public:
  [[nodiscard]] Id take() {
    if (free_.empty()) {
      slots_.emplace_back();
      return Id(slots_.size() - 1);
    }
    const Id id = free_.back();
    free_.pop_back();
    return id;
  }
  /// Requires: taken and not given back.
  void give_back(Id id) { free_.push_back(id); }

  /// So many will be in use at once, if they are: a hint.
  void expect(std::size_t slots) { slots_.reserve(slots); }

  [[nodiscard]] Slot& operator[](Id id) { return slots_[id.index()]; }
  [[nodiscard]] const Slot& operator[](Id id) const { return slots_[id.index()]; }
  /// Slots that were ever in use at once.
  [[nodiscard]] std::size_t size() const { return slots_.size(); }

 private:
  std::vector<Slot> slots_;
  std::vector<Id> free_;
};

}  // namespace collsim
