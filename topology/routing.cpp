#include "topology/routing.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <span>

#include "topology/error.hpp"
#include "topology/path_search.hpp"
#include "topology/route_shares.hpp"
#include "topology/torus_routing.hpp"

namespace collsim {

using detail::PathLayers;
using detail::PathLink;
using detail::Scope;

namespace {

bool is_switch(const Device& device) {
  return device.kind == DeviceKind::Nvswitch || device.kind == DeviceKind::PcieSwitch ||
         device.kind == DeviceKind::NetworkSwitch;
}

/// The switch through which a device is reached: the first of no node that has a link to it, else
/// the first.
std::optional<DeviceId> leaf_of(const Graph& graph, DeviceId device) {
  std::optional<DeviceId> first;
  for (const LinkId id : graph.links_in(device)) {
    const DeviceId source = graph.link(id).source;
    if (!is_switch(graph.device(source))) {
      continue;
    }
    if (!graph.device(source).node) {
      return source;
    }
    if (!first) {
      first = source;
    }
  }
  return first;
}

/// By device: its place among the GPUs and NICs of its leaf; GPUs without one: of their node.
std::vector<std::uint32_t> indices_within_leaves(const Graph& graph) {
  std::vector<std::uint32_t> index(graph.devices().size(), 0);
  std::vector<std::uint32_t> attached(graph.devices().size(), 0);
  std::vector<std::uint32_t> in_node(std::size_t{graph.nodes()} + 1, 0);
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const Device& device = graph.devices()[i];
    if (device.kind != DeviceKind::Gpu && device.kind != DeviceKind::Nic) {
      continue;
    }
    if (const auto leaf = leaf_of(graph, DeviceId(i))) {
      index[i] = attached[leaf->index()]++;
    } else if (device.kind == DeviceKind::Gpu) {
      index[i] = in_node[device.node ? device.node->index() : graph.nodes()]++;
    }
  }
  return index;
}

bool nodes_meet_without_nics(const Graph& graph) {
  return std::ranges::any_of(graph.links(), [&](const Link& link) {
    const Device& source = graph.device(link.source);
    const Device& target = graph.device(link.target);
    return source.node != target.node && source.kind != DeviceKind::Nic &&
           target.kind != DeviceKind::Nic;
  });
}

/// For each device on the paths, the number of ways from the source to it, or from it to the
/// target.
struct PathCounts {
  std::vector<std::uint64_t> from_source;
  std::vector<std::uint64_t> to_target;
};

/// Even over all 32 bits, and the same on every machine (the finaliser of MurmurHash3).
std::uint32_t hash_of(std::initializer_list<std::uint32_t> words) {
  std::uint64_t hash = 0;
  for (const std::uint32_t word : words) {
    hash = (hash ^ word) * std::uint64_t{0x9E3779B97F4A7C15};
    hash ^= hash >> 33U;
    hash *= std::uint64_t{0xFF51AFD7ED558CCD};
    hash ^= hash >> 33U;
    hash *= std::uint64_t{0xC4CEB9FE1A85EC53};
    hash ^= hash >> 33U;
  }
  return static_cast<std::uint32_t>(hash >> 32U);
}

PathCounts count_paths(const PathLayers& paths) {
  PathCounts counts{std::vector<std::uint64_t>(paths.devices(), 0),
                    std::vector<std::uint64_t>(paths.devices(), 0)};
  counts.from_source[PathLayers::source()] = 1;
  counts.to_target[PathLayers::target()] = 1;
  const auto add = [](std::uint64_t& sum, std::uint64_t part) {
    if (__builtin_add_overflow(sum, part, &sum)) {
      sum = std::numeric_limits<std::uint64_t>::max();
    }
  };
  for (std::size_t i = 0; i < paths.length(); ++i) {
    for (const PathLink& link : paths.layer(i)) {
      add(counts.from_source[link.target], counts.from_source[link.source]);
    }
  }
  detail::require_sprayable(counts.from_source[PathLayers::target()]);
  for (std::size_t i = paths.length(); i-- > 0;) {
    for (const PathLink& link : paths.layer(i)) {
      add(counts.to_target[link.source], counts.to_target[link.target]);
    }
  }
  return counts;
}

}  // namespace

