#include "tools/render_hierarchy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "tools/cluster_title.hpp"
#include "tools/format_text.hpp"
#include "tools/json_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

constexpr const char* unknown = "unknown";

/// "M" of measured: what a table has room for.
char letter_of(FigureSource source) {
  return static_cast<char>(name_of(source).front() - 'a' + 'A');
}

std::string with_letter(std::string text, const std::optional<FigureSource>& source) {
  // Two columns in any case, so that units stand below each other.
  return std::move(text) + " " + (source ? letter_of(*source) : ' ');
}

double per_second(Rate rate) {
  return static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator) /
         static_cast<double>(Bandwidth::units_per_byte_per_second);
}

std::string rate_text(Rate rate) {
  return human_bandwidth(Bandwidth::from_units(rate.numerator / rate.denominator));
}

/// As makers and people write it: 80 GB, but 20.25 MiB.
std::string capacity_text(Bytes bytes) {
  constexpr std::int64_t terabyte = 1'000'000'000'000;
  const auto terabytes = static_cast<double>(bytes.count()) / static_cast<double>(terabyte);
  if (bytes.count() >= 1000 * terabyte) {
    return fmt::format("{:.4g} PB", terabytes / 1000);
  }
  if (bytes.count() >= terabyte) {
    return fmt::format("{:.4g} TB", terabytes);
  }
  return bytes.count() % 1'000'000 == 0 ? to_text(bytes) : human_bytes(bytes);
}

std::string capacity_cell(const Rung& rung) {
  return rung.capacity ? with_letter(capacity_text(rung.capacity->value), rung.capacity->source)
                       : with_letter(unknown, {});
}

std::string bandwidth_cell(const Rung& rung) {
  return rung.bandwidth ? with_letter(rate_text(rung.bandwidth->value), rung.bandwidth->source)
                        : with_letter(unknown, {});
}

std::string load_cell(const Rung& rung) {
  const bool inside = rung.kind == RungKind::Memory && rung.latency;
  return with_letter(rung.load ? human_time(*rung.load) : unknown,
                     inside ? rung.latency->source : std::nullopt);
}

std::string one_way_cell(const Rung& rung) {
  return rung.kind == RungKind::Memory || !rung.latency ? "" : human_time(rung.latency->value);
}

std::string time_cell(const RungTime& time) {
  if (!time.fits) {
    return "does not fit";
  }
  return time.time ? human_time(*time.time) : unknown;
}

std::string example_name(const Ladder& ladder, const Rung& rung) {
  return rung.example ? ladder.cluster->graph().name(*rung.example) : "";
}

bool compares(const Hierarchy& hierarchy) {
  return std::ranges::any_of(hierarchy.rungs,
                             [](const Rung& rung) { return rung.times_slower.has_value(); });
}

std::string rungs_table(const Hierarchy& hierarchy) {
  const bool comparing = compares(hierarchy);
  TextTable table;
  table.add_column("rung", Align::Left);
  table.add_column("capacity  ");
  table.add_column("bandwidth  ");
  if (comparing) {
    table.add_column("slower than " + hierarchy.rungs[*hierarchy.memory].name);
  }
  table.add_column("one way");
  table.add_column("load  ");
  for (const RungTime& time : hierarchy.rungs.front().times) {
    table.add_column(human_bytes(time.bytes));
  }
  for (const Rung& rung : hierarchy.rungs) {
    std::vector<std::string> cells{rung.name, capacity_cell(rung), bandwidth_cell(rung)};
    if (comparing) {
      cells.push_back(rung.times_slower ? fmt::format("{:.3g} x", *rung.times_slower) : unknown);
    }
    cells.push_back(one_way_cell(rung));
    cells.push_back(load_cell(rung));
    for (const RungTime& time : rung.times) {
      cells.push_back(time_cell(time));
    }
    table.add_row(std::move(cells));
  }
  return table.render("  ");
}

