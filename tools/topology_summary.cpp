#include "tools/topology_summary.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

namespace collsim {

namespace {

template <class Value>
void widen(std::optional<Range<Value>>& range, Value value) {
  if (!range) {
    range = Range<Value>{value, value};
    return;
  }
  range->min = std::min(range->min, value);
  range->max = std::max(range->max, value);
}

std::vector<std::pair<DeviceKind, std::uint64_t>> count_devices(const Graph& graph) {
  std::map<DeviceKind, std::uint64_t> counts;
  for (const Device& device : graph.devices()) {
    ++counts[device.kind];
  }
  return {counts.begin(), counts.end()};
}

std::string level_name(FabricKind kind, std::size_t tier) {
  constexpr std::array<std::string_view, 3> names{"leaf", "spine", "core"};
  if (kind != FabricKind::LeafSpine && kind != FabricKind::FatTree &&
      kind != FabricKind::RailOptimized) {
    return "switch";
  }
  return tier < names.size() ? std::string(names[tier]) : "tier" + std::to_string(tier);
}

std::vector<SwitchLevel> count_switches(const Cluster& cluster) {
  const Graph& graph = cluster.graph();
  const FabricSpec& fabric = cluster.spec().fabric;
  if (cluster.spec().graph || fabric.kind == FabricKind::None) {
    return {};
  }
  std::vector<SwitchLevel> levels;
  std::vector<std::optional<Range<std::uint32_t>>> ports(fabric.tiers.size());
  for (std::size_t tier = 0; tier < fabric.tiers.size(); ++tier) {
    levels.push_back({level_name(fabric.kind, tier), 0, {}, fabric.tiers[tier].ports});
  }
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const Device& device = graph.devices()[i];
    if (device.node) {
      continue;
    }
    const std::size_t tier = device.tree_place ? device.tree_place->tier : 0;
    ++levels[tier].switches;
    widen(ports[tier], static_cast<std::uint32_t>(graph.links_out(DeviceId(i)).size()));
  }
  for (std::size_t tier = 0; tier < levels.size(); ++tier) {
    levels[tier].ports_used = ports[tier].value_or(Range<std::uint32_t>{});
  }
  return levels;
}

std::optional<DragonflyGroups> dragonfly_groups(const Cluster& cluster) {
  const Graph& graph = cluster.graph();
  const FabricSpec& fabric = cluster.spec().fabric;
  if (fabric.kind != FabricKind::Dragonfly) {
    return std::nullopt;
  }
  DragonflyGroups found;
  std::optional<Range<std::uint32_t>> global;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    const std::optional<std::uint32_t> group = graph.devices()[i].group;
    if (!group) {
      continue;
    }
    found.groups = std::max(found.groups, std::uint64_t{*group} + 1);
    const auto links = std::ranges::count_if(graph.links_out(DeviceId(i)), [&](LinkId id) {
      const Device& beyond = graph.device(graph.link(id).target);
      return beyond.group && beyond.group != group;
    });
    widen(global, static_cast<std::uint32_t>(links));
  }
  found.switches = fabric.dragonfly.switches;
  found.links_between_groups = found.groups > 1 ? fabric.dragonfly.global_links : 0;
  found.global_links = global.value_or(Range<std::uint32_t>{});
  return found;
}

std::vector<LinkClass> classify_links(const Graph& graph) {
  using Key = std::tuple<LevelId, LinkKind, Bandwidth, Duration>;
  std::map<Key, std::uint64_t> counts;
  for (const Link& link : graph.links()) {
    ++counts[Key{link.level, link.kind, link.bandwidth, link.latency}];
  }
  std::vector<LinkClass> classes;
  for (const auto& [key, count] : counts) {
    const auto& [level, kind, bandwidth, latency] = key;
    classes.push_back({graph.levels()[level.index()], kind, bandwidth, latency, count});
  }
  return classes;
}

/// The larger of what is known and of one bandwidth over another, if that is not 0.
void widen_ratio(std::optional<double>& ratio, TotalBandwidth over, TotalBandwidth under) {
  if (under > TotalBandwidth()) {
    const double found = over.as_bytes_per_second() / under.as_bytes_per_second();
    ratio = std::max(ratio.value_or(found), found);
  }
}

