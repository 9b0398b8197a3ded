#pragma once

// Which links hang together through the routes that were opened, and which flows are in such a group of
// links now. No flow's rate depends on what happens in another group.
//
// Groups only ever grow together, however many routes are closed again: they are those of a node's
// switch, of a pair of GPUs, or of all that a network joins.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/fair_share.hpp"
#include "sim/known_shares.hpp"
#include "sim/network.hpp"

namespace collsim {

struct FlowGroup {
  std::vector<LinkId> links;
  std::vector<FlowKind> kinds;        ///< of its flows, ascending
  std::vector<TransferId> transfers;  ///< in the same order
  std::uint64_t hash = 0;             ///< the sum of the kinds' hashes
  std::size_t searched = 0;           ///< flows on its links that are not in it
  bool changed = false;               ///< since it was last looked at

  void add(const FlowKind& kind, TransferId transfer);
  /// Requires: it is there.
  void remove(TransferId transfer);
  void clear();
};

class FlowGroups {
 public:
  explicit FlowGroups(std::size_t links) : group_of_link_(links, none) {}

  /// See Network::add_resource.
  void add_resource() { group_of_link_.push_back(none); }
  /// The links of a route hang together from now on. Complexity: O(hops) where they do already; in all
  /// O(links · log links).
  void join(std::span<const ResourceUse> hops);
  /// The number of the group of a link of some route.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t link) const { return group_of_link_[link]; }
  /// The group of any link; null: no route crosses it.
  [[nodiscard]] FlowGroup* group_of(LinkId link) {
    const std::uint32_t number = group_of_link_[link.index()];
    return number == none ? nullptr : &groups_[number];
  }
  [[nodiscard]] FlowGroup& operator[](std::uint32_t number) { return groups_[number]; }

 private:
  static constexpr std::uint32_t none = 0xffff'ffffU;

  void add_to(std::uint32_t group, std::uint32_t link);
  [[nodiscard]] std::uint32_t merged(std::uint32_t a, std::uint32_t b);

  std::vector<std::uint32_t> group_of_link_;
  std::vector<FlowGroup> groups_;  ///< those that were merged into others are empty
};

}  // namespace collsim
