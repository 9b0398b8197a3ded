#pragma once
// What programs with lanes by channel have in common: how many channels there are, and tables that
// channels with equal connections share.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithms/nccl/execution.hpp"

namespace collsim::nccl {

/// Channels that run, joined ones counted each.
[[nodiscard]] inline std::uint32_t channel_count(const Execution& execution) {
  std::uint32_t count = 0;
  for (const ChannelWork& work : execution.work) {
    count += work.multiplicity;
  }
  return count;
}

/// One table for each distinct ring, tree, …, made from it once.
template <class Table>
class ChannelTables {
 public:
  /// Shapes: wirings[channel]. Requires: a Table can be made of a Wiring.
  template <class Wiring>
  ChannelTables(const std::vector<ChannelWork>& work, const std::vector<Wiring>& wirings) {
    std::vector<const Wiring*> known;
    for (const ChannelWork& part : work) {
      const Wiring& wiring = wirings.at(part.channel);
      const auto found =
          std::ranges::find_if(known, [&](const Wiring* other) { return *other == wiring; });
      table_of_.push_back(static_cast<std::size_t>(found - known.begin()));
      if (found == known.end()) {
        known.push_back(&wiring);
        tables_.emplace_back(wiring);
      }
    }
  }

  /// Of the channel at a place of Execution::work.
  [[nodiscard]] const Table& operator[](std::size_t index) const {
    return tables_[table_of_[index]];
  }

 private:
  std::vector<Table> tables_;
  std::vector<std::size_t> table_of_;
};

}  // namespace collsim::nccl