LevelCuts gpu_level(const Graph& graph) {
  std::optional<Range<TotalBandwidth>> out;
  std::optional<Range<TotalBandwidth>> in;
  for (const Cut& cut : gpu_cuts(graph, graph.gpus())) {
    widen(out, TotalBandwidth(cut.out));
    widen(in, TotalBandwidth(cut.in));
  }
  LevelCuts level;
  level.part = "gpu";
  level.parts = graph.gpus().size();
  level.gpus = {1, 1};
  level.out = *out;
  level.in = *in;
  return level;
}

/// What the parts of a division have. `inner`: see part_cuts().
LevelCuts level_of(const Graph& graph, const Division& division, const Division* inner) {
  LevelCuts level;
  level.part = division.name;
  level.parts = division.parts;
  std::optional<Range<std::uint32_t>> gpus;
  std::optional<Range<TotalBandwidth>> out;
  std::optional<Range<TotalBandwidth>> in;
  for (const PartCut& part : part_cuts(graph, division, inner)) {
    widen(gpus, part.gpus);
    widen(out, part.cut.out);
    widen(in, part.cut.in);
    widen(level.inside_out, part.inside.out);
    widen_ratio(level.oversubscription, part.inside.out, part.cut.out);
    if (inner != nullptr) {
      widen(level.nodes_out, part.nodes.out);
      widen_ratio(level.nodes_oversubscription, part.nodes.out, part.cut.out);
    }
  }
  level.gpus = *gpus;
  level.out = *out;
  level.in = *in;
  return level;
}

std::vector<LevelCuts> level_cuts(const Cluster& cluster) {
  const Graph& graph = cluster.graph();
  std::vector<LevelCuts> levels{gpu_level(graph)};
  const std::vector<Division> found = divisions(graph);
  std::size_t i = 0;
  for (; i < found.size() && found[i].parts > 1; ++i) {
    levels.push_back(level_of(graph, found[i], i == 0 ? nullptr : &found[i - 1]));
  }
  if (const auto halves = fabric_halves(graph, cluster.spec().fabric); halves && i > 0) {
    levels.push_back(level_of(graph, *halves, &found[i - 1]));
  }
  return levels;
}

std::optional<NicUse> nic_use(const Cluster& cluster) {
  const Graph& graph = cluster.graph();
  std::vector<std::uint32_t> gpus_of(graph.devices().size(), 0);
  std::optional<Range<std::uint32_t>> per_gpu;
  for (const DeviceId gpu : graph.gpus()) {
    const std::span<const DeviceId> nics = cluster.router().nics_of(gpu);
    widen(per_gpu, static_cast<std::uint32_t>(nics.size()));
    for (const DeviceId nic : nics) {
      ++gpus_of[nic.index()];
    }
  }
  std::optional<Range<std::uint32_t>> per_node;
  std::optional<Range<std::uint32_t>> gpus_per_nic;
  NicUse use;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    const std::span<const DeviceId> nics = graph.nics(NodeId(node));
    widen(per_node, static_cast<std::uint32_t>(nics.size()));
    for (const DeviceId nic : nics) {
      if (gpus_of[nic.index()] > 0) {
        widen(gpus_per_nic, gpus_of[nic.index()]);
      } else {
        ++use.unused;
      }
    }
  }
  if (!per_node || per_node->max == 0) {
    return std::nullopt;
  }
  use.per_node = *per_node;
  use.per_gpu = *per_gpu;
  use.gpus_per_nic = gpus_per_nic.value_or(Range<std::uint32_t>{});
  return use;
}

/// Counts the members of each class, in order of the first.
class ClassCounts {
 public:
  /// `name` is asked for the first member only.
  template <class Name>
  void add(std::uint32_t number, Name name) {
    const auto [found, is_new] = place_.try_emplace(number, classes_.size());
    if (is_new) {
      classes_.push_back({0, name()});
    }
    ++classes_[found->second].members;
  }
  [[nodiscard]] std::vector<AlikeClass> take() && { return std::move(classes_); }

 private:
  std::map<std::uint32_t, std::size_t> place_;
  std::vector<AlikeClass> classes_;
};

std::string node_name(std::uint32_t node) { return "node" + std::to_string(node); }

std::vector<AlikeClass> alike_nodes(const SymmetryClasses& symmetry) {
  ClassCounts counts;
  for (std::uint32_t node = 0; node < symmetry.of_node.size(); ++node) {
    counts.add(symmetry.of_node[node], [node] { return node_name(node); });
  }
  return std::move(counts).take();
}

std::vector<AlikeClass> alike_gpus(const Graph& graph, const SymmetryClasses& symmetry) {
  ClassCounts counts;
  for (const DeviceId gpu : graph.gpus()) {
    counts.add(symmetry.of_device[gpu.index()], [&] { return graph.name(gpu); });
  }
  return std::move(counts).take();
}

