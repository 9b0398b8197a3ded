#include "tools/render_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tools/cluster_title.hpp"
#include "tools/format_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "tools/topology_summary.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

// A matrix of more devices does not fit a page; --matrix shows it all the same.
constexpr std::size_t widest_matrix = 24;
// More classes of alike things are only counted.
constexpr std::size_t most_classes_listed = 6;

std::string range_text(const Range<TotalBandwidth>& range) {
  return range.min == range.max ? to_text(range.min)
                                : to_text(range.min) + " to " + to_text(range.max);
}

std::string range_text(const Range<std::uint32_t>& range) {
  return range.min == range.max ? grouped(range.min)
                                : grouped(range.min) + " to " + grouped(range.max);
}

std::string nics_text(const NicUse& use) {
  std::string text = range_text(use.per_node) + " a node";
  if (use.per_gpu.max == 0) {
    return text + ", no GPU reaches one";
  }
  text += ", " + range_text(use.per_gpu) + " for each GPU";
  if (use.gpus_per_nic.max > 1) {
    text += ", each shared by " + range_text(use.gpus_per_nic);
  }
  if (use.unused > 0) {
    text += fmt::format("; {} by which no GPU leaves", grouped(use.unused));
  }
  return text;
}

std::string route_text(const Graph& graph, const LongestRoute& route) {
  return fmt::format("{} link{}, {} ({} to {})", route.links, route.links == 1 ? "" : "s",
                     to_text(route.latency), graph.name(route.from), graph.name(route.to));
}

std::string diameter_text(const Graph& graph, const Diameter& diameter) {
  std::string text = route_text(graph, diameter.most_links);
  if (diameter.slowest.latency > diameter.most_links.latency) {
    text += "; slowest: " + route_text(graph, diameter.slowest);
  }
  if (diameter.sources < graph.gpus().size()) {
    text +=
        diameter.sources == diameter.classes
            ? "; of the routes from one GPU of each class"
            : fmt::format("; of the routes from {} GPU{} of {} classes", grouped(diameter.sources),
                          diameter.sources == 1 ? "" : "s", grouped(diameter.classes));
  }
  if (diameter.assumed > 0) {
    text += fmt::format("; {} of them not looked at, but alike ones", grouped(diameter.assumed));
  }
  return text;
}

/// "all 4 nodes", "31 and 1 of the 32 nodes".
std::string alike_text(const std::vector<AlikeClass>& classes, const std::string& what) {
  std::uint64_t members = 0;
  std::string sizes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    members += classes[i].members;
    sizes += i == 0 ? "" : (i + 1 == classes.size() ? " and " : ", ");
    sizes += grouped(classes[i].members);
  }
  if (members == 1) {
    return "the " + what;
  }
  if (classes.size() == 1) {
    return (members == 2 ? "both" : "all " + grouped(members)) + " " + what + "s";
  }
  if (classes.size() == members) {
    return "no two of the " + grouped(members) + " " + what + "s";
  }
  if (classes.size() > most_classes_listed) {
    sizes = grouped(classes.size()) + " classes";
  }
  return sizes + " of the " + grouped(members) + " " + what + "s";
}

/// "32 leaf, 16 spine"; "4 x 4 x 4", without dimensions of 1; empty where there is no more to say than how many.
std::string levels_text(const Cluster& cluster, const TopologySummary& summary) {
  std::string text;
  if (cluster.spec().fabric.kind == FabricKind::Torus) {
    for (const std::uint32_t dimension : cluster.spec().fabric.dimensions) {
      text += dimension == 1 ? "" : (text.empty() ? "" : " x ") + grouped(dimension);
    }
    text = !text.empty() && text.find('x') == std::string::npos ? "one ring" : text;
  } else if (summary.dragonfly) {
    text = grouped(summary.dragonfly->groups) +
           (summary.dragonfly->groups == 1 ? " group of " : " groups of ") +
           grouped(summary.dragonfly->switches);
  } else if (summary.switches.size() > 1) {
    for (const SwitchLevel& level : summary.switches) {
      text += (text.empty() ? "" : ", ") + grouped(level.switches) + " " + level.level;
    }
  }
  return text.empty() ? "" : " (" + text + ")";
}

