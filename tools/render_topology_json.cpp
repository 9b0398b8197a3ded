// collsim/topology/1.

#include <nlohmann/json.hpp>
#include <string>

#include "tools/json_text.hpp"
#include "tools/render_topology.hpp"
#include "tools/topology_summary.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

double rate(TotalBandwidth bandwidth) { return bandwidth.as_bytes_per_second(); }

Json links_json(const TopologySummary& summary) {
  Json links = Json::array();
  for (const LinkClass& link : summary.links) {
    links.push_back({{"level", link.level},
                     {"kind", name_of(link.kind)},
                     {"links", link.count},
                     {"bandwidth_Bps", rate(link.bandwidth)},
                     {"latency_ps", link.latency.count()}});
  }
  return links;
}

Json cuts_json(const TopologySummary& summary) {
  Json cuts = Json::array();
  for (const LevelCuts& cut : summary.cuts) {
    Json& row = cuts.emplace_back(Json{{"part", cut.part},
                                       {"parts", cut.parts},
                                       {"gpus_min", cut.gpus.min},
                                       {"gpus_max", cut.gpus.max},
                                       {"out_min_Bps", rate(cut.out.min)},
                                       {"out_max_Bps", rate(cut.out.max)},
                                       {"in_min_Bps", rate(cut.in.min)},
                                       {"in_max_Bps", rate(cut.in.max)}});
    if (cut.inside_out) {
      row["inside_out_min_Bps"] = rate(cut.inside_out->min);
      row["inside_out_max_Bps"] = rate(cut.inside_out->max);
    }
    if (cut.oversubscription) {
      row["oversubscription"] = *cut.oversubscription;
    }
    if (cut.nodes_out) {
      row["nodes_out_min_Bps"] = rate(cut.nodes_out->min);
      row["nodes_out_max_Bps"] = rate(cut.nodes_out->max);
    }
    if (cut.nodes_oversubscription) {
      row["nodes_oversubscription"] = *cut.nodes_oversubscription;
    }
  }
  return cuts;
}

Json route_json(const Graph& graph, const LongestRoute& route) {
  return {{"from", graph.name(route.from)},
          {"to", graph.name(route.to)},
          {"links", route.links},
          {"latency_ps", route.latency.count()}};
}

Json diameter_json(const Graph& graph, const Diameter& diameter) {
  return {{"most_links", route_json(graph, diameter.most_links)},
          {"slowest", route_json(graph, diameter.slowest)},
          {"all_routes", diameter.sources == graph.gpus().size() && diameter.assumed == 0},
          {"from_gpus", diameter.sources},
          {"gpu_classes", diameter.classes},
          {"assumed", diameter.assumed}};
}

Json nics_json(const NicUse& use) {
  return {{"per_node_min", use.per_node.min},
          {"per_node_max", use.per_node.max},
          {"per_gpu_min", use.per_gpu.min},
          {"per_gpu_max", use.per_gpu.max},
          {"gpus_per_nic_min", use.gpus_per_nic.min},
          {"gpus_per_nic_max", use.gpus_per_nic.max},
          {"unused", use.unused}};
}

Json classes_json(const std::vector<AlikeClass>& classes, const char* members) {
  Json list = Json::array();
  for (const AlikeClass& alike : classes) {
    list.push_back({{members, alike.members}, {"first", alike.first}});
  }
  return list;
}

Json counts_json(const std::map<std::string, std::uint64_t>& counts) {
  Json object = Json::object();
  for (const auto& [type, count] : counts) {
    object[type] = count;
  }
  return object;
}

Json paths_json(const TopologySummary& summary) {
  Json paths = Json::array();
  for (const PathMatrix& matrix : summary.paths) {
    Json& entry = paths.emplace_back(Json{{"node", matrix.node}});
    if (!matrix.rows.empty()) {
      entry["devices"] = matrix.devices;
      Json& rows = entry["types"] = Json::array();
      for (const auto& types : matrix.rows) {
        Json& row = rows.emplace_back(Json::array());
        for (const PathType type : types) {
          row.push_back(to_text(type));
        }
      }
      entry["gpu_pairs"] = counts_json(matrix.gpu_pairs);
      entry["nic_pairs"] = counts_json(matrix.nic_pairs);
    }
    entry["other_nodes"] = counts_json(matrix.other_nodes);
  }
  return paths;
}

}  // namespace

std::string render_topology_json(const Cluster& cluster, const std::string& input_digest,
                                 MatrixExtent extent) {
  const TopologySummary summary = summarise(cluster, extent);
  Json document{{"schema", "collsim/topology/1"}, {"version", COLLSIM_VERSION},
                {"cluster", cluster.name()},      {"description", cluster.spec().description},
                {"input_digest", input_digest},   {"nodes", cluster.graph().nodes()}};
  Json& devices = document["devices"] = Json::object();
  for (const auto& [kind, count] : summary.devices) {
    devices[std::string(name_of(kind))] = count;
  }
  if (!summary.switches.empty()) {
    Json& switches = document["switches"] = Json::array();
    for (const SwitchLevel& level : summary.switches) {
      Json& row = switches.emplace_back(Json{{"level", level.level},
                                             {"switches", level.switches},
                                             {"ports_used_min", level.ports_used.min},
                                             {"ports_used_max", level.ports_used.max}});
      if (level.ports) {
        row["ports"] = *level.ports;
      }
    }
  }
  if (summary.dragonfly) {
    const DragonflyGroups& groups = *summary.dragonfly;
    document["groups"] = {{"groups", groups.groups},
                          {"switches", groups.switches},
                          {"links_between_groups", groups.links_between_groups},
                          {"global_links_min", groups.global_links.min},
                          {"global_links_max", groups.global_links.max}};
  }
  document["links"] = links_json(summary);
  document["cuts"] = cuts_json(summary);
  if (summary.nics) {
    document["nics"] = nics_json(*summary.nics);
  }
  if (summary.diameter) {
    document["longest_route"] = diameter_json(cluster.graph(), *summary.diameter);
  }
  document["alike"] = {{"device_classes", summary.device_classes},
                       {"nodes", classes_json(summary.alike_nodes, "nodes")},
                       {"gpus", classes_json(summary.alike_gpus, "gpus")}};
  document["paths"] = paths_json(summary);
  Json& values = document["values"] = Json::array();
  for (const Provenance& value : values_in_force(cluster)) {
    values.push_back({{"path", value.path}, {"value", value.value}, {"origin", value.origin}});
  }
  return json_text(document);
}

}  // namespace collsim
