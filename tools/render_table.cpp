#include "tools/render_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/format_text.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

constexpr std::size_t shown_links = 8;
constexpr std::size_t bar_width = 30;

std::string attribution_table(const Graph& graph, const CollectiveResult& result) {
  TextTable table;
  table.add_column("cause", Align::Left);
  table.add_column("on", Align::Left);
  table.add_column("time");
  table.add_column("share");
  table.add_column("", Align::Left);
  for (const AttributedTime& part : result.attribution) {
    const double fraction = share(part.time, result.time);
    table.add_row({std::string(name_of(part.cause)),
                   part.level       ? graph.levels()[part.level->index()]
                   : part.parameter ? name_of(*part.parameter)
                                    : "",
                   human_time(part.time), human_percent(fraction), bar(fraction, bar_width)});
  }
  return table.empty()
             ? ""
             : "\nWhere the time goes (the chain of steps that ends last)\n" + table.render("  ");
}

std::string bounds_table(const CollectiveResult& result) {
  TextTable table;
  table.add_column("lower bound", Align::Left);
  table.add_column("at", Align::Left);
  table.add_column("time");
  table.add_column("of the time");
  for (const Bound& bound : result.bounds) {
    table.add_row({bound.name, bound.where.empty() ? "the whole machine" : bound.where,
                   human_time(bound.time), human_percent(share(bound.time, result.time))});
  }
  if (table.empty()) {
    return "";
  }
  const char* const heading =
      result.contention_ignored
          ? "\nLower bounds, with links shared as they are (this run ignores it)\n"
          : "\nNo algorithm can be faster than\n";
  return heading + table.render("  ");
}

std::string links_table(const Graph& graph, const CollectiveResult& result, bool all) {
  TextTable table;
  table.add_column("link", Align::Left);
  table.add_column("level", Align::Left);
  table.add_column("carried");
  table.add_column("used");
  table.add_column("busy");
  table.add_column("at once");
  const std::size_t limit = all ? std::numeric_limits<std::size_t>::max() : shown_links;
  for (const ShownLink& link : busiest_links(graph, result, limit)) {
    table.add_row({link.name, link.level, human_bytes(Bytes(link.bytes)),
                   human_percent(link.utilisation), human_percent(link.busy),
                   std::to_string(link.peak_flows)});
  }
  if (table.empty()) {
    return "";
  }
  std::string text = "\nLinks, most used first";
  std::uint64_t used = 0;
  for (const LevelUse& level : use_by_level(graph, result)) {
    used += level.used;
  }
  if (!all && used > shown_links) {
    text += fmt::format(" ({} of {}; --links all shows the rest)", shown_links, grouped(used));
  }
  return text + "\n" + table.render("  ");
}

std::string levels_table(const Graph& graph, const CollectiveResult& result) {
  TextTable table;
  table.add_column("level", Align::Left);
  table.add_column("links used");
  table.add_column("carried");
  table.add_column("most used link");
  for (const LevelUse& level : use_by_level(graph, result)) {
    if (level.used == 0) {
      continue;
    }
    table.add_row({level.level, fmt::format("{} of {}", grouped(level.used), grouped(level.links)),
                   human_bytes(Bytes(level.bytes)), human_percent(level.peak_utilisation)});
  }
  return table.empty() ? "" : "\nLevels of the machine\n" + table.render("  ");
}

std::string rank_table(const ResultRow& row, const Graph& graph) {
  TextTable table;
  table.add_column("rank");
  table.add_column("GPU", Align::Left);
  table.add_column("time");
  for (std::size_t rank = 0; rank < row.result.time_of_rank.size(); ++rank) {
    table.add_row({std::to_string(rank), graph.name(row.job.gpus[rank]),
                   human_time(row.result.time_of_rank[rank])});
  }
  return "\nTime of each rank\n" + table.render("  ");
}

std::string critical_path_table(const CollectiveResult& result) {
  TextTable table;
  table.add_column("rank");
  table.add_column("lane");
  table.add_column("step");
  table.add_column("primitive", Align::Left);
  table.add_column("message");
  table.add_column("waited for", Align::Left);
  table.add_column("start");
  table.add_column("took");
  for (const CriticalStep& step : result.critical_path) {
    table.add_row({std::to_string(step.rank.value()), std::to_string(step.lane),
                   std::to_string(step.index), std::string(name_of(step.primitive)),
                   human_bytes(step.bytes),
                   step.from ? fmt::format("rank {}", step.from->value()) : "",
                   human_time(step.start.time_since_epoch()), human_time(step.end - step.start)});
  }
  return "\nCritical path\n" + (table.empty() ? "  no step takes time\n" : table.render("  "));
}

