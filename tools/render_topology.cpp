#include "tools/render_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/format_text.hpp"
#include "tools/json_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

/// Links that are alike but for their ends.
struct LinkClass {
  std::string level;
  LinkKind kind = LinkKind::Generic;
  Bandwidth bandwidth;
  Duration latency{};
  std::uint64_t count = 0;
};

struct CutRange {
  Cut min;
  Cut max;
};

struct Summary {
  std::vector<std::pair<DeviceKind, std::uint64_t>> devices;
  std::vector<LinkClass> links;
  std::optional<CutRange> gpu_cut;
  std::optional<CutRange> node_cut;  ///< absent with one node
};

std::vector<std::pair<DeviceKind, std::uint64_t>> count_devices(const Graph& graph) {
  std::map<DeviceKind, std::uint64_t> counts;
  for (const Device& device : graph.devices()) {
    ++counts[device.kind];
  }
  return {counts.begin(), counts.end()};
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

std::optional<CutRange> range_of(const std::vector<Cut>& cuts) {
  if (cuts.empty()) {
    return std::nullopt;
  }
  CutRange range{cuts.front(), cuts.front()};
  for (const Cut& cut : cuts) {
    range.min = {std::min(range.min.out, cut.out), std::min(range.min.in, cut.in)};
    range.max = {std::max(range.max.out, cut.out), std::max(range.max.in, cut.in)};
  }
  return range;
}

Summary summarise(const Graph& graph) {
  Summary summary;
  summary.devices = count_devices(graph);
  summary.links = classify_links(graph);
  summary.gpu_cut = range_of(gpu_cuts(graph, graph.gpus()));
  if (graph.nodes() > 1) {
    summary.node_cut = range_of(node_cuts(graph));
  }
  return summary;
}

std::string cut_text(const CutRange& range) {
  const auto span = [](Bandwidth min, Bandwidth max) {
    return min == max ? to_text(min) : to_text(min) + " to " + to_text(max);
  };
  return span(range.min.out, range.max.out) + " out, " + span(range.min.in, range.max.in) + " in";
}

std::string overview(const Cluster& cluster, const Summary& summary) {
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("nodes", grouped(cluster.graph().nodes()));
  for (const auto& [kind, count] : summary.devices) {
    lines.emplace_back(name_of(kind), grouped(count));
  }
  if (summary.gpu_cut) {
    lines.emplace_back("links of a GPU", cut_text(*summary.gpu_cut));
  }
  if (summary.node_cut) {
    lines.emplace_back("links of a node", cut_text(*summary.node_cut));
  }
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

std::string links_table(const Summary& summary) {
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

nlohmann::ordered_json cut_json(const CutRange& range) {
  const auto rate = [](Bandwidth bandwidth) { return bandwidth.as_bytes_per_second(); };
  return {{"out_min_Bps", rate(range.min.out)},
          {"out_max_Bps", rate(range.max.out)},
          {"in_min_Bps", rate(range.min.in)},
          {"in_max_Bps", rate(range.max.in)}};
}

}  // namespace

std::string render_topology_table(const Cluster& cluster) {
  const Summary summary = summarise(cluster.graph());
  const ClusterSpec& spec = cluster.spec();
  std::string text = cluster.name();
  if (!spec.description.empty()) {
    text += ": " + spec.description;
  }
  text += "\n" + overview(cluster, summary);
  text += "\nLinks (one direction each; a switch's latency is part of the links that leave it)\n" +
          links_table(summary);
  TextTable values;
  values.add_column("value", Align::Left);
  values.add_column("in force", Align::Left, 48);
  values.add_column("from", Align::Left);
  for (const Provenance& value : spec.values) {
    values.add_row({value.path, value.value, value.origin});
  }
  return text + "\nEvery value in force\n" + values.render("  ");
}

std::string render_topology_json(const Cluster& cluster, const std::string& input_digest) {
  const Summary summary = summarise(cluster.graph());
  nlohmann::ordered_json document{
      {"schema", "collsim/topology/1"}, {"version", COLLSIM_VERSION},
      {"cluster", cluster.name()},      {"description", cluster.spec().description},
      {"input_digest", input_digest},   {"nodes", cluster.graph().nodes()}};
  auto& devices = document["devices"];
  devices = nlohmann::ordered_json::object();
  for (const auto& [kind, count] : summary.devices) {
    devices[std::string(name_of(kind))] = count;
  }
  auto& links = document["links"];
  links = nlohmann::ordered_json::array();
  for (const LinkClass& link : summary.links) {
    links.push_back({{"level", link.level},
                     {"kind", name_of(link.kind)},
                     {"links", link.count},
                     {"bandwidth_Bps", link.bandwidth.as_bytes_per_second()},
                     {"latency_ps", link.latency.count()}});
  }
  if (summary.gpu_cut) {
    document["gpu_cut"] = cut_json(*summary.gpu_cut);
  }
  if (summary.node_cut) {
    document["node_cut"] = cut_json(*summary.node_cut);
  }
  auto& values = document["values"];
  values = nlohmann::ordered_json::array();
  for (const Provenance& value : cluster.spec().values) {
    values.push_back({{"path", value.path}, {"value", value.value}, {"origin", value.origin}});
  }
  return json_text(document);
}

std::string render_topology_csv(const Cluster& cluster) {
  std::string text = "path,value,origin\n";
  for (const Provenance& value : cluster.spec().values) {
    text +=
        csv_field(value.path) + "," + csv_field(value.value) + "," + csv_field(value.origin) + "\n";
  }
  return text;
}

}  // namespace collsim
