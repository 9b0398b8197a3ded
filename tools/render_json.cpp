#include "tools/render_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "tools/json_text.hpp"
#include "tools/row_json.hpp"
#include "topology/digest.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t top_links = 20;

Json bounds_json(const CollectiveResult& result) {
  Json bounds = Json::array();
  for (const Bound& bound : result.bounds) {
    Json entry{{"name", bound.name}, {"time_ps", bound.time.count()}};
    if (!bound.where.empty()) {
      entry["where"] = bound.where;
    }
    bounds.push_back(std::move(entry));
  }
  return bounds;
}

Json attribution_json(const Graph& graph, const CollectiveResult& result) {
  Json parts = Json::array();
  for (const AttributedTime& part : result.attribution) {
    Json entry{{"cause", name_of(part.cause)}};
    if (part.level) {
      entry["level"] = graph.levels()[part.level->index()];
    }
    if (part.parameter) {
      entry["parameter"] = name_of(*part.parameter);
    }
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
    if (step.from) {
      entry["from"] = step.from->value();
    }
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

Json count_json(const FoldedCount& count) {
  return Json{{"all", count.all}, {"simulated", count.classes}};
}

Json skipped_json(const Folding& folding) {
  if (folding.periods_skipped == 0) {
    return nullptr;
  }
  return Json{{"periods", folding.periods_skipped}, {"period_ps", folding.period.count()}};
}

Json folding_json(const Folding& folding) {
  if (!folding.folded) {
    return Json{{"mode", "none"},
                {"evaluated", folding.evaluated},
                {"skipped", skipped_json(folding)},
                {"reason", folding.reason},
                {"remedy", folding.remedy.empty() ? Json(nullptr) : Json(folding.remedy)}};
  }
  return Json{{"mode", "space"},
              {"evaluated", folding.evaluated},
              {"skipped", skipped_json(folding)},
              {"ranks", count_json(folding.ranks)},
              {"lanes", count_json(folding.lanes)},
              {"links", count_json(folding.links)},
              {"verified",
               "shapes of lanes, connections slot by slot, links of paths, crossings of links"}};
}

Json run_info_json(const RunInfo& info) {
  return Json{{"wall_s", info.wall_s},
              {"events_per_s", info.events_per_s},
              {"transfers_per_s", info.transfers_per_s},
              {"peak_memory_bytes", info.peak_memory_bytes}};
}

void add_groups(Json& json, const ResultRow& row) {
  const std::vector<Duration>& times = row.result.time_of_group;
  Json all = Json::array();
  for (const Duration time : times) {
    all.push_back(time.count());
  }
  json["groups"] = {{"kind", row.groups.substr(0, 2)},
                    {"size", row.job.call.ranks},
                    {"count", row.job.groups()},
                    {"slowest", row.result.slowest_group},
                    {"time_of_group_ps", std::move(all)}};
}

void add_job(Json& json, const Cluster& cluster, const ResultRow& row) {
  const CollectiveCall& call = row.job.call;
  json["version"] = COLLSIM_VERSION;
  json["input_digest"] = row.input_digest;
  json["cluster"] = cluster.name();
  json["placement"] = row.placement;
  json["collective"] = name_of(call.kind);
  json["algorithm"] = row.result.algorithm;
  json["protocol"] = row.protocol.empty() ? Json(nullptr) : Json(row.protocol);
  json["channels"] = row.nccl_channels.value_or(row.result.channels);
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
  json["in_place"] = call.in_place == InPlace::Yes;
  if (!row.groups.empty()) {
    add_groups(json, row);
  }
  if (row.iterations) {
    json["iterations"] = {{"warmup", row.iterations->warmup},
                          {"timed", row.iterations->timed},
                          {"simulated", row.result.simulated_calls}};
  }
}

Json rank_times_json(const CollectiveResult& result) {
  Json all = Json::array();
  for (const Duration time : result.time_of_rank) {
    all.push_back(time.count());
  }
  return all;
}

void add_times(Json& json, const ResultRow& row) {
  const CollectiveResult& result = row.result;
  const CollectiveCall& call = row.job.call;
  const RankTimes times = rank_times(result);
  json["time_ps"] = result.time.count();
  json["time_us"] = static_cast<double>(result.time.count()) / 1e6;
  json["time_per_rank_ps"] = {
      {"min", times.min.count()}, {"max", times.max.count()}, {"mean", times.mean.count()}};
  json["algbw_GBps"] = algorithm_bandwidth_GBps(call.size(), result.time);
  json["busbw_GBps"] = bus_bandwidth_GBps(call.kind, call.ranks, call.size(), result.time);
}

/// Covers what was simulated and what came of it, in full: each rank's time, each link's use. What is
/// shown of it, how it was asked for, and what depends on the simulator's workings make no difference.
std::string result_digest(const Json& core, const CollectiveResult& result) {
  Digest digest;
  digest.add(json_text(core));
  for (const Duration time : result.time_of_rank) {
    digest.add(std::to_string(time.count()));
  }
  for (const LinkUse& use : result.links) {
    digest.add(std::to_string(static_cast<std::uint64_t>(use.fine_bytes >> 64U)));
    digest.add(std::to_string(static_cast<std::uint64_t>(use.fine_bytes)));
    digest.add(std::to_string(use.busy.count()));
    digest.add(std::to_string(use.peak_flows));
  }
  return digest.hex();
}

Json outside_json(const UsedParameters& used) {
  Json json = Json::array();
  for (const OutsideFit& outside : used.outside) {
    json.push_back({{"what", outside.what}, {"found", outside.found}, {"fitted", outside.fitted}});
  }
  return json;
}

}  // namespace

Json row_json(const Cluster& cluster, const ResultRow& row, const RowDetail& detail) {
  const CollectiveResult& result = row.result;
  Json json;
  add_job(json, cluster, row);
  add_times(json, row);
  json["bounds"] = bounds_json(result);
  json["attribution"] = attribution_json(cluster.graph(), result);
  json["transfers"] = result.transfers;
  json["contention_ignored"] = result.contention_ignored;
  if (row.parameters) {
    json["parameters"] = {
        {"name", row.parameters->name},
        {"provenance", row.parameters->provenance},
        {"tier", row.parameters->tier ? Json(name_of(*row.parameters->tier)) : Json(nullptr)},
        {"outside", outside_json(*row.parameters)}};
  } else {
    json["parameters"] = {{"name", nullptr},
                          {"provenance", "nominal"},
                          {"tier", nullptr},
                          {"outside", Json::array()}};
  }
  json["warnings"] = warnings_of(row);
  json["result_digest"] = result_digest(json, result);
  if (!row.chosen_because.empty()) {
    json["chosen_because"] = row.chosen_because;
  }
  json["links"] = links_json(cluster.graph(), result, detail.all_links);
  if (detail.per_rank) {
    json["time_of_rank_ps"] = rank_times_json(result);
  }
  if (detail.critical_path) {
    json["critical_path"] = critical_path_json(result);
  }
  if (row.check) {
    json["check"] = check_json(*row.check);
  }
  json["events"] = result.events;
  json["folding"] = folding_json(result.folding);
  return json;
}

std::string render_json(const Cluster& cluster, const Results& results, const RowDetail& detail) {
  Json document{{"schema", "collsim/results/1"}, {"rows", Json::array()}};
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    Json row = row_json(cluster, results.rows[i], detail);
    if (i < results.infos.size()) {
      row["run_info"] = run_info_json(results.infos[i]);
    }
    document["rows"].push_back(std::move(row));
  }
  for (const NotSimulated& other : results.not_simulated) {
    document["not_simulated"].push_back({{"algorithm", other.algorithm}, {"reason", other.reason}});
  }
  return json_text(document);
}

}  // namespace collsim
