#include "topology/route_survey.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "topology/path_search.hpp"
#include "topology/path_sweep.hpp"

namespace collsim {

using detail::PathSweep;
using detail::RouteLeg;
using detail::Ways;

namespace {

/// What the legs of a route tell.
struct Outline {
  std::size_t links = 0;
  Duration least_latency{};
  Duration most_latency{};
  LevelId least_level;
  LevelId most_level;
  std::optional<Rate> rate;     ///< absent: the route must be found
  std::uint64_t looked_at = 0;  ///< about what a search for the route looks at
  bool ragged = false;          ///< ways side by side that are not equally long

  [[nodiscard]] bool tells_all(SurveyRates rates) const {
    return !ragged && least_latency == most_latency && least_level == most_level &&
           (rate || rates == SurveyRates::No);
  }
};

/// The legs one behind the other.
class Chain {
 public:
  void add(const Ways& ways) {
    outline_.links += ways.links;
    outline_.least_latency = checked_add(outline_.least_latency, ways.least_latency);
    outline_.most_latency = checked_add(outline_.most_latency, ways.most_latency);
    outline_.least_level = std::max(outline_.least_level, ways.least_level);
    outline_.most_level = std::max(outline_.most_level, ways.most_level);
    outline_.looked_at += ways.looked_at;
    width_ = links_ == 0 ? ways.width : std::min(width_, ways.width);
    common_ = links_ == 0 ? ways.common : std::min(common_, ways.common);
    links_ += ways.links;
  }

  /// One path is as wide as the widest; a sprayed route is not narrower, nor wider than what is common
  /// to all its paths.
  [[nodiscard]] Outline outline(RoutingKind routing) const {
    Outline result = outline_;
    if (routing != RoutingKind::Spray || width_ == common_) {
      result.rate = Rate(width_);
    }
    return result;
  }

 private:
  Outline outline_;
  Bandwidth width_;
  Bandwidth common_;
  std::size_t links_ = 0;
};

class Survey {
 public:
  Survey(const Cluster& cluster, DeviceId from)
      : cluster_(&cluster),
        from_(from),
        without_nics_(cluster.graph(), detail::Scope::without_nics(), from) {}

  /// Absent: the legs do not say how long the route is.
  std::optional<Outline> outline(DeviceId to) {
    const RoutingKind routing = cluster_->router().options().routing;
    if (cluster_->router().may_meet_without_nics(from_, to)) {
      if (const Ways ways = without_nics_.to(to); ways.links != Ways::unreached) {
        Chain chain;
        chain.add(ways);
        return chain.outline(routing);
      }
    }
    std::optional<Outline> all;
    const std::vector<std::vector<RouteLeg>> rows = cluster_->router().legs_by_nics(from_, to);
    for (const std::vector<RouteLeg>& legs : rows) {
      Chain chain;
      for (const RouteLeg& leg : legs) {
        const Ways ways = ways_of(leg, to);
        if (ways.links == Ways::unreached) {
          return std::nullopt;
        }
        chain.add(ways);
      }
      const Outline row = chain.outline(routing);
      if (all) {
        join(*all, row);
      } else {
        all = row;
      }
    }
    return all;
  }

 private:
  // One for each NIC by which a GPU leaves, mostly.
  static constexpr std::size_t most_sweeps = 8;

  /// Of two rows side by side, the slower one's latency. Their links may be shared, so the rate is open.
  static void join(Outline& all, const Outline& row) {
    all.ragged = all.ragged || all.links != row.links;
    all.links = std::max(all.links, row.links);
    all.least_latency = std::max(all.least_latency, row.least_latency);
    all.most_latency = std::max(all.most_latency, row.most_latency);
    all.least_level = std::max(all.least_level, row.least_level);
    all.most_level = std::max(all.most_level, row.most_level);
    all.looked_at += row.looked_at;
    all.rate.reset();
  }

  Ways ways_of(const RouteLeg& leg, DeviceId to) {
    if (leg.to == to) {
      return PathSweep(cluster_->graph(), leg.scope, leg.from).to(to);
    }
    const auto known = std::ranges::find_if(
        sweeps_, [&](const PathSweep& sweep) { return sweep.is_of(leg.scope, leg.from); });
    if (known != sweeps_.end()) {
      return known->to(leg.to);
    }
    if (sweeps_.size() == most_sweeps) {
      sweeps_.erase(sweeps_.begin());
    }
    return sweeps_.emplace_back(cluster_->graph(), leg.scope, leg.from).to(leg.to);
  }

