#include "tools/render_measurements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/format_text.hpp"
#include "tools/json_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

double busbw_of(const MeasuredRun& run, const MeasuredRow& row) {
  return bus_bandwidth_GBps(run.collective, run.ranks, row.bytes, row.time);
}

std::string redop_of(const MeasuredRun& run) {
  return run.redop ? std::string(name_of(*run.redop)) : std::string();
}

std::string title_of(const Measurements& file) {
  std::string text = printable(file.file, 4096) + ": " + printable(file.machine);
  if (!file.hardware.gpu.empty()) {
    text += ", " + printable(file.hardware.gpu);
  }
  if (file.hardware.gpus_per_node != 0) {
    text += fmt::format(", {} a node", counted(file.hardware.gpus_per_node, "GPU"));
  }
  return text + (file.truncated ? ", cut\n" : "\n");
}

std::string headline_of(const MeasuredRun& run) {
  std::string text = fmt::format("{} on {}", name_of(run.collective), counted(run.ranks, "rank"));
  text += run.nodes == 0 ? ", nodes unknown" : ", " + counted(run.nodes, "node");
  text += fmt::format(", {}", name_of(run.type));
  if (run.redop) {
    text += " " + redop_of(run);
  }
  const std::string nccl = printable(run.software.nccl);
  text += nccl.empty() ? ", NCCL unknown" : (nccl.starts_with("RCCL") ? ", " : ", NCCL ") + nccl;
  return text + ", " +
         (run.software.launch.empty() ? "launch unknown" : printable(run.software.launch)) + "\n";
}

/// Lines below the headline, each as "name  text".
std::string details_of(const MeasuredRun& run) {
  std::string environment;
  for (const auto& [name, value] : run.software.environment) {
    environment += environment.empty() ? "" : " ";
    environment += name;
    environment += "=";
    environment += value;
  }
  constexpr std::size_t longest = 400;
  std::string text;
  for (const auto& [name, value] :
       {std::pair("source", run.source), std::pair("date", run.date),
        std::pair("CUDA", run.software.cuda), std::pair("variables", environment),
        std::pair("quality", run.quality), std::pair("notes", run.notes)}) {
    if (!value.empty()) {
      text += fmt::format("  {:<9}  {}\n", name, printable(value, longest));
    }
  }
  return text;
}

/// A size's measurements: out of place and in place, or one of which the table does not say which.
struct SizeRow {
  std::optional<MeasuredRow> first;
  std::optional<MeasuredRow> second;
};

std::vector<SizeRow> size_rows_of(const MeasuredRun& run) {
  std::vector<SizeRow> rows;
  for (const MeasuredRow& row : run.rows) {
    const bool second = row.in_place == InPlace::Yes;
    const bool joins = second && !rows.empty() && rows.back().first && !rows.back().second &&
                       rows.back().first->bytes == row.bytes && rows.back().first->in_place;
    if (!joins) {
      rows.emplace_back();
    }
    (second ? rows.back().second : rows.back().first) = row;
  }
  return rows;
}

std::vector<std::string> cells_of(const MeasuredRun& run, const std::optional<MeasuredRow>& row) {
  if (!row) {
    return {"", ""};
  }
  constexpr double ps_per_us = 1e6;
  const double time_us = static_cast<double>(row->time.count()) / ps_per_us;
  return {fmt::format("{:.2f}{}", time_us, row->suspect ? "?" : ""),
          fmt::format("{:.2f}", busbw_of(run, *row))};
}

std::string rows_of(const MeasuredRun& run) {
  const std::vector<SizeRow> rows = size_rows_of(run);
  bool two = false;
  bool told = false;
  for (const SizeRow& row : rows) {
    two = two || row.second;
    told = told || row.second || (row.first && row.first->in_place);
  }
  TextTable table;
  table.add_column("bytes");
  table.add_column(told ? "out of place us" : "time us");
  table.add_column("busbw GB/s");
  if (two) {
    table.add_column("in place us");
    table.add_column("busbw GB/s");
  }
  for (const SizeRow& row : rows) {
    const Bytes bytes = row.first ? row.first->bytes : row.second->bytes;
    std::vector<std::string> cells{std::to_string(bytes.count())};
    std::ranges::move(cells_of(run, row.first), std::back_inserter(cells));
    if (two) {
      std::ranges::move(cells_of(run, row.second), std::back_inserter(cells));
    }
    table.add_row(std::move(cells));
  }
  return table.render("  ");
}

std::string said(const char* title, const std::vector<MeasurementNote>& notes) {
  if (notes.empty()) {
    return {};
  }
  TextTable table;
  table.add_column("line");
  table.add_column(title, Align::Left, 100);
  for (const MeasurementNote& note : notes) {
    table.add_row({note.place.line == 0 ? "" : std::to_string(note.place.line), note.text});
  }
  return "\n" + table.render("  ");
}

