#include "sim/fabric_reduction.hpp"

#include <algorithm>
#include <string>
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

/// The links of the routes, each once. Of a tree no two have the same `end`, the one away from the root.
template <class End>
std::vector<LinkId> links_of_tree(const Graph& graph, std::span<const Route> routes,
                                  const std::string& root, const End& end) {
  std::vector<LinkId> links;
  bool forks = false;
  for (const Route& route : routes) {
    forks = forks || is_sprayed(route);
    for (const RouteHop& hop : route.hops) {
      links.push_back(hop.link);
    }
  }
  std::ranges::sort(links, {}, [&](LinkId id) { return std::pair(end(graph.link(id)), id); });
  const auto again = std::ranges::unique(links);
  links.erase(again.begin(), again.end());
  const auto end_of = [&](LinkId id) { return end(graph.link(id)); };
  if (forks || std::ranges::adjacent_find(links, {}, end_of) != links.end()) {
    throw InputError(
        "a reduction in the network takes one tree, and the routes to " + root + " fork",
        "fabric.routing", "static routing, as InfiniBand has it");
  }
  return links;
}

std::vector<LinkId> links_up(const Graph& graph, std::span<const Route> to_root) {
  return links_of_tree(graph, to_root,
                       graph.name(graph.link(to_root.front().hops.back().link).target),
                       [](const Link& link) { return link.source; });
}

Route once_each(const std::vector<LinkId>& links) {
  Route route;
  for (const LinkId id : links) {
    route.hops.push_back({id, 1, 1});
  }
  return route;
}

}  // namespace

Route reduction_tree(const Graph& graph, std::span<const Route> to_root) {
  Route tree;
  for (const LinkId id : links_up(graph, to_root)) {
    tree.hops.push_back({id, 1, 1});
    tree.hops.push_back({link_against(graph, id), 1, 1});
  }
  return tree;
}

Route tree_to_root(const Graph& graph, std::span<const Route> to_root) {
  return once_each(links_up(graph, to_root));
}

Route tree_from_root(const Graph& graph, std::span<const Route> from_root) {
  return once_each(links_of_tree(graph, from_root,
                                 graph.name(graph.link(from_root.front().hops.front().link).source),
                                 [](const Link& link) { return link.target; }));
}

}  // namespace collsim::detail