Router::Router(const Graph& graph, RoutingOptions options)
    : graph_(&graph),
      options_(options),
      nearest_nics_(graph),
      nic_range_(graph.devices().size()),
      owner_of_nic_(graph.devices().size()),
      first_hops_(detail::first_hops(graph)),
      index_within_leaf_(indices_within_leaves(graph)),
      nodes_meet_without_nics_(nodes_meet_without_nics(graph)) {
  for (const DeviceId gpu : graph.gpus()) {
    const std::vector<DeviceId> chosen = choose_nics(gpu);
    nic_range_[gpu.index()] = {static_cast<std::uint32_t>(nics_.size()),
                               static_cast<std::uint32_t>(chosen.size())};
    nics_.insert(nics_.end(), chosen.begin(), chosen.end());
    for (const DeviceId nic : chosen) {
      auto& owner = owner_of_nic_[nic.index()];
      owner = owner.value_or(gpu);
    }
  }
}

std::vector<DeviceId> Router::choose_nics(DeviceId gpu) const {
  const std::span<const DeviceId> near = nearest_nics_.of(gpu);
  if (near.empty()) {
    return {};
  }
  if (options_.nic_choice == NicChoice::Nearest) {
    return {near.front()};
  }
  const auto sharing = nearest_nics_.sharing(gpu);
  const std::size_t share = (near.size() - 1) / sharing.gpus + 1;
  std::vector<DeviceId> nics;
  for (std::size_t i = 0; i < share; ++i) {
    nics.push_back(near[(sharing.position * share + i) % near.size()]);
  }
  return nics;
}

bool Router::may_meet_without_nics(DeviceId from, DeviceId to) const {
  return graph_->device(from).node == graph_->device(to).node || nodes_meet_without_nics_;
}

Route Router::route(DeviceId from, DeviceId to, std::uint32_t connection, LegMemory* memory) const {
  const Flow flow{from, to, connection};
  if (may_meet_without_nics(from, to)) {
    Route route;
    if (append_leg(route, flow, memory)) {
      return route;
    }
  }
  if (auto route = route_by_nics(flow, memory)) {
    return *std::move(route);
  }
  const PathLayers paths(*graph_, Scope::everywhere(), from, to);
  if (!paths.found()) {
    throw InputError("there is no path from " + graph_->name(from) + " to " + graph_->name(to));
  }
  Route route;
  append(route, paths, flow);
  return route;
}

std::vector<Router::Stripe> Router::stripes(DeviceId from, DeviceId to) const {
  if (options_.nic_choice == NicChoice::RailAligned) {
    return aligned_stripes(from, to);
  }
  const std::span<const DeviceId> out = nics_of(from);
  const std::span<const DeviceId> in = nics_of(to);
  std::vector<Stripe> result;
  if (out.empty() || in.empty()) {
    return result;
  }
  const std::size_t count = std::lcm(out.size(), in.size());
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({from, out[i % out.size()], in[i % in.size()]});
  }
  return result;
}

std::vector<Router::Stripe> Router::aligned_stripes(DeviceId from, DeviceId to) const {
  const std::span<const DeviceId> own = nics_of(from);
  const std::span<const DeviceId> in = nics_of(to);
  const auto node_from = graph_->device(from).node;
  const auto node_to = graph_->device(to).node;
  std::vector<Stripe> result;
  if (own.empty() || !node_from || !node_to) {
    return result;
  }
  const std::span<const DeviceId> rails_from = graph_->nics(*node_from);
  const std::span<const DeviceId> rails_to = graph_->nics(*node_to);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto rail =
        static_cast<std::size_t>(std::ranges::find(rails_to, in[i]) - rails_to.begin());
    Stripe stripe{from, own[i % own.size()], in[i]};
    if (rail < rails_from.size() && owner_of_nic_[rails_from[rail].index()]) {
      stripe.out = rails_from[rail];
      const bool owned = std::ranges::find(own, stripe.out) != own.end();
      stripe.leaves_from = owned ? from : *owner_of_nic_[stripe.out.index()];
    }
    result.push_back(stripe);
  }
  return result;
}

Scope Router::fabric_between(DeviceId out, DeviceId in) const {
  const auto group_of = [&](DeviceId nic) -> std::optional<std::uint32_t> {
    const auto leaf = leaf_of(*graph_, nic);
    return leaf ? graph_->device(*leaf).group : std::nullopt;
  };
  return Scope::fabric(group_of(out), group_of(in));
}

