#include "tools/render_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "topology/digest.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t top_links = 20;

Json bounds_json(const CollectiveResult& result) {
  Json bounds = Json::array();
  for (const Bound& bound : result.bounds) {
    Json entry{{"name", bound.name}, {"time_ps", bound.time.count()}};
    if (!bound.where.empty()) entry["where"] = bound.where;
    bounds.push_back(std::move(entry));
  }
  return bounds;
}

Json attribution_json(const Graph& graph, const CollectiveResult& result) {
  Json parts = Json::array();
  for (const AttributedTime& part : result.attribution) {
    Json entry{{"cause", name_of(part.cause)}};
    if (part.level) entry["level"] = graph.levels()[part.level->index()];
    entry["time_ps"] = part.time.count();
    parts.push_back(std::move(entry));
  }
  return parts;
}

Json links_json(const Graph& graph, const CollectiveResult& result, bool all) {
  Json links;
  links["levels"] = Json::array();
  for (const LevelUse& level : use_by_level(graph, result)) {
    links["levels"].push_back({{"level", level.level},
                               {"links", level.links},
                               {"used", level.used},
                               {"bytes", level.bytes},
                               {"peak_utilisation", level.peak_utilisation}});
  }
  const std::size_t limit = all ? std::numeric_limits<std::size_t>::max() : top_links;
  Json& busiest = links[all ? "all" : "top"];
  busiest = Json::array();
  for (const ShownLink& link : busiest_links(graph, result, limit)) {
    busiest.push_back({{"link", link.name},
                       {"level", link.level},
                       {"bytes", link.bytes},
                       {"utilisation", link.utilisation},
                       {"busy", link.busy},
                       {"peak_flows", link.peak_flows}});
  }
  return links;
}

Json critical_path_json(const CollectiveResult& result) {
  Json path = Json::array();
  for (const CriticalStep& step : result.critical_path) {
    Json entry{{"rank", step.rank.value()},
               {"lane", step.lane},
               {"step", step.index},
               {"primitive", name_of(step.primitive)},
               {"bytes", step.bytes.count()}};
    if (step.from) entry["from"] = step.from->value();
    entry["start_ps"] = step.start.time_since_epoch().count();
    entry["left_ps"] = step.left.time_since_epoch().count();
    entry["end_ps"] = step.end.time_since_epoch().count();
    path.push_back(std::move(entry));
  }
  return path;
}

Json check_json(const CheckReport& report) {
  Json failures = Json::array();
  for (const CheckFailure& failure : report.failures) {
    failures.push_back({{"kind", name_of(failure.kind)},
                        {"rank", failure.rank.value()},
                        {"lane", failure.lane},
                        {"step", failure.step},
                        {"text", failure.text}});
  }
  return Json{{"ok", report.ok()},
              {"steps", report.steps},
              {"messages", report.messages},
              {"failures", std::move(failures)}};
}

Json run_info_json(const RunInfo& info) {
  return Json{{"wall_s", info.wall_s},
              {"events_per_s", info.events_per_s},
              {"transfers_per_s", info.transfers_per_s},
              {"peak_memory_bytes", info.peak_memory_bytes}};
}

void add_job(Json& json, const Cluster& cluster, const ResultRow& row) {
  const CollectiveCall& call = row.job.call;
  json["version"] = COLLSIM_VERSION;
  json["input_digest"] = row.input_digest;
  json["cluster"] = cluster.name();
  json["placement"] = row.placement;
  json["collective"] = name_of(call.kind);
  json["algorithm"] = row.result.algorithm;
  if (!row.chosen_because.empty()) json["chosen_because"] = row.chosen_because;
  json["protocol"] = nullptr;
  json["channels"] = row.result.channels;
  json["chunks"] = row.result.chunks;
  json["network_model"] = name_of(row.network_model);
  json["ranks"] = call.ranks;
  json["nodes"] = row.nodes;
  json["bytes"] = call.size().count();
  json["requested_bytes"] = row.requested.count();
  json["count"] = call.count;
  json["datatype"] = name_of(call.type);
  json["redop"] = reduces(call.kind) ? Json(name_of(call.op)) : Json(nullptr);
  json["root"] = has_root(call.kind) ? Json(call.root.value()) : Json(nullptr);
  json["in_place"] = call.in_place == InPlace::yes;
  if (row.iterations) {
    json["iterations"] = {{"warmup", row.iterations->warmup}, {"timed", row.iterations->timed}};
  }
}

void add_times(Json& json, const ResultRow& row, const JsonDetail& detail) {
  const CollectiveResult& result = row.result;
  const CollectiveCall& call = row.job.call;
  const RankTimes times = rank_times(result);
  json["time_ps"] = result.time.count();
  json["time_us"] = static_cast<double>(result.time.count()) / 1e6;
  json["time_per_rank_ps"] = {
      {"min", times.min.count()}, {"max", times.max.count()}, {"mean", times.mean.count()}};
  if (detail.per_rank) {
    Json& all = json["time_of_rank_ps"];
    all = Json::array();
    for (const Duration time : result.time_of_rank) all.push_back(time.count());
  }
  json["algbw_GBps"] = algorithm_bandwidth_GBps(call.size(), result.time);
  json["busbw_GBps"] = bus_bandwidth_GBps(call.kind, call.ranks, call.size(), result.time);
}

Json row_json(const Cluster& cluster, const ResultRow& row, const JsonDetail& detail) {
  Json json;
  add_job(json, cluster, row);
  add_times(json, row, detail);
  json["bounds"] = bounds_json(row.result);
  json["attribution"] = attribution_json(cluster.graph(), row.result);
  json["links"] = links_json(cluster.graph(), row.result, detail.all_links);
  json["transfers"] = row.result.transfers;
  if (!row.result.critical_path.empty()) json["critical_path"] = critical_path_json(row.result);
  if (row.check) json["check"] = check_json(*row.check);
  json["contention_ignored"] = row.result.contention_ignored;
  json["parameters"] = {{"name", nullptr}, {"provenance", "nominal"}};
  json["warnings"] = warnings_of(row);
  // Before what may differ between equal results: see docs/output.md.
  Digest digest;
  digest.add(json.dump());
  json["result_digest"] = digest.hex();
  json["events"] = row.result.events;
  json["folding"] = {{"mode", "none"}, {"reason", "every rank is simulated"}};
  return json;
}

}  // namespace

std::string render_json(const Cluster& cluster, const std::vector<ResultRow>& rows,
                        const std::vector<RunInfo>& infos, const JsonDetail& detail) {
  Json document{{"schema", "collsim/results/1"}, {"rows", Json::array()}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json row = row_json(cluster, rows[i], detail);
    if (i < infos.size()) row["run_info"] = run_info_json(infos[i]);
    document["rows"].push_back(std::move(row));
  }
  return document.dump(2) + "\n";
}

}  // namespace collsim