/// "leaf 40 to 64 of 64, spine 32".
std::string ports_text(const std::vector<SwitchLevel>& levels) {
  std::string text;
  for (const SwitchLevel& level : levels) {
    text += text.empty() ? "" : ", ";
    text += levels.size() > 1 ? level.level + " " : "";
    text += range_text(level.ports_used);
    text += level.ports ? " of " + grouped(*level.ports) : "";
  }
  return text;
}

std::string global_text(const DragonflyGroups& dragonfly) {
  return fmt::format("{} between any two groups, {} at a switch",
                     grouped(dragonfly.links_between_groups), range_text(dragonfly.global_links));
}

std::string overview(const Cluster& cluster, const TopologySummary& summary) {
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("nodes", grouped(cluster.graph().nodes()));
  for (const auto& [kind, count] : summary.devices) {
    const bool divided = kind == DeviceKind::NetworkSwitch && !summary.switches.empty();
    lines.emplace_back(name_of(kind),
                       grouped(count) + (divided ? levels_text(cluster, summary) : ""));
  }
  if (!summary.switches.empty()) {
    lines.emplace_back("fabric ports", ports_text(summary.switches) + " in use");
  }
  if (summary.dragonfly && summary.dragonfly->groups > 1) {
    lines.emplace_back("global links", global_text(*summary.dragonfly));
  }
  if (summary.nics) {
    lines.emplace_back("NICs", nics_text(*summary.nics));
  }
  if (summary.diameter) {
    lines.emplace_back("longest route", diameter_text(cluster.graph(), *summary.diameter));
  }
  lines.emplace_back("alike", alike_text(summary.alike_nodes, "node") + "; " +
                                  alike_text(summary.alike_gpus, "GPU"));
  std::size_t width = 0;
  for (const auto& line : lines) {
    width = std::max(width, line.first.size());
  }
  std::string text;
  for (const auto& [name, value] : lines) {
    text += fmt::format("  {:<{}}  {}\n", name, width, value);
  }
  return text;
}

std::string links_table(const TopologySummary& summary) {
  TextTable table;
  table.add_column("level", Align::Left);
  table.add_column("kind", Align::Left);
  table.add_column("links");
  table.add_column("bandwidth");
  table.add_column("latency");
  for (const LinkClass& link : summary.links) {
    table.add_row({link.level, std::string(name_of(link.kind)), grouped(link.count),
                   to_text(link.bandwidth), to_text(link.latency)});
  }
  return table.render("  ");
}

std::string part_text(const std::string& part, FabricKind fabric) {
  if (part == "half") {
    return fabric == FabricKind::Torus ? "half of the torus" : "half of the groups";
  }
  return part == "gpu" || part == "node" ? part : part + " group";
}

std::string cuts_table(const TopologySummary& summary, FabricKind fabric) {
  TextTable table;
  table.add_column("part", Align::Left);
  table.add_column("parts");
  table.add_column("GPUs each");
  table.add_column("out");
  table.add_column("in");
  table.add_column("out of what is inside");
  table.add_column("inside : out");
  const bool has_groups = std::ranges::any_of(
      summary.cuts, [](const LevelCuts& cut) { return cut.nodes_out.has_value(); });
  if (has_groups) {
    table.add_column("out of its nodes");
    table.add_column("nodes : out");
  }
  const auto ratio = [](const std::optional<double>& value) -> std::string {
    if (!value) {
      return "";
    }
    return (*value < 1000 ? fmt::format("{:.3g}", *value)
                          : grouped(static_cast<std::uint64_t>(std::llround(*value)))) +
           " : 1";
  };
  for (const LevelCuts& cut : summary.cuts) {
    std::vector<std::string> cells{part_text(cut.part, fabric), grouped(cut.parts),
                                   range_text(cut.gpus), range_text(cut.out), range_text(cut.in)};
    cells.push_back(cut.inside_out ? range_text(*cut.inside_out) : "");
    cells.push_back(ratio(cut.oversubscription));
    if (has_groups) {
      cells.push_back(cut.nodes_out ? range_text(*cut.nodes_out) : "");
      cells.push_back(ratio(cut.nodes_oversubscription));
    }
    table.add_row(std::move(cells));
  }
  return table.render("  ");
}