/// The GPUs of a node, then its NICs.
struct Endpoints {
  std::vector<DeviceId> devices;
  std::size_t gpus = 0;
};

Endpoints endpoints_of(const Graph& graph, std::uint32_t node) {
  Endpoints ends;
  for (const DeviceId gpu : graph.gpus()) {
    if (graph.device(gpu).node == NodeId(node)) {
      ends.devices.push_back(gpu);
    }
  }
  ends.gpus = ends.devices.size();
  const std::span<const DeviceId> nics = graph.nics(NodeId(node));
  ends.devices.insert(ends.devices.end(), nics.begin(), nics.end());
  return ends;
}

void count_pairs(PathMatrix& matrix, const Endpoints& ends) {
  for (std::size_t i = 0; i < ends.gpus; ++i) {
    for (std::size_t j = i + 1; j < ends.devices.size(); ++j) {
      ++(j < ends.gpus ? matrix.gpu_pairs : matrix.nic_pairs)[to_text(matrix.rows[i][j])];
    }
  }
}

PathMatrix path_matrix(const Graph& graph, std::uint32_t node, MatrixExtent extent) {
  const Endpoints ends = endpoints_of(graph, node);
  PathMatrix matrix;
  matrix.node = node_name(node);
  if (extent == MatrixExtent::Whole || ends.devices.size() <= largest_matrix) {
    for (const DeviceId device : ends.devices) {
      matrix.devices.push_back(graph.name_in_node(device));
      matrix.rows.push_back(path_types(graph, device, ends.devices));
    }
    count_pairs(matrix, ends);
  }
  std::vector<DeviceId> others;
  for (const DeviceId gpu : graph.gpus()) {
    if (graph.device(gpu).node != NodeId(node)) {
      others.push_back(gpu);
    }
  }
  if (ends.gpus > 0 && !others.empty()) {
    for (const PathType type : path_types(graph, ends.devices.front(), others)) {
      ++matrix.other_nodes[to_text(type)];
    }
  }
  return matrix;
}

/// The first node of each class, as far as their paths differ.
std::vector<PathMatrix> path_matrices(const Graph& graph, const SymmetryClasses& symmetry,
                                      MatrixExtent extent) {
  std::vector<PathMatrix> matrices;
  std::vector<bool> looked_at(symmetry.node_classes, false);
  std::size_t classes = 0;
  for (std::uint32_t node = 0; node < symmetry.of_node.size() && classes < most_matrices; ++node) {
    if (looked_at[symmetry.of_node[node]]) {
      continue;
    }
    looked_at[symmetry.of_node[node]] = true;
    ++classes;
    PathMatrix matrix = path_matrix(graph, node, extent);
    const bool known = std::ranges::any_of(matrices, [&](const PathMatrix& other) {
      return !matrix.rows.empty() && other.devices == matrix.devices && other.rows == matrix.rows;
    });
    if (!known) {
      matrices.push_back(std::move(matrix));
    }
  }
  return matrices;
}

}  // namespace

TopologySummary summarise(const Cluster& cluster, MatrixExtent extent) {
  const Graph& graph = cluster.graph();
  const SymmetryClasses symmetry = symmetry_classes(graph);
  TopologySummary summary;
  summary.devices = count_devices(graph);
  summary.switches = count_switches(cluster);
  summary.dragonfly = dragonfly_groups(cluster);
  summary.links = classify_links(graph);
  summary.cuts = level_cuts(cluster);
  summary.nics = nic_use(cluster);
  if (graph.gpus().size() > 1) {
    summary.diameter = diameter(cluster, symmetry);
  }
  summary.device_classes = symmetry.device_classes;
  summary.alike_nodes = alike_nodes(symmetry);
  summary.alike_gpus = alike_gpus(graph, symmetry);
  summary.paths = path_matrices(graph, symmetry, extent);
  return summary;
}

std::vector<Provenance> values_in_force(const Cluster& cluster) {
  std::vector<Provenance> values = cluster.spec().values;
  for (const Provenance& derived : derived_values(cluster.spec())) {
    const std::string part = derived.path.substr(0, derived.path.rfind('.') + 1);
    const auto last = std::ranges::find_if(
        values.rbegin(), values.rend(),
        [&part](const Provenance& value) { return value.path.starts_with(part); });
    values.insert(last.base(), derived);
  }
  return values;
}

}  // namespace collsim
