#pragma once

// How many messages each send slot has under way, for lanes with a FIFO depth. Counters for the
// first slots of every lane, which is all that most have, and a map for the others. Internal to the
// executor.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace collsim::detail {

/// A slot of a lane, as a key.
[[nodiscard]] inline std::uint64_t lane_slot(std::uint32_t lane, std::uint32_t slot) {
  return (static_cast<std::uint64_t>(lane) << 32U) | slot;
}

class FifoCounts {
 public:
  [[nodiscard]] std::uint32_t used(std::uint32_t lane, std::uint32_t slot) const {
    if (slot < near_slots) {
      return lane < near_.size() ? near_[lane][slot] : 0;
    }
    const auto found = far_.find(lane_slot(lane, slot));
    return found == far_.end() ? 0 : found->second;
  }
  void add(std::uint32_t lane, std::uint32_t slot) {
    if (slot >= near_slots) {
      ++far_[lane_slot(lane, slot)];
      return;
    }
    if (lane >= near_.size()) {
      near_.resize(std::size_t{lane} + 1);
    }
    ++near_[lane][slot];
  }
  /// Requires: used() > 0.
  void remove(std::uint32_t lane, std::uint32_t slot) {
    if (slot < near_slots) {
      --near_[lane][slot];
      return;
    }
    const auto found = far_.find(lane_slot(lane, slot));
    if (--found->second == 0) {
      far_.erase(found);
    }
  }

 private:
  static constexpr std::uint32_t near_slots = 8;

  std::vector<std::array<std::uint32_t, near_slots>> near_;
  std::unordered_map<std::uint64_t, std::uint32_t> far_;
};

}  // namespace collsim::detail