void Router::append(Route& route, const PathLayers& paths, const Flow& flow) const {
  switch (options_.routing) {
    case RoutingKind::Fixed:
      return append_static(route, paths, flow.to);
    case RoutingKind::Ecmp:
      return append_one(route, paths, [&](DeviceId device, std::span<const LinkId> choices) {
        return hash_of({options_.seed, flow.from.value(), flow.to.value(), flow.connection,
                        device.value()}) %
               choices.size();
      });
    case RoutingKind::Spray:
      return append_sprayed(route, paths);
  }
}

/// Follows one path. Where a device has several next links, `choose(device, links)` gives the position
/// of one.
template <class Choose>
void Router::append_one(Route& route, const PathLayers& paths, Choose choose) const {
  std::uint32_t here = PathLayers::source();
  std::vector<LinkId> choices;
  for (std::size_t i = 0; i < paths.length(); ++i) {
    const auto leaves_here = [here](const PathLink& link) { return link.source == here; };
    const auto layer = paths.layer(i);
    auto chosen = std::ranges::find_if(layer, leaves_here);
    if (std::any_of(chosen + 1, layer.end(), leaves_here)) {
      choices.clear();
      for (const PathLink& link : layer) {
        if (leaves_here(link)) {
          choices.push_back(link.link);
        }
      }
      const LinkId link = choices[choose(graph_->link(chosen->link).source, choices)];
      chosen = std::ranges::find(layer, link, &PathLink::link);
    }
    route.hops.push_back({chosen->link});
    route.latency = checked_add(route.latency, graph_->link(chosen->link).latency);
    here = chosen->target;
  }
}

void Router::append_static(Route& route, const PathLayers& paths, DeviceId to) const {
  std::optional<StaticWay> way;
  append_one(route, paths, [&](DeviceId device, std::span<const LinkId> choices) -> std::size_t {
    const std::uint32_t index = index_within_leaf_[to.index()];
    const std::optional<TreePlace>& place = graph_->device(device).tree_place;
    if (!place) {
      const std::optional<DeviceId> leaf = leaf_of(*graph_, to);
      const auto in_torus = leaf ? detail::torus_choice(*graph_, device, *leaf, choices)
                                 : std::optional<std::size_t>();
      return in_torus.value_or(index % choices.size());
    }
    if (!way) {
      way = static_way(to);
    }
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (std::ranges::find(way->down, choices[i]) != way->down.end()) {
        return i;
      }
    }
    return (place->tier < way->numbers.size() ? way->numbers[place->tier] : index) % choices.size();
  });
}

/// From each of the leaves of a NIC as far up as there are switches.
Router::StaticWay Router::static_way(DeviceId nic) const {
  StaticWay way;
  for (const LinkId id : graph_->links_in(nic)) {
    DeviceId here = graph_->link(id).source;
    if (!graph_->device(here).tree_place) {
      continue;
    }
    std::uint32_t number = index_within_leaf_[nic.index()];
    for (std::size_t tier = 0;; ++tier) {
      if (way.numbers.size() == tier) {
        way.numbers.push_back(number);
      }
      std::vector<LinkId> up;
      for (const LinkId link : graph_->links_out(here)) {
        const auto& above = graph_->device(graph_->link(link).target).tree_place;
        if (above && above->tier > tier) {
          up.push_back(link);
        }
      }
      if (up.empty()) {
        break;
      }
      const LinkId chosen = up[number % up.size()];
      const DeviceId above = graph_->link(chosen).target;
      // The other direction of the same cable.
      const auto cables = graph_->links_between(here, above);
      const auto cable = std::ranges::find(cables, chosen) - cables.begin();
      const auto back = graph_->links_between(above, here);
      if (static_cast<std::size_t>(cable) < back.size()) {
        way.down.push_back(back[static_cast<std::size_t>(cable)]);
      }
      number = graph_->device(here).tree_place->number;
      here = above;
    }
  }
  return way;
}

void Router::append_sprayed(Route& route, const PathLayers& paths) const {
  const PathCounts counts = count_paths(paths);
  const std::uint64_t all = counts.from_source[PathLayers::target()];
  std::vector<Duration> latency(paths.devices(), Duration::zero());
  for (std::size_t i = 0; i < paths.length(); ++i) {
    for (const PathLink& link : paths.layer(i)) {
      const std::uint64_t part = counts.from_source[link.source] * counts.to_target[link.target];
      route.hops.push_back(detail::hop_with_share(link.link, part, all));
      const Duration through = checked_add(latency[link.source], graph_->link(link.link).latency);
      latency[link.target] = std::max(latency[link.target], through);
    }
  }
  route.latency = checked_add(route.latency, latency[PathLayers::target()]);
}

}  // namespace collsim
