#pragma once

// Lanes that wait until a counter reaches a value.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "algorithms/program_wiring.hpp"

namespace collsim::detail {

class Waiters {
 public:
  void add(std::uint64_t value, LaneId lane) {
    heap_.emplace_back(value, lane);
    std::ranges::push_heap(heap_, std::greater<>());
  }
  [[nodiscard]] bool any(std::uint64_t reached) const {
    return !heap_.empty() && heap_.front().first <= reached;
  }
  /// The one that has waited for the least. Requires: any().
  LaneId take() {
    std::ranges::pop_heap(heap_, std::greater<>());
    const LaneId lane = heap_.back().second;
    heap_.pop_back();
    return lane;
  }

 private:
  std::vector<std::pair<std::uint64_t, LaneId>> heap_;
};

}  // namespace collsim::detail
