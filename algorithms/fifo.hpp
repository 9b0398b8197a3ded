#pragma once

// A queue that is small when empty: there is one for every connection of a program, most of them
// empty most of the time. (An empty std::deque takes half a kilobyte.)

#include <cstddef>
#include <utility>
#include <vector>

namespace collsim::detail {

template <class Value>
class Fifo {
 public:
  void push(Value value) { items_.push_back(std::move(value)); }
  [[nodiscard]] bool empty() const { return first_ == items_.size(); }
  [[nodiscard]] std::size_t size() const { return items_.size() - first_; }
  /// Requires: not empty.
  [[nodiscard]] const Value& front() const { return items_[first_]; }

  /// Requires: not empty. Complexity: O(1) amortised.
  Value pop() {
    Value value = std::move(items_[first_++]);
    if (first_ * 2 >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return value;
  }

 private:
  std::vector<Value> items_;
  std::size_t first_ = 0;
};

}  // namespace collsim::detail