Json notes_json(const std::vector<MeasurementNote>& notes) {
  Json list = Json::array();
  for (const MeasurementNote& note : notes) {
    list.push_back({{"line", note.place.line == 0 ? Json(nullptr) : Json(note.place.line)},
                    {"text", note.text}});
  }
  return list;
}

Json row_json(const MeasuredRun& run, const MeasuredRow& row) {
  return {{"bytes", row.bytes.count()},
          {"time_ps", row.time.count()},
          {"algbw_GBps", algorithm_bandwidth_GBps(row.bytes, row.time)},
          {"busbw_GBps", busbw_of(run, row)},
          {"in_place", row.in_place ? Json(*row.in_place == InPlace::Yes) : Json(nullptr)},
          {"suspect", row.suspect}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json count_or_null(std::uint32_t count) { return count == 0 ? Json(nullptr) : Json(count); }

Json run_json(const MeasuredRun& run) {
  Json json{{"collective", name_of(run.collective)},
            {"ranks", run.ranks},
            {"nodes", count_or_null(run.nodes)},
            {"datatype", name_of(run.type)},
            {"redop", text_or_null(redop_of(run))},
            {"nccl", text_or_null(run.software.nccl)},
            {"cuda", text_or_null(run.software.cuda)},
            {"launch", text_or_null(run.software.launch)},
            {"launch_mode", name_of(run.software.mode.mode)},
            {"gpus_per_process", run.software.mode.mode == LaunchMode::Unknown
                                     ? Json(nullptr)
                                     : Json(run.software.mode.gpus_per_process)},
            {"environment", Json::object()},
            {"source", text_or_null(run.source)},
            {"date", text_or_null(run.date)},
            {"quality", text_or_null(run.quality)},
            {"notes", text_or_null(run.notes)},
            {"rows", Json::array()}};
  for (const auto& [name, value] : run.software.environment) {
    json["environment"][name] = value;
  }
  for (const MeasuredRow& row : run.rows) {
    json["rows"].push_back(row_json(run, row));
  }
  return json;
}

std::string csv_line(const Measurements& file, const MeasuredRun& run, const MeasuredRow& row) {
  const std::vector<std::string> fields{
      csv_field(file.file),
      csv_field(file.machine),
      csv_field(file.hardware.gpu),
      std::string(name_of(run.collective)),
      std::to_string(run.ranks),
      run.nodes == 0 ? "" : std::to_string(run.nodes),
      std::string(name_of(run.type)),
      redop_of(run),
      csv_field(run.software.nccl),
      std::string(name_of(run.software.mode.mode)),
      std::to_string(row.bytes.count()),
      row.in_place ? (*row.in_place == InPlace::Yes ? "true" : "false") : "",
      row.suspect ? "true" : "false",
      std::to_string(row.time.count()),
      fmt::format("{}", algorithm_bandwidth_GBps(row.bytes, row.time)),
      fmt::format("{}", busbw_of(run, row))};
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string render_measurements_table(const std::vector<Measurements>& files) {
  std::string text;
  for (const Measurements& file : files) {
    text += (text.empty() ? "" : "\n") + title_of(file);
    for (const MeasuredRun& run : file.runs) {
      text += "\n" + headline_of(run) + details_of(run) + "\n" + rows_of(run);
    }
    text += said("note", file.notes);
    text += said("dropped, and why", file.dropped);
  }
  return text;
}

std::string render_measurements_json(const std::vector<Measurements>& files) {
  Json document{
      {"schema", "collsim/measured/1"}, {"version", COLLSIM_VERSION}, {"files", Json::array()}};
  for (const Measurements& file : files) {
    Json json{{"file", file.file},
              {"machine", file.machine},
              {"gpu", text_or_null(file.hardware.gpu)},
              {"gpus_per_node", count_or_null(file.hardware.gpus_per_node)},
              {"truncated", file.truncated},
              {"runs", Json::array()},
              {"notes", notes_json(file.notes)},
              {"dropped", notes_json(file.dropped)}};
    for (const MeasuredRun& run : file.runs) {
      json["runs"].push_back(run_json(run));
    }
    document["files"].push_back(std::move(json));
  }
  return json_text(document);
}

std::string render_measurements_csv(const std::vector<Measurements>& files) {
  std::string text =
      "file,machine,gpu,collective,ranks,nodes,datatype,redop,nccl,launch_mode,bytes,in_place,"
      "suspect,time_ps,algbw_GBps,busbw_GBps\n";
  for (const Measurements& file : files) {
    for (const MeasuredRun& run : file.runs) {
      for (const MeasuredRow& row : run.rows) {
        text += csv_line(file, run, row);
      }
    }
  }
  return text;
}

}  // namespace collsim
