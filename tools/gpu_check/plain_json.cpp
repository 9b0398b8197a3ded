#include "tools/gpu_check/plain_json.hpp"

#include <array>
#include <charconv>

namespace collsim {

namespace {

/// The members of an object, or the elements of an array, with commas between.
class List {
 public:
  void add(const std::string& element) { text_ += (text_.empty() ? "" : ", ") + element; }
  void member(std::string_view name, const std::string& json) {
    add(json_text(name) + ": " + json);
  }
  /// Left out where it is empty.
  void text_member(std::string_view name, const std::string& text) {
    if (!text.empty()) {
      member(name, json_text(text));
    }
  }
  [[nodiscard]] std::string object() const { return "{" + text_ + "}"; }
  [[nodiscard]] std::string array() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

std::string hardware_json(const MeasuredHardware& hardware) {
  List json;
  json.text_member("gpu", hardware.gpu);
  json.text_member("cpu", hardware.cpu);
  if (hardware.gpus_per_node > 0) {
    json.member("gpus_per_node", std::to_string(hardware.gpus_per_node));
  }
  return json.object();
}

std::string software_json(const MeasuredSoftware& software) {
  List environment;
  for (const auto& [name, value] : software.environment) {
    environment.member(name, json_text(value));
  }
  List json;
  json.text_member("nccl", software.nccl);
  json.text_member("cuda", software.cuda);
  json.text_member("backend", software.backend);
  json.text_member("algorithm", software.algorithm);
  json.text_member("kernel", software.kernel);
  json.text_member("compiler", software.compiler);
  json.text_member("launch", software.launch);
  json.member("env", environment.object());
  return json.object();
}

std::string boolean_json(bool value) { return value ? "true" : "false"; }

std::string row_json(const MeasuredRun& run, const MeasuredRow& row) {
  constexpr double ps_per_us = 1e6;
  List json;
  json.member("bytes", std::to_string(row.bytes.count()));
  json.member("time_us", json_number(static_cast<double>(row.time.count()) / ps_per_us));
  json.member("algbw_GBps", json_number(algorithm_bandwidth_GBps(row.bytes, row.time)));
  json.member("busbw_GBps",
              json_number(bus_bandwidth_GBps(run.collective, run.ranks, row.bytes, row.time)));
  json.member("in_place", row.in_place ? boolean_json(*row.in_place == InPlace::Yes) : "null");
  return json.object();
}

std::string run_json(const MeasuredRun& run) {
  List rows;
  for (const MeasuredRow& row : run.rows) {
    rows.add("\n   " + row_json(run, row));
  }
  List json;
  json.member("collective", json_text(name_of(run.collective)));
  json.member("ranks", std::to_string(run.ranks));
  json.member("nodes", std::to_string(run.nodes));
  json.member("datatype", json_text(name_of(run.type)));
  json.member("redop", run.redop ? json_text(name_of(*run.redop)) : "null");
  json.member("software", software_json(run.software));
  json.text_member("source", run.source);
  json.text_member("date", run.date);
  json.text_member("notes", run.notes);
  json.member("rows", rows.array());
  return json.object();
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
    }
    json += c >= ' ' && c <= '~' ? c : '?';
  }
  return json + '"';
}

std::string json_number(double value) {
  std::array<char, 32> text{};
  constexpr int digits = 6;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value,
                                    std::chars_format::general, digits);
  return {text.data(), result.ptr};
}

std::string plain_measurements(const Measurements& measurements) {
  List runs;
  for (const MeasuredRun& run : measurements.runs) {
    runs.add("\n  " + run_json(run));
  }
  List json;
  json.member("schema", "\"measurements/1\"");
  json.member("machine", json_text(measurements.machine));
  json.member("hardware", hardware_json(measurements.hardware));
  json.member("runs", runs.array());
  return json.object() + "\n";
}

std::string plain_figures(const MeasuredHardware& hardware, const std::string& cuda,
                          const std::string& date, const std::vector<GpuFigure>& figures) {
  List list;
  for (const GpuFigure& figure : figures) {
    List json;
    json.member("name", json_text(figure.name));
    for (const auto& [name, value] : figure.settings) {
      json.member(name, json_number(value));
    }
    json.member("value", json_number(figure.value));
    json.member("unit", json_text(figure.unit));
    list.add("\n  " + json.object());
  }
  List json;
  json.member("schema", "\"gpu-figures/1\"");
  json.member("hardware", hardware_json(hardware));
  json.member("cuda", json_text(cuda));
  json.member("date", json_text(date));
  json.member("figures", list.array());
  return json.object() + "\n";
}

}  // namespace collsim