/// The quickest and the slowest of groups side by side.
std::string groups_line(const ResultRow& row) {
  const std::vector<Duration>& times = row.result.time_of_group;
  if (times.size() < 2) {
    return "";
  }
  const auto quickest = std::ranges::min_element(times);
  if (*quickest == times[row.result.slowest_group]) {
    return fmt::format("  groups     {}, all as quick; number 0 is shown\n", grouped(times.size()));
  }
  return fmt::format(
      "  groups     {}; number {} is the slowest and shown, number {} the quickest: {}\n",
      grouped(times.size()), row.result.slowest_group, quickest - times.begin(),
      human_time(*quickest));
}

std::string headline(const ResultRow& row) {
  const CollectiveResult& result = row.result;
  const CollectiveCall& call = row.job.call;
  std::string text;
  if (row.protocol.empty()) {
    text = fmt::format("  algorithm  {}, {} channel{}, {} chunk{}\n", result.algorithm,
                       result.channels, result.channels == 1 ? "" : "s", result.chunks,
                       result.chunks == 1 ? "" : "s");
  } else {
    const std::uint32_t channels = row.nccl_channels.value_or(result.channels);
    text = fmt::format("  algorithm  {}, {}, {} channel{}\n", result.algorithm, row.protocol,
                       channels, channels == 1 ? "" : "s");
  }
  if (!row.chosen_because.empty()) {
    text += fmt::format("             ({})\n", row.chosen_because);
  }
  text += fmt::format("  time       {}  ({} ps)\n", human_time(result.time), result.time.count());
  const RankTimes times = rank_times(result);
  // What reads the same is no spread.
  if (human_time(times.min) != human_time(times.max)) {
    text += fmt::format("  ranks      first {}, mean {}, last {}\n", human_time(times.min),
                        human_time(times.mean), human_time(times.max));
  }
  text += fmt::format("  algbw      {:.2f} GB/s\n  busbw      {:.2f} GB/s\n",
                      algorithm_bandwidth_GBps(call.size(), result.time),
                      bus_bandwidth_GBps(call.kind, call.ranks, call.size(), result.time));
  if (result.folding.folded) {
    text += fmt::format("  folded     {} of {} lanes simulated, the others do the same\n",
                        grouped(result.folding.lanes.classes), grouped(result.folding.lanes.all));
  }
  return text;
}

}  // namespace

std::string job_line(const Cluster& cluster, const ResultRow& row) {
  const CollectiveCall& call = row.job.call;
  std::string line = fmt::format("{} of {} on {}: {} rank{} on {} node{}, {}", name_of(call.kind),
                                 human_bytes(call.size()), cluster.name(), grouped(call.ranks),
                                 call.ranks == 1 ? "" : "s", grouped(row.nodes),
                                 row.nodes == 1 ? "" : "s", name_of(call.type));
  if (reduces(call.kind)) {
    line += fmt::format(" {}", name_of(call.op));
  }
  if (has_root(call.kind)) {
    line += fmt::format(", root {}", call.root.value());
  }
  line += call.in_place == InPlace::Yes ? ", in place" : ", out of place";
  if (row.placement != "block") {
    line += fmt::format(", placement {}", row.placement);
  }
  if (!row.groups.empty()) {
    line += fmt::format(", in {} group{} at once ({})", grouped(row.job.groups()),
                        row.job.beside.empty() ? "" : "s", row.groups);
  }
  return line + fmt::format(", network model {}\n", name_of(row.network_model));
}

double share(Duration part, Duration whole) {
  return whole == Duration::zero()
             ? 0
             : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string check_text(const CheckReport& report) {
  if (report.ok()) {
    return fmt::format(
        "\nVerified: {} steps and {} messages, every rank ends with the right data.\n",
        grouped(report.steps), grouped(report.messages));
  }
  std::string text = "\nVerification FAILED\n";
  for (const CheckFailure& failure : report.failures) {
    text += fmt::format("  {}: {}\n", name_of(failure.kind), failure.text);
  }
  return text;
}

std::string warning_lines(const ResultRow& row) {
  std::string text;
  for (const std::string& warning : warnings_of(row)) {
    text += "  note: " + warning + "\n";
  }
  return text;
}

std::string render_run(const Cluster& cluster, const ResultRow& row, const RowDetail& detail) {
  const Graph& graph = cluster.graph();
  std::string text = job_line(cluster, row) + headline(row) + groups_line(row) + warning_lines(row);
  text += attribution_table(graph, row.result);
  text += bounds_table(row.result);
  text += levels_table(graph, row.result);
  text += links_table(graph, row.result, detail.all_links);
  if (detail.per_rank) {
    text += rank_table(row, graph);
  }
  if (detail.critical_path) {
    text += critical_path_table(row.result);
  }
  if (row.check) {
    text += check_text(*row.check);
  }
  return text;
}

}  // namespace collsim
