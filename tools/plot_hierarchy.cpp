// The ladders as a chart: rungs that several clusters have stand in one row.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/format_text.hpp"
#include "tools/render_hierarchy.hpp"
#include "tools/svg.hpp"
#include "tools/svg_chart.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Rungs with the same key are one row.
std::string key_of(const Rung& rung) {
  return rung.kind == RungKind::Memory ? rung.level : rung.name;
}

struct Row {
  std::string key;
  std::string name;
  RungScope scope = RungScope::Gpu;
  std::vector<const Rung*> rungs;  ///< by ladder; null where it has none
};

/// What the names of one level in several clusters have in common: "HBM" of HBM2e and HBM3. Where
/// that is too little, the level's own word.
std::string common_name(const std::string& a, const std::string& b, const std::string& level) {
  constexpr std::ptrdiff_t telling = 3;
  const auto differs = std::ranges::mismatch(a, b).in1;
  if (differs == a.end() && a.size() == b.size()) {
    return a;
  }
  return differs - a.begin() >= telling ? std::string(a.begin(), differs) : level;
}

/// All rungs of all ladders, in an order that each ladder agrees with.
std::vector<Row> rows_of(std::span<const Ladder> ladders) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < ladders.size(); ++i) {
    auto place = rows.begin();
    for (const Rung& rung : ladders[i].hierarchy.rungs) {
      auto row = std::ranges::find(rows, key_of(rung), &Row::key);
      if (row == rows.end()) {
        row = rows.insert(place, {key_of(rung), rung.name, rung.scope,
                                  std::vector<const Rung*>(ladders.size(), nullptr)});
      } else {
        row->name = common_name(row->name, rung.name, rung.level);
      }
      row->rungs[i] = &rung;
      place = row + 1;
    }
  }
  // A level may be inside the node here and beyond it there.
  std::ranges::stable_sort(rows, {}, &Row::scope);
  return rows;
}

std::string group_of(RungScope scope) {
  switch (scope) {
    case RungScope::Gpu:
      return "inside the GPU";
    case RungScope::Node:
      return "inside the node";
    case RungScope::Cluster:
      return "in the cluster";
  }
  COLLSIM_ENSURE(false, "every scope has a name");
}

double per_second(Rate rate) {
  return Bandwidth::from_units(rate.numerator / rate.denominator).as_bytes_per_second();
}

ChartValue bandwidth_of(const Rung& rung) {
  if (!rung.bandwidth) {
    return {{}, "unknown"};
  }
  const Rate rate = rung.bandwidth->value;
  return {per_second(rate),
          human_bandwidth(Bandwidth::from_units(rate.numerator / rate.denominator))};
}

ChartValue load_of(const Rung& rung) {
  if (!rung.load) {
    return {{}, "unknown"};
  }
  return {static_cast<double>(rung.load->count()), human_time(*rung.load)};
}

std::string bandwidth_tick(double value) {
  return human_bandwidth(Bandwidth::bytes_per_second(static_cast<std::int64_t>(value)));
}

std::string time_tick(double value) {
  return human_time(Duration(static_cast<std::int64_t>(value)));
}

}  // namespace

std::string plot_hierarchy(std::span<const Ladder> ladders) {
  Chart chart;
  chart.title = "Closer is faster";
  chart.subtitle =
      "What one GPU sees, from its registers outwards: nominal and published figures, one "
      "direction, nothing else under way";
  for (const Ladder& ladder : ladders) {
    chart.series.push_back(ladder.cluster->name());
  }
  chart.panels = {{"Bandwidth (longer is better)", bandwidth_tick, {}},
                  {"Latency of a load (shorter is better)", time_tick, {}}};
  for (const Row& row : rows_of(ladders)) {
    chart.rows.push_back({row.name, group_of(row.scope)});
    auto& bandwidths = chart.panels[0].values.emplace_back();
    auto& loads = chart.panels[1].values.emplace_back();
    for (const Rung* const rung : row.rungs) {
      bandwidths.push_back(rung == nullptr ? std::nullopt : std::optional(bandwidth_of(*rung)));
      loads.push_back(rung == nullptr ? std::nullopt : std::optional(load_of(*rung)));
    }
  }
  return render_chart(chart);
}

}  // namespace collsim