/// "nic, leaf, nic"; of a long run of like ones the number: "nic, 16385 x switch, nic".
std::string through_text(const std::vector<DeviceKind>& kinds) {
  constexpr std::ptrdiff_t longest_run = 6;
  std::string text;
  for (auto begin = kinds.begin(); begin != kinds.end();) {
    const auto end =
        std::find_if(begin, kinds.end(), [&](DeviceKind kind) { return kind != *begin; });
    const bool counted = end - begin > longest_run;
    for (auto kind = begin; kind != (counted ? begin + 1 : end); ++kind) {
      text += text.empty() ? "" : ", ";
      text += counted ? fmt::format("{} x {}", grouped(static_cast<std::uint64_t>(end - begin)),
                                    name_of(*kind))
                      : name_of(*kind);
    }
    begin = end;
  }
  return text;
}

std::string ways_table(const Ladder& ladder) {
  TextTable table;
  table.add_column("rung", Align::Left);
  table.add_column("devices");
  table.add_column("such as", Align::Left);
  table.add_column("through", Align::Left);
  for (const Rung& rung : ladder.hierarchy.rungs) {
    if (rung.kind == RungKind::Memory) {
      continue;
    }
    table.add_row({rung.name, grouped(rung.devices), example_name(ladder, rung),
                   rung.through.empty() ? "nothing" : through_text(rung.through)});
  }
  return table.empty() ? "" : "\nOutside the GPU\n" + table.render("  ");
}

/// What the letters in the table mean.
std::string legend(const Hierarchy& hierarchy) {
  std::vector<FigureSource> sources;
  for (const Rung& rung : hierarchy.rungs) {
    const auto add = [&](const auto& figure) {
      if (figure && figure->source) {
        sources.push_back(*figure->source);
      }
    };
    add(rung.capacity);
    add(rung.bandwidth);
    add(rung.latency);
  }
  std::ranges::sort(sources);
  const auto doubles = std::ranges::unique(sources);
  sources.erase(doubles.begin(), doubles.end());
  if (sources.empty()) {
    return "All figures are worked out from the links of the description.\n";
  }
  std::string text;
  for (const FigureSource source : sources) {
    text += fmt::format("{} {}, ", letter_of(source), name_of(source));
  }
  return "Sources: " + text + "without a letter worked out from the links of the description.\n";
}

std::string notes(const Hierarchy& hierarchy) {
  std::string text;
  for (const Rung& rung : hierarchy.rungs) {
    if (!rung.note.empty()) {
      text += "  " + rung.name + ": " + rung.note + "\n";
    }
  }
  return text.empty() ? "" : "\nNotes\n" + text;
}

std::string ladder_text(const Ladder& ladder) {
  const Cluster& cluster = *ladder.cluster;
  const Hierarchy& hierarchy = ladder.hierarchy;
  std::string text = cluster_title(cluster.spec()) + "\n";
  if (hierarchy.rungs.empty()) {
    return text + "  Nothing to show: one GPU, and no word on what is inside (node.gpu_memory).\n";
  }
  text += "\nWhat " + cluster.graph().name(hierarchy.gpu) + " sees, from the inside out\n" +
          rungs_table(hierarchy);
  text += "\n" + legend(hierarchy);
  text +=
      "Time of a size: load (outside the GPU: one way), then the bytes at the bandwidth. load: of "
      "one that waits,\noutside the GPU there, back and a load from the memory at the other end.\n";
  if (!compares(hierarchy)) {
    text +=
        "Nothing is compared with the GPU's memory: the description does not give its bandwidth "
        "(node.gpu_memory).\n";
  }
  return text + ways_table(ladder) + notes(hierarchy);
}

template <class Figure, class Convert>
void put_figure(nlohmann::ordered_json& json, const std::string& name, const std::string& unit,
                const Figure& figure, Convert convert) {
  json[name + unit] = nullptr;
  json[name + "_source"] = nullptr;
  if (figure) {
    json[name + unit] = convert(figure->value);
    json[name + "_source"] = figure->source ? std::string(name_of(*figure->source)) : "links";
  }
}

