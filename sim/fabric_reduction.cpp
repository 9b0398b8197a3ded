#include "sim/fabric_reduction.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/connection_route.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// The link back; of parallel ones that with the same place among them.
LinkId link_against(const Graph& graph, LinkId id) {
  const Link& link = graph.link(id);
  const auto there = graph.links_between(link.source, link.target);
  const auto back = graph.links_between(link.target, link.source);
  const auto place = static_cast<std::size_t>(std::ranges::find(there, id) - there.begin());
  if (place >= back.size()) {
    throw InputError("a reduction in the network needs a link back against " + graph.name(id));
  }
  return back[place];
}

}  // namespace

Route reduction_tree(const Graph& graph, std::span<const Route> to_root) {
  std::vector<LinkId> up;
  bool forks = false;
  for (const Route& route : to_root) {
    forks = forks || is_sprayed(route);
    for (const RouteHop& hop : route.hops) {
      up.push_back(hop.link);
    }
  }
  const auto place = [&graph](LinkId id) { return std::pair(graph.link(id).source, id); };
  std::ranges::sort(up, {}, place);
  const auto again = std::ranges::unique(up);
  up.erase(again.begin(), again.end());
  const auto source = [&graph](LinkId id) { return graph.link(id).source; };
  forks = forks || std::ranges::adjacent_find(up, {}, source) != up.end();
  if (forks) {
    throw InputError("a reduction in the network takes one tree, and the routes to " +
                         graph.name(graph.link(to_root.front().hops.back().link).target) + " fork",
                     "fabric.routing", "static routing, as InfiniBand has it");
  }
  Route tree;
  for (const LinkId id : up) {
    tree.hops.push_back({id, 1, 1});
    tree.hops.push_back({link_against(graph, id), 1, 1});
  }
  return tree;
}

}  // namespace collsim::detail
