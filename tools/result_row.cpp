#include "tools/result_row.hpp"

#include <algorithm>
#include <utility>

#include "tools/format_text.hpp"

namespace collsim {

namespace {

/// Every result was checked to fit when it was made.
std::int64_t shown_bytes(const LinkUse& use) { return static_cast<std::int64_t>(whole_bytes(use)); }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double utilisation(const Link& link, const LinkUse& use, Duration elapsed) {
  // Both in fine units: a rate of one unit moves one fine unit a picosecond.
  const double room =
      static_cast<double>(link.bandwidth.units()) * static_cast<double>(elapsed.count());
  return ratio(static_cast<double>(use.fine_bytes), room);
}

}  // namespace

ResultRow row_for(const Machine& machine, const JobOptions& options, CollectiveJob job,
                  Bytes requested) {
  ResultRow row;
  row.network_model = network_model_of(options);
  row.input_digest = machine.loaded.digest;
  row.placement = placement_name(options);
  row.nodes = nodes_of(machine.cluster.graph(), job.gpus);
  row.requested = requested;
  row.job = std::move(job);
  return row;
}

ResultRow row_for(const Machine& machine, const JobOptions& options, const CallOptions& call) {
  Bytes requested;
  CollectiveJob job = job_of(machine.cluster, options, call, requested);
  ResultRow row = row_for(machine, options, std::move(job), requested);
  row.groups = call.groups;
  return row;
}

void show_slowest_group(const Cluster& cluster, ResultRow& row) {
  if (row.result.slowest_group > 0) {
    std::swap(row.job.gpus, row.job.beside[row.result.slowest_group - 1]);
  }
  row.nodes = nodes_of(cluster.graph(), row.job.gpus);
}

std::vector<ShownLink> busiest_links(const Graph& graph, const CollectiveResult& result,
                                     std::size_t limit) {
  std::vector<ShownLink> shown;
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    const LinkUse& use = result.links[i];
    if (use.fine_bytes == 0) {
      continue;
    }
    const LinkId id(i);
    ShownLink link;
    link.link = id;
    link.bytes = shown_bytes(use);
    link.utilisation = utilisation(graph.link(id), use, result.elapsed);
    link.busy =
        ratio(static_cast<double>(use.busy.count()), static_cast<double>(result.elapsed.count()));
    link.peak_flows = use.peak_flows;
    shown.push_back(link);
  }
  const auto busier = [](const ShownLink& a, const ShownLink& b) {
    return a.utilisation != b.utilisation ? a.utilisation > b.utilisation : a.link < b.link;
  };
  const std::size_t kept = std::min(limit, shown.size());
  std::partial_sort(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(kept), shown.end(),
                    busier);
  shown.resize(kept);
  // Names are composed on demand: only those that are shown.
  for (ShownLink& link : shown) {
    link.name = graph.name(link.link);
    link.level = graph.levels()[graph.link(link.link).level.index()];
  }
  return shown;
}

std::vector<LevelUse> use_by_level(const Graph& graph, const CollectiveResult& result) {
  std::vector<LevelUse> levels(graph.levels().size());
  for (std::size_t i = 0; i < graph.links().size(); ++i) {
    const Link& link = graph.links()[i];
    LevelUse& level = levels[link.level.index()];
    ++level.links;
    if (i >= result.links.size() || result.links[i].fine_bytes == 0) {
      continue;
    }
    ++level.used;
    level.bytes += shown_bytes(result.links[i]);
    level.peak_utilisation =
        std::max(level.peak_utilisation, utilisation(link, result.links[i], result.elapsed));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i].level = graph.levels()[i];
  }
  return levels;
}

RankTimes rank_times(const CollectiveResult& result) {
  RankTimes times;
  if (result.time_of_rank.empty()) {
    return times;
  }
  const auto [min, max] = std::ranges::minmax(result.time_of_rank);
  U128 sum = 0;
  for (const Duration time : result.time_of_rank) {
    sum += static_cast<U128>(time.count());
  }
  times.min = min;
  times.max = max;
  times.mean = Duration(static_cast<std::int64_t>(sum / result.time_of_rank.size()));
  return times;
}

std::optional<std::string> below_bound_warning(const ResultRow& row) {
  const CollectiveResult& result = row.result;
  if (!row.iterations || result.bounds.empty() || result.contention_ignored ||
      result.time >= result.bounds.front().time) {
    return std::nullopt;
  }
  return "below the bound of one call: ranks that only send run ahead from call to call; "
         "--isolated times one call";
}

std::vector<std::string> warnings_of(const ResultRow& row) {
  std::vector<std::string> warnings;
  if (!row.parameters) {
    warnings.emplace_back(nominal_note);
  } else {
    warnings.push_back("parameters " + parameters_text(*row.parameters));
    if (const std::string outside = outside_text(*row.parameters); !outside.empty()) {
      warnings.push_back(outside);
    }
  }
  if (row.requested != row.job.call.size()) {
    warnings.push_back("size rounded from " + std::to_string(row.requested.count()) + " to " +
                       std::to_string(row.job.call.size().count()) + " bytes, as nccl-tests does");
  }
  if (const auto below = below_bound_warning(row)) {
    warnings.push_back(*below);
  }
  warnings.insert(warnings.end(), row.result.warnings.begin(), row.result.warnings.end());
  warnings.insert(warnings.end(), row.warnings.begin(), row.warnings.end());
  return warnings;
}

std::optional<double> efficiency(const CollectiveResult& result) {
  if (result.bounds.empty() || result.time == Duration::zero()) {
    return std::nullopt;
  }
  return static_cast<double>(result.bounds.front().time.count()) /
         static_cast<double>(result.time.count());
}

}  // namespace collsim
