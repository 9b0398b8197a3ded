#include "sim/flow_groups.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

void FlowGroup::add(const FlowKind& kind, TransferId transfer) {
  const auto place = std::ranges::upper_bound(kinds, kind);
  transfers.insert(transfers.begin() + (place - kinds.begin()), transfer);
  kinds.insert(place, kind);
  hash += kind.hash;
}

void FlowGroup::remove(TransferId transfer) {
  const auto place = std::ranges::find(transfers, transfer);
  COLLSIM_ENSURE(place != transfers.end(), "a transfer leaves a group that it is not in");
  const auto kind = kinds.begin() + (place - transfers.begin());
  hash -= kind->hash;
  kinds.erase(kind);
  transfers.erase(place);
}

void FlowGroup::clear() {
  kinds.clear();
  transfers.clear();
  hash = 0;
}

void FlowGroups::add_to(std::uint32_t group, std::uint32_t link) {
  group_of_link_[link] = group;
  groups_[group].links.emplace_back(link);
}

/// The one with more links takes the other in.
std::uint32_t FlowGroups::merged(std::uint32_t a, std::uint32_t b) {
  if (groups_[a].links.size() < groups_[b].links.size()) {
    std::swap(a, b);
  }
  FlowGroup other = std::exchange(groups_[b], FlowGroup{});
  FlowGroup& group = groups_[a];
  for (const LinkId link : other.links) {
    add_to(a, link.value());
  }
  for (std::size_t i = 0; i < other.transfers.size(); ++i) {
    group.add(other.kinds[i], other.transfers[i]);
  }
  group.searched += other.searched;
  return a;
}

void FlowGroups::join(std::span<const ResourceUse> hops) {
  std::uint32_t group = group_of_link_[hops.front().resource];
  if (group == none) {
    group = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
    add_to(group, hops.front().resource);
  }
  for (const ResourceUse& hop : hops.subspan(1)) {
    const std::uint32_t other = group_of_link_[hop.resource];
    if (other == none) {
      add_to(group, hop.resource);
    } else if (other != group) {
      group = merged(group, other);
    }
  }
}

}  // namespace collsim
