#include "topology/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "topology/disjoint_sets.hpp"
#include "topology/quantity_text.hpp"

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

void add(TotalCut& sum, const TotalCut& part) {
  sum.out += part.out;
  sum.in += part.in;
}

/// The cut around every part, with or without GPUs.
std::vector<TotalCut> cuts_of(const Graph& graph, const Division& division) {
  std::vector<TotalCut> cuts(graph.devices().size());  // there are no more parts than devices
  for (const Link& link : graph.links()) {
    const std::uint32_t source = division.part_of[link.source.index()];
    const std::uint32_t target = division.part_of[link.target.index()];
    if (source == target) {
      continue;
    }
    cuts[source].out += link.bandwidth;
    cuts[target].in += link.bandwidth;
  }
  return cuts;
}

std::optional<Division> torus_halves(const Graph& graph, const FabricSpec& fabric) {
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

/// The first half of the groups, and the rest.
std::optional<Division> dragonfly_halves(const Graph& graph) {
  std::uint32_t groups = 0;
  for (const Device& device : graph.devices()) {
    groups = std::max(groups, device.group ? *device.group + 1 : 0);
  }
  if (groups < 2) {
    return std::nullopt;
  }
  Division halves{"half", 2, std::vector<std::uint32_t>(graph.devices().size(), 0)};
  std::vector<std::optional<std::uint32_t>> half_of_node(graph.nodes());
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    if (const auto group = graph.devices()[i].group) {
      halves.part_of[i] = *group < groups / 2 ? 0U : 1U;
    }
  }
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    for (const DeviceId nic : graph.nics(NodeId(node))) {
      for (const LinkId id : graph.links_out(nic)) {
        const DeviceId beyond = graph.link(id).target;
        if (graph.device(beyond).group && !half_of_node[node]) {
          half_of_node[node] = halves.part_of[beyond.index()];
        }
      }
    }
  }
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    if (const auto node = graph.devices()[i].node) {
      halves.part_of[i] = half_of_node[node->index()].value_or(0);
    }
  }
  return halves;
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

std::optional<Division> fabric_halves(const Graph& graph, const FabricSpec& fabric) {
  std::optional<Division> halves = fabric.kind == FabricKind::Torus ? torus_halves(graph, fabric)
                                   : fabric.kind == FabricKind::Dragonfly ? dragonfly_halves(graph)
                                                                          : std::nullopt;
  const auto has_gpu = [&](std::uint32_t half) {
    return std::ranges::any_of(graph.gpus(),
                               [&](DeviceId gpu) { return halves->part_of[gpu.index()] == half; });
  };
  return halves && has_gpu(0) && has_gpu(1) ? halves : std::nullopt;
}

std::vector<PartCut> part_cuts(const Graph& graph, const Division& division,
                               const Division* inner) {
  const std::vector<TotalCut> own = cuts_of(graph, division);
  std::vector<PartCut> cuts(division.parts);
  for (std::uint32_t part = 0; part < division.parts; ++part) {
    cuts[part].cut = own[part];
  }
  const auto around = [&](DeviceId member) -> PartCut& {
    return cuts[division.part_of[member.index()]];
  };
  for (const DeviceId gpu : graph.gpus()) {
    ++around(gpu).gpus;
  }
  // Calls with a GPU of each part of another division, and the cut around that part.
  const auto for_each_part = [&](const Division& parts, const auto& visit) {
    const std::vector<TotalCut> of_parts = cuts_of(graph, parts);
    std::vector<bool> counted(parts.parts, false);
    for (const DeviceId gpu : graph.gpus()) {
      const std::uint32_t part = parts.part_of[gpu.index()];
      if (!counted[part]) {
        counted[part] = true;
        visit(gpu, of_parts[part]);
      }
    }
  };
  DisjointSets nodes = join_nodes(graph);
  for_each_part(divide(graph, nodes, "node"),
                [&](DeviceId gpu, const TotalCut& cut) { add(around(gpu).nodes, cut); });
  if (inner != nullptr) {
    for_each_part(*inner, [&](DeviceId gpu, const TotalCut& cut) { add(around(gpu).inside, cut); });
    return cuts;
  }
  const std::vector<Cut> of_gpus = gpu_cuts(graph, graph.gpus());
  for (std::size_t i = 0; i < of_gpus.size(); ++i) {
    add(around(graph.gpus()[i]).inside, {of_gpus[i].out, of_gpus[i].in});
  }
  return cuts;
}

std::optional<Bandwidth> TotalBandwidth::bandwidth() const {
  constexpr auto most = static_cast<U128>(std::numeric_limits<std::int64_t>::max());
  return units_ > most ? std::nullopt
                       : std::optional(Bandwidth::from_units(static_cast<std::int64_t>(units_)));
}

double TotalBandwidth::as_bytes_per_second() const {
  return static_cast<double>(units_) / static_cast<double>(Bandwidth::units_per_byte_per_second);
}

std::string to_text(TotalBandwidth total) {
  if (const auto bandwidth = total.bandwidth()) {
    return to_text(*bandwidth);
  }
  constexpr double petabyte = 1e15;
  return std::to_string(std::llround(total.as_bytes_per_second() / petabyte)) + " PB/s";
}

}  // namespace collsim
