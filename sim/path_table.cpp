#include "sim/path_table.hpp"

#include <algorithm>
#include <numeric>

#include "topology/error.hpp"

namespace collsim {

namespace {

bool crosses_a_link_twice(const Route& route) {
  constexpr std::size_t few = 8;  // up to here comparing all pairs beats an allocation
  const std::vector<RouteHop>& hops = route.hops;
  if (hops.size() <= few) {
    for (std::size_t i = 1; i < hops.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (hops[i].link == hops[j].link) {
          return true;
        }
      }
    }
    return false;
  }
  std::vector<LinkId> links;
  links.reserve(hops.size());
  for (const RouteHop& hop : hops) {
    links.push_back(hop.link);
  }
  std::sort(links.begin(), links.end());
  return std::adjacent_find(links.begin(), links.end()) != links.end();
}

}  // namespace

PathTable::PathTable(const Graph& graph) {
  capacities_.reserve(graph.links().size());
  for (const Link& link : graph.links()) {
    capacities_.push_back(link.bandwidth.units());
  }
  // Counted out level by level.
  std::vector<std::uint32_t> next(graph.levels().size() + 1);
  for (const Link& link : graph.links()) {
    ++next[link.level.index() + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  tie_order_.reserve(graph.links().size());
  for (const Link& link : graph.links()) {
    tie_order_.push_back(next[link.level.index()]++);
  }
}

PathId PathTable::open(const Route& route, std::span<const std::uint32_t> crowds) {
  COLLSIM_ENSURE(!route.hops.empty(), "a route without links carries no transfer");
  const bool twice = crosses_a_link_twice(route);
  COLLSIM_ENSURE(!crowds.empty() || !twice, "a route crosses a link twice");
  const std::size_t count = route.hops.size();
  constexpr std::size_t most_hops = 0x7fff'ffffU;
  COLLSIM_ENSURE(count <= most_hops, "a route of more links than a path counts");
  if (free_hops_.size() <= count) {
    free_hops_.resize(count + 1);
  }

  Path path;
  path.hop_count = count & most_hops;
  path.opening = openings_++;
  path.crowded = twice;
  if (free_hops_[count].empty()) {
    path.first_hop = static_cast<std::uint32_t>(hops_.size());
    hops_.resize(hops_.size() + count);
  } else {
    path.first_hop = free_hops_[count].back();
    free_hops_[count].pop_back();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const RouteHop& hop = route.hops[i];
    const std::uint32_t crowd = i < crowds.size() ? crowds[i] : 1;
    hops_[path.first_hop + i] = {hop.link.value(), hop.share_numerator, hop.share_denominator,
                                 crowd};
    path.crowded = path.crowded || crowd != 1;
  }

  const PathId id = paths_.take();
  paths_[id] = path;
  return id;
}

void PathTable::expect(std::size_t paths) {
  constexpr std::size_t usual_hops = 5;
  paths_.expect(paths);
  hops_.reserve(paths * usual_hops);
}

void PathTable::close(PathId path) {
  const Path& entry = paths_[path];
  free_hops_[entry.hop_count].push_back(entry.first_hop);
  paths_.give_back(path);
}

void PathTable::set_capacity(LinkId link, Bandwidth bandwidth) {
  COLLSIM_ENSURE(bandwidth.units() > 0, "a link's capacity must be positive");
  capacities_[link.index()] = bandwidth.units();
  ++version_;
}

namespace {

/// What flows take of a hop's link by it and by the path's other hops on the same link, for each unit of
/// their rate: in lowest terms.
Rate taken_of_link(std::span<const ResourceUse> hops, const ResourceUse& hop) {
  std::int64_t scale = 1;
  for (const ResourceUse& other : hops) {
    if (other.resource == hop.resource) {
      scale = std::lcm(scale, std::int64_t{other.denominator});
    }
  }
  std::int64_t load = 0;
  for (const ResourceUse& other : hops) {
    if (other.resource == hop.resource) {
      load += scale / other.denominator * other.numerator * other.crowd;
    }
  }
  return {load, scale};
}

}  // namespace

PathTable::FullRate PathTable::crowded_rate(PathId path, std::uint32_t multiplicity) const {
  FullRate lowest;
  bool first = true;
  for (const ResourceUse& hop : hops(path)) {
    const Rate taken = taken_of_link(hops(path), hop);
    const Rate all = exact_rate(capacities_[hop.resource], taken.denominator, taken.numerator);
    const FullRate candidate{divided(all, multiplicity), LinkId(hop.resource)};
    const auto order = compare(candidate.rate, lowest.rate);
    if (first || order < 0 || (order == 0 && comes_before(candidate.link, lowest.link))) {
      lowest = candidate;
    }
    first = false;
  }
  return lowest;
}

void PathTable::compute_full_rate(Path& path) const {
  path.computed_at = version_;
  const std::span<const ResourceUse> hops(hops_.data() + path.first_hop, path.hop_count);
  bool first = true;
  for (const ResourceUse& hop : hops) {
    const FullRate candidate{exact_rate(capacities_[hop.resource], hop.denominator, hop.numerator),
                             LinkId(hop.resource)};
    const auto order = compare(candidate.rate, path.full_rate);
    if (first || order < 0 || (order == 0 && comes_before(candidate.link, path.narrowest))) {
      path.full_rate = candidate.rate;
      path.narrowest = candidate.link;
    }
    first = false;
  }
}

}  // namespace collsim