/// "56 pairs of GPUs NV18".
std::string counts_text(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [type, count] : counts) {
    text += (text.empty() ? "" : ", ") + grouped(count) + " " + type;
  }
  return text;
}

std::string matrix_table(const PathMatrix& matrix) {
  TextTable table;
  table.add_column("", Align::Left);
  for (const std::string& device : matrix.devices) {
    table.add_column(device, Align::Left);
  }
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    std::vector<std::string> cells{matrix.devices[i]};
    for (const PathType type : matrix.rows[i]) {
      cells.push_back(to_text(type));
    }
    table.add_row(std::move(cells));
  }
  return table.render("  ");
}

std::string paths_text(const Cluster& cluster, const TopologySummary& summary,
                       MatrixExtent extent) {
  std::string text;
  std::set<PathClass> used;
  for (const PathMatrix& matrix : summary.paths) {
    text += "\nPaths in " + (cluster.graph().nodes() > 1 ? matrix.node : "the node") +
            ", as nvidia-smi topo -m has them\n";
    for (const auto& row : matrix.rows) {
      for (const PathType type : row) {
        used.insert(type.path_class);
      }
    }
    const bool fits = extent == MatrixExtent::Whole || matrix.devices.size() <= widest_matrix;
    if (!matrix.rows.empty() && fits) {
      text += matrix_table(matrix);
    } else if (!matrix.rows.empty()) {
      text += "  pairs of GPUs: " + counts_text(matrix.gpu_pairs) + "\n";
      if (!matrix.nic_pairs.empty()) {
        text += "  a GPU and a NIC: " + counts_text(matrix.nic_pairs) + "\n";
      }
      text += fmt::format("  --matrix shows all {} by {}\n", matrix.devices.size(),
                          matrix.devices.size());
    } else {
      text += fmt::format("  not shown: more than {} GPUs and NICs; --matrix shows them\n",
                          largest_matrix);
    }
    if (!matrix.other_nodes.empty()) {
      text += "  GPUs of other nodes: " + counts_text(matrix.other_nodes) + "\n";
      used.insert(PathClass::Net);
    }
  }
  used.erase(PathClass::Self);
  for (const PathClass path_class : used) {
    text += fmt::format("  {:<4} {}\n", name_of(path_class), meaning_of(path_class));
  }
  if (summary.alike_nodes.size() > most_matrices) {
    text += fmt::format("  looked at: {} of {} classes of nodes\n", most_matrices,
                        grouped(summary.alike_nodes.size()));
  }
  return text;
}

}  // namespace

std::string render_topology_table(const Cluster& cluster, MatrixExtent extent) {
  const TopologySummary summary = summarise(cluster, extent);
  std::string text = cluster_title(cluster.spec()) + "\n" + overview(cluster, summary);
  text += "\nLinks (one direction each; a switch's latency is part of the links that leave it)\n" +
          links_table(summary);
  text +=
      "\nWhat can leave and enter each part\n" + cuts_table(summary, cluster.spec().fabric.kind);
  text += paths_text(cluster, summary, extent);
  TextTable values;
  values.add_column("value", Align::Left);
  values.add_column("in force", Align::Left, 48);
  values.add_column("from", Align::Left);
  for (const Provenance& value : values_in_force(cluster)) {
    values.add_row({value.path, value.value, value.origin});
  }
  return text + "\nEvery value in force\n" + values.render("  ");
}

std::string render_topology_csv(const Cluster& cluster) {
  std::string text = "path,value,origin\n";
  for (const Provenance& value : values_in_force(cluster)) {
    text +=
        csv_field(value.path) + "," + csv_field(value.value) + "," + csv_field(value.origin) + "\n";
  }
  return text;
}

}  // namespace collsim
