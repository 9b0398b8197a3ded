#include "tools/render_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collsim {

namespace {

std::string csv_line(const Cluster& cluster, const ResultRow& row) {
  const CollectiveCall& call = row.job.call;
  const CollectiveResult& result = row.result;
  const RankTimes times = rank_times(result);
  const bool bounded = !result.bounds.empty();
  const std::vector<std::string> fields{
      csv_field(cluster.name()),
      csv_field(row.placement),
      std::string(name_of(call.kind)),
      csv_field(result.algorithm),
      std::to_string(row.nccl_channels.value_or(result.channels)),
      std::to_string(result.chunks),
      std::string(name_of(row.network_model)),
      std::to_string(call.ranks),
      std::to_string(row.nodes),
      std::to_string(call.size().count()),
      std::to_string(call.count),
      std::string(name_of(call.type)),
      reduces(call.kind) ? std::string(name_of(call.op)) : "",
      has_root(call.kind) ? std::to_string(call.root.value()) : "",
      call.in_place == InPlace::Yes ? "true" : "false",
      std::to_string(result.time.count()),
      std::to_string(times.min.count()),
      std::to_string(times.max.count()),
      std::to_string(times.mean.count()),
      fmt::format("{}", algorithm_bandwidth_GBps(call.size(), result.time)),
      fmt::format("{}", bus_bandwidth_GBps(call.kind, call.ranks, call.size(), result.time)),
      bounded ? std::to_string(result.bounds.front().time.count()) : "",
      bounded ? csv_field(result.bounds.front().name) : "",
      result.contention_ignored ? "true" : "false",
      std::to_string(result.transfers),
      row.input_digest,
      row.groups,
      row.protocol,
      row.parameters ? csv_field(row.parameters->name) : "",
      row.parameters && row.parameters->tier ? std::string(name_of(*row.parameters->tier)) : "",
      row.parameters && !row.parameters->outside.empty() ? "true" : "false",
      result.folding.folded ? std::to_string(result.folding.lanes.classes) : "",
  };
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') {
      quoted += '"';
    }
    quoted += c;
  }
  return quoted + '"';
}

std::string render_csv(const Cluster& cluster, const std::vector<ResultRow>& rows) {
  std::string text =
      "cluster,placement,collective,algorithm,channels,chunks,network_model,ranks,nodes,bytes,"
      "count,"
      "datatype,redop,root,in_place,time_ps,time_min_ps,time_max_ps,time_mean_ps,algbw_GBps,"
      "busbw_GBps,bound_ps,bound,contention_ignored,transfers,input_digest,groups,"
      "protocol,parameters,tier,outside_fit,folded_lanes\n";
  for (const ResultRow& row : rows) {
    text += csv_line(cluster, row);
  }
  return text;
}

}  // namespace collsim
