#include "topology/path_sweep.hpp"

#include <algorithm>

namespace collsim::detail {

namespace {

constexpr Bandwidth unbounded = Bandwidth::from_units(std::numeric_limits<std::int64_t>::max());

}  // namespace

PathSweep::PathSweep(const Graph& graph, Scope scope, DeviceId from)
    : graph_(&graph), scope_(scope), from_(from), looked_at_{0}, first_(unbounded) {
  Ways& own = ways_[meet(from)];
  own.links = 0;
  own.width = unbounded;
  own.common = unbounded;
  frontier_.push_back(0);
  int links_on = 0;
  for (const LinkId id : graph.links_out(from)) {
    const Link& link = graph.link(id);
    if (scope.admits(graph.device(link.target))) {
      first_ = ++links_on == 1 ? link.bandwidth : unbounded;
    }
  }
}

// The walk knows all devices up to its distance, so once it knows one of those before the target, it
// knows all of them that are as near.
Ways PathSweep::to(DeviceId device) {
  while (true) {
    Ways ways;
    for (const LinkId id : graph_->links_in(device)) {
      const Link& link = graph_->link(id);
      if (link.source != from_ && !scope_.admits(graph_->device(link.source))) {
        continue;
      }
      if (const Ways& before = ways_[meet(link.source)]; before.links != Ways::unreached) {
        extend(ways, link, before);
      }
    }
    if (ways.links != Ways::unreached) {
      ways.looked_at = 2 * looked_at_[std::min<std::size_t>(ways.links / 2, looked_at_.size() - 1)];
      return ways;
    }
    if (frontier_.empty()) {
      return ways;
    }
    expand();
  }
}

std::uint32_t PathSweep::meet(DeviceId device) {
  const std::uint32_t number = numbering_.number(device);
  if (number == ways_.size()) {
    ways_.emplace_back();
  }
  return number;
}

void PathSweep::expand() {
  next_.clear();
  std::uint64_t looked_at = looked_at_.back();
  for (const std::uint32_t near : frontier_) {
    const Ways before = ways_[near];
    for (const LinkId id : graph_->links_out(numbering_.device(near))) {
      ++looked_at;
      const Link& link = graph_->link(id);
      if (link.target == from_ || !scope_.admits(graph_->device(link.target))) {
        continue;
      }
      const std::uint32_t far = meet(link.target);
      if (ways_[far].links == Ways::unreached) {
        next_.push_back(far);
      }
      extend(ways_[far], link, before);
    }
  }
  frontier_.swap(next_);
  looked_at_.push_back(looked_at);
}

void PathSweep::extend(Ways& ways, const Link& link, const Ways& before) const {
  const std::uint32_t links = before.links + 1;
  if (ways.links < links) {
    return;
  }
  const Bandwidth width = std::min(before.width, link.bandwidth);
  const Duration least = checked_add(before.least_latency, link.latency);
  const Duration most = checked_add(before.most_latency, link.latency);
  const LevelId least_level = std::max(before.least_level, link.level);
  const LevelId most_level = std::max(before.most_level, link.level);
  if (links < ways.links) {
    const Bandwidth common = std::min(before.common, link.bandwidth);
    ways = {links, width, common, least, most, least_level, most_level};
    return;
  }
  ways.width = std::max(ways.width, width);
  ways.common = links > 1 ? first_ : unbounded;
  ways.least_latency = std::min(ways.least_latency, least);
  ways.most_latency = std::max(ways.most_latency, most);
  ways.least_level = std::min(ways.least_level, least_level);
  ways.most_level = std::max(ways.most_level, most_level);
}

}  // namespace collsim::detail