  const Cluster* cluster_;
  DeviceId from_;
  PathSweep without_nics_;
  std::vector<PathSweep> sweeps_;  ///< of legs that do not end at the target, the latest last
};

RouteFigures figures_of(const Cluster& cluster, DeviceId from, DeviceId to, SurveyRates rates) {
  const Graph& graph = cluster.graph();
  const Route route = cluster.router().route(from, to);
  RouteFigures figures;
  figures.links = path_length(graph, route);
  figures.latency = route.latency;
  figures.searched = true;
  for (const RouteHop& hop : route.hops) {
    figures.level = std::max(figures.level, graph.link(hop.link).level);
  }
  if (rates == SurveyRates::Yes) {
    figures.rate = route.full_rate(graph);
  }
  return figures;
}

/// Routes of which the legs tell the same, without saying all.
struct Alike {
  std::vector<std::size_t> members;  ///< positions in the list of targets
  std::uint64_t looked_at = 0;
};
/// Least and most latency and level, links; absent where the legs tell nothing.
using Kind = std::optional<std::tuple<std::size_t, Duration, Duration, LevelId, LevelId>>;

Kind kind_of(const std::optional<Outline>& outline) {
  if (!outline) {
    return std::nullopt;
  }
  return std::tuple(outline->links, outline->least_latency, outline->most_latency,
                    outline->least_level, outline->most_level);
}

/// Positions of the targets: first those that have the lowest number in their nodes. So targets that
/// are reached by the same NIC, where rails are aligned, come one behind the other.
std::vector<std::size_t> by_number_in_node(const Graph& graph, std::span<const DeviceId> to) {
  std::vector<std::size_t> order(to.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return graph.device(to[i]).number; });
  return order;
}

}  // namespace

std::vector<RouteFigures> survey_routes(const Cluster& cluster, DeviceId from,
                                        std::span<const DeviceId> to, SurveyRates rates,
                                        std::uint64_t most_links) {
  std::vector<RouteFigures> found(to.size());
  std::map<Kind, Alike> open;
  std::uint64_t work = 0;
  Survey survey(cluster, from);
  for (const std::size_t i : by_number_in_node(cluster.graph(), to)) {
    const std::optional<Outline> outline = survey.outline(to[i]);
    if (outline && outline->tells_all(rates)) {
      found[i].links = outline->links;
      found[i].latency = outline->most_latency;
      found[i].level = outline->most_level;
      found[i].rate = outline->rate.value_or(Rate());
      continue;
    }
    const std::uint64_t search = outline ? outline->looked_at : cluster.graph().links().size();
    Alike& alike = open[kind_of(outline)];
    alike.members.push_back(i);
    alike.looked_at += search;
    work += search;
  }
  for (const auto& [kind, alike] : open) {
    const std::size_t count = alike.members.size();
    std::size_t some = count;
    if (work > most_links) {
      // Every kind gets the same part of what may be done, and at least one route.
      const std::uint64_t each = std::max<std::uint64_t>(1, alike.looked_at / count);
      some = std::clamp<std::size_t>(most_links / open.size() / each, 1, count);
    }
    std::size_t looked_at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      RouteFigures& figures = found[alike.members[i]];
      if (i == looked_at * count / some) {
        figures = figures_of(cluster, from, to[alike.members[i]], rates);
        ++looked_at;
      } else {
        figures = found[alike.members[i - 1]];
        figures.assumed = true;
      }
    }
  }
  return found;
}

// Hops come in order along each path, so the length up to a device is known when a hop leaves it.
std::size_t path_length(const Graph& graph, const Route& route) {
  std::map<DeviceId, std::size_t> length;
  std::size_t longest = 0;
  for (const RouteHop& hop : route.hops) {
    const Link& link = graph.link(hop.link);
    const std::size_t beyond = length[link.source] + 1;
    std::size_t& known = length[link.target];
    known = std::max(known, beyond);
    longest = std::max(longest, known);
  }
  return longest;
}

}  // namespace collsim
