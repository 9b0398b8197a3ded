#include "topology/route_shares.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "topology/error.hpp"

namespace collsim {

namespace {

Rate rate_of(const Graph& graph, const RouteHop& hop) {
  const std::int64_t units = graph.link(hop.link).bandwidth.units();
  const std::int64_t divisor = std::gcd(units, std::int64_t{hop.share_numerator});
  std::int64_t numerator = 0;
  if (__builtin_mul_overflow(units / divisor, std::int64_t{hop.share_denominator}, &numerator)) {
    throw FractionOverflow("the rate of a route of which " + std::to_string(hop.share_numerator) +
                           "/" + std::to_string(hop.share_denominator) + " crosses " +
                           graph.name(hop.link) + " exceeds 64 bits");
  }
  return {numerator, hop.share_numerator / divisor};
}

}  // namespace

Rate Route::full_rate(const Graph& graph) const {
  COLLSIM_ENSURE(!hops.empty(), "a route without hops has no rate");
  Rate least = rate_of(graph, hops.front());
  for (const RouteHop& hop : hops) {
    const Rate rate = rate_of(graph, hop);
    if (compare(rate, least) < 0) {
      least = rate;
    }
  }
  return least;
}

LinkId Route::narrowest(const Graph& graph) const {
  const Rate least = full_rate(graph);
  for (const RouteHop& hop : hops) {
    if (compare(rate_of(graph, hop), least) == 0) {
      return hop.link;
    }
  }
  COLLSIM_ENSURE(false, "some hop sets the rate of a route");
}

namespace detail {

void require_sprayable(std::uint64_t paths) {
  if (paths <= most_sprayed_paths) {
    return;
  }
  const bool counted = paths != std::numeric_limits<std::uint64_t>::max();
  throw RangeError("spray splits a route over at most " + std::to_string(most_sprayed_paths) +
                       " paths, and here are " +
                       (counted ? std::to_string(paths) : std::string("more than 2^64")),
                   "fabric.routing", std::string(one_path_hint));
}

RouteHop hop_with_share(LinkId link, std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t divisor = std::gcd(part, whole);
  return {link, static_cast<std::uint32_t>(part / divisor),
          static_cast<std::uint32_t>(whole / divisor)};
}

namespace {

/// Sums of shares by link, in the order in which links are met first.
class LinkShares {
 public:
  void add(const RouteHop& hop) {
    const auto [known, is_new] = shares_.try_emplace(hop.link);
    if (is_new) {
      order_.push_back(hop.link);
    }
    // Denominators of at most 2^19 each: the sum's are below 2^38, or it is refused.
    Share& share = known->second;
    const std::uint64_t common = std::lcm(share.denominator, std::uint64_t{hop.share_denominator});
    share.numerator = share.numerator * (common / share.denominator) +
                      hop.share_numerator * (common / hop.share_denominator);
    share.denominator = common;
    require_sprayable(common);
  }

  [[nodiscard]] std::vector<RouteHop> divided_by(std::size_t parts) const {
    std::vector<RouteHop> hops;
    hops.reserve(order_.size());
    for (const LinkId link : order_) {
      const Share& share = shares_.at(link);
      require_sprayable(share.denominator * parts);
      hops.push_back(hop_with_share(link, share.numerator, share.denominator * parts));
    }
    return hops;
  }

 private:
  struct Share {
    std::uint64_t numerator = 0;
    std::uint64_t denominator = 1;
  };
  std::map<LinkId, Share> shares_;
  std::vector<LinkId> order_;
};

}  // namespace

Route side_by_side(const std::vector<Route>& routes) {
  LinkShares shares;
  std::size_t longest = 0;
  Route result;
  for (const Route& route : routes) {
    longest = std::max(longest, route.hops.size());
    result.latency = std::max(result.latency, route.latency);
  }
  for (std::size_t distance = 0; distance < longest; ++distance) {
    for (const Route& route : routes) {
      if (distance >= route.hops.size()) {
        continue;
      }
      shares.add(route.hops[distance]);
    }
  }
  result.hops = shares.divided_by(routes.size());
  return result;
}

Route each_link_once(const Route& route) {
  std::vector<LinkId> links;
  links.reserve(route.hops.size());
  for (const RouteHop& hop : route.hops) {
    links.push_back(hop.link);
  }
  std::ranges::sort(links);
  if (std::ranges::adjacent_find(links) == links.end()) {
    return route;
  }
  LinkShares shares;
  for (const RouteHop& hop : route.hops) {
    shares.add(hop);
  }
  return {shares.divided_by(1), route.latency};
}

}  // namespace detail

}  // namespace collsim
