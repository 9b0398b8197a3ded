#include "topology/parts.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include "topology/disjoint_sets.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// The devices of each node joined.
DisjointSets join_nodes(const Graph& graph) {
  DisjointSets sets(graph.devices().size());
  std::vector<std::optional<std::size_t>> first(graph.nodes());
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    if (const auto node = graph.devices()[i].node) {
      std::optional<std::size_t>& leader = first[node->index()];
      leader = leader.value_or(i);
      sets.join(i, *leader);
    }
  }
  return sets;
}

/// Joins the ends of a level's links. Returns whether that changed anything.
bool join_level(DisjointSets& sets, const Graph& graph, LevelId level) {
  bool joined = false;
  for (const Link& link : graph.links()) {
    if (link.level != level || sets.of(link.source.index()) == sets.of(link.target.index())) {
      continue;
    }
    sets.join(link.source.index(), link.target.index());
    joined = true;
  }
  return joined;
}

Division divide(const Graph& graph, DisjointSets& sets, std::string name) {
  constexpr std::uint32_t unnumbered = std::numeric_limits<std::uint32_t>::max();
  const std::size_t devices = graph.devices().size();
  std::vector<std::uint32_t> number(devices, unnumbered);
  std::uint32_t next = 0;
  for (const DeviceId gpu : graph.gpus()) {
    std::uint32_t& part = number[sets.of(gpu.index())];
    part = part == unnumbered ? next++ : part;
  }
  Division division{std::move(name), next, std::vector<std::uint32_t>(devices)};
  for (std::size_t i = 0; i < devices; ++i) {
    std::uint32_t& part = number[sets.of(i)];
    part = part == unnumbered ? next++ : part;
    division.part_of[i] = part;
  }
  return division;
}

void add(Bandwidth& sum, Bandwidth part, const std::string& what) {
  std::int64_t units = 0;
  if (__builtin_add_overflow(sum.units(), part.units(), &units)) {
    throw InputError("the links of a " + what + " together exceed 9 PB/s");
  }
  sum = Bandwidth::from_units(units);
}

/// The cut around every part, with or without GPUs.
std::vector<Cut> cuts_of(const Graph& graph, const Division& division) {
  std::vector<Cut> cuts(graph.devices().size());  // there are no more parts than devices
  for (const Link& link : graph.links()) {
    const std::uint32_t source = division.part_of[link.source.index()];
    const std::uint32_t target = division.part_of[link.target.index()];
    if (source == target) {
      continue;
    }
    add(cuts[source].out, link.bandwidth, division.name);
    add(cuts[target].in, link.bandwidth, division.name);
  }
  return cuts;
}

}  // namespace

std::vector<Division> divisions(const Graph& graph) {
  DisjointSets sets = join_nodes(graph);
  std::vector<Division> found;
  found.push_back(divide(graph, sets, "node"));
  for (std::size_t level = 0; level < graph.levels().size(); ++level) {
    if (join_level(sets, graph, LevelId(level))) {
      found.push_back(divide(graph, sets, graph.levels()[level]));
    }
  }
  return found;
}

std::optional<Division> torus_halves(const Graph& graph, const FabricSpec& fabric) {
  if (fabric.kind != FabricKind::Torus) {
    return std::nullopt;
  }
  const auto longest = std::ranges::max_element(fabric.dimensions);
  if (longest == fabric.dimensions.end() || *longest < 2) {
    return std::nullopt;
  }
  std::uint64_t stride = 1;
  for (auto dimension = fabric.dimensions.begin(); dimension != longest; ++dimension) {
    stride *= *dimension;
  }
  // Node n is at place n / stride of that dimension. A switch is where its NICs are.
  const auto half_of = [&](std::uint64_t node) {
    return node / stride % *longest < *longest / 2 ? 0U : 1U;
  };
  Division halves{"half", 2, std::vector<std::uint32_t>(graph.devices().size(), 0)};
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    if (const auto node = graph.devices()[i].node) {
      halves.part_of[i] = half_of(node->value());
    }
  }
  for (const Link& link : graph.links()) {
    const auto node = graph.device(link.source).node;
    if (node && !graph.device(link.target).node) {
      halves.part_of[link.target.index()] = half_of(node->value());
    }
  }
  return halves;
}

std::vector<PartCut> part_cuts(const Graph& graph, const Division& division,
                               const Division* inner) {
  const std::vector<Cut> own = cuts_of(graph, division);
  std::vector<PartCut> cuts(division.parts);
  for (std::uint32_t part = 0; part < division.parts; ++part) {
    cuts[part].cut = own[part];
  }
  const auto add_inside = [&](DeviceId member, const Cut& cut) {
    PartCut& around = cuts[division.part_of[member.index()]];
    add(around.inside.out, cut.out, division.name);
    add(around.inside.in, cut.in, division.name);
  };
  const std::span<const DeviceId> gpus = graph.gpus();
  for (const DeviceId gpu : gpus) {
    ++cuts[division.part_of[gpu.index()]].gpus;
  }
  const std::vector<Cut> of_nodes = node_cuts(graph);
  std::vector<bool> node_counted(graph.nodes(), false);
  for (const DeviceId gpu : gpus) {
    const std::size_t node = graph.device(gpu).node->index();
    if (!node_counted[node]) {
      node_counted[node] = true;
      PartCut& around = cuts[division.part_of[gpu.index()]];
      add(around.nodes.out, of_nodes[node].out, division.name);
      add(around.nodes.in, of_nodes[node].in, division.name);
    }
  }
  if (inner == nullptr) {
    const std::vector<Cut> of_gpus = gpu_cuts(graph, gpus);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      add_inside(gpus[i], of_gpus[i]);
    }
    return cuts;
  }
  const std::vector<Cut> of_inner = cuts_of(graph, *inner);
  std::vector<bool> counted(inner->parts, false);
  for (const DeviceId gpu : gpus) {
    const std::uint32_t part = inner->part_of[gpu.index()];
    if (!counted[part]) {
      counted[part] = true;
      add_inside(gpu, of_inner[part]);
    }
  }
  return cuts;
}

}  // namespace collsim