template <class Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::optional<std::int64_t> picoseconds(const std::optional<Duration>& time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

nlohmann::ordered_json rung_json(const Ladder& ladder, const Rung& rung) {
  nlohmann::ordered_json json{{"kind", name_of(rung.kind)},
                              {"scope", name_of(rung.scope)},
                              {"level", rung.level},
                              {"name", rung.name}};
  put_figure(json, "capacity", "_bytes", rung.capacity, [](Bytes bytes) { return bytes.count(); });
  put_figure(json, "bandwidth", "_Bps", rung.bandwidth, per_second);
  put_figure(json, "latency", "_ps", rung.latency, [](Duration time) { return time.count(); });
  json["load_ps"] = or_null(picoseconds(rung.load));
  json["times_slower"] = or_null(rung.times_slower);
  auto& times = json["times"];
  times = nlohmann::ordered_json::array();
  for (const RungTime& time : rung.times) {
    times.push_back({{"bytes", time.bytes.count()},
                     {"fits", time.fits},
                     {"time_ps", or_null(picoseconds(time.time))}});
  }
  if (rung.kind != RungKind::Memory) {
    json["devices"] = rung.devices;
    json["example"] = example_name(ladder, rung);
    auto& through = json["through"];
    through = nlohmann::ordered_json::array();
    for (const DeviceKind kind : rung.through) {
      through.push_back(name_of(kind));
    }
  }
  if (!rung.note.empty()) {
    json["note"] = rung.note;
  }
  return json;
}

std::string csv_line(const Ladder& ladder, const Rung& rung) {
  const auto json = rung_json(ladder, rung);
  const auto field = [&json](const std::string& name) {
    const auto found = json.find(name);
    if (found == json.end() || found->is_null()) {
      return std::string();
    }
    return found->is_string() ? csv_field(found->get<std::string>()) : found->dump();
  };
  std::vector<std::string> fields{csv_field(ladder.cluster->name())};
  for (const char* const name :
       {"kind", "scope", "level", "name", "capacity_bytes", "capacity_source", "bandwidth_Bps",
        "bandwidth_source", "latency_ps", "latency_source", "load_ps", "times_slower", "devices",
        "example"}) {
    fields.push_back(field(name));
  }
  for (const RungTime& time : rung.times) {
    fields.push_back(time.time ? std::to_string(time.time->count()) : "");
  }
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string render_hierarchy_table(std::span<const Ladder> ladders) {
  std::string text;
  for (const Ladder& ladder : ladders) {
    text += (text.empty() ? "" : "\n\n") + ladder_text(ladder);
  }
  return text;
}

std::string render_hierarchy_json(std::span<const Ladder> ladders) {
  nlohmann::ordered_json document{{"schema", "collsim/hierarchy/1"}, {"version", COLLSIM_VERSION}};
  auto& list = document["ladders"];
  list = nlohmann::ordered_json::array();
  for (const Ladder& ladder : ladders) {
    const Cluster& cluster = *ladder.cluster;
    const Hierarchy& hierarchy = ladder.hierarchy;
    nlohmann::ordered_json json{{"cluster", cluster.name()},
                                {"description", cluster.spec().description},
                                {"input_digest", ladder.input_digest},
                                {"gpu", cluster.graph().name(hierarchy.gpu)}};
    auto& rungs = json["rungs"];
    rungs = nlohmann::ordered_json::array();
    for (const Rung& rung : hierarchy.rungs) {
      rungs.push_back(rung_json(ladder, rung));
    }
    list.push_back(std::move(json));
  }
  return json_text(document);
}

std::string render_hierarchy_csv(std::span<const Ladder> ladders) {
  std::string text =
      "cluster,kind,scope,level,name,capacity_bytes,capacity_source,bandwidth_Bps,"
      "bandwidth_source,latency_ps,latency_source,load_ps,times_slower,devices,example";
  for (const Bytes size : hierarchy_sizes) {
    text += ",time_" + std::to_string(size.count()) + "_ps";
  }
  text += "\n";
  for (const Ladder& ladder : ladders) {
    for (const Rung& rung : ladder.hierarchy.rungs) {
      text += csv_line(ladder, rung);
    }
  }
  return text;
}

}  // namespace collsim
