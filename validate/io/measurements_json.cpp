#include "validate/io/measurements_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "measurements/1";
constexpr double ps_per_us = 1e6;
constexpr double longest_us = 1e12;  // 11 days
constexpr std::uint32_t most_ranks = 1U << 24U;
constexpr std::uint32_t most_channels = 1024;
constexpr std::uint32_t most_chunks = 1U << 20U;

/// A value with its place in the document.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] std::optional<Value> find(const std::string& key) const {
    const auto found = json_->find(key);
    if (found == json_->end() || found->is_null()) {
      return std::nullopt;
    }
    return Value(*found, path_.empty() ? key : path_ + "." + key);
  }
  [[nodiscard]] Value at(const std::string& key) const {
    if (auto found = find(key)) {
      return *std::move(found);
    }
    throw InputError("missing: \"" + key + "\"", path_);
  }
  [[nodiscard]] std::vector<Value> items() const {
    if (!json_->is_array()) {
      refuse("a list");
    }
    std::vector<Value> items;
    items.reserve(json_->size());
    for (const Json& item : *json_) {
      items.emplace_back(item, path_ + "[" + std::to_string(items.size()) + "]");
    }
    return items;
  }
  [[nodiscard]] const Value& object() const {
    if (!json_->is_object()) {
      refuse("an object");
    }
    return *this;
  }
  [[nodiscard]] std::string text() const {
    if (!json_->is_string()) {
      refuse("a text");
    }
    return json_->get<std::string>();
  }
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const bool fits = json_->is_number_integer() &&
                      !(json_->is_number_unsigned() &&
                        json_->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) &&
                      json_->get<std::int64_t>() >= least && json_->get<std::int64_t>() <= most;
    if (!fits) {
      refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return json_->get<std::int64_t>();
  }
  [[nodiscard]] double number() const {
    if (!json_->is_number()) {
      refuse("a number");
    }
    return json_->get<double>();
  }
  [[noreturn]] void refuse(const std::string& wanted) const {
    constexpr std::size_t shown = 60;
    std::string found = json_->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (found.size() > shown) {
      found = found.substr(0, shown) + "…";
    }
    throw InputError("expected " + wanted + ", got " + found, path_);
  }

 private:
  const Json* json_;
  std::string path_;
};

std::string text_or_empty(const Value& object, const std::string& key) {
  const std::optional<Value> value = object.find(key);
  if (!value) {
    return {};
  }
  if (value->json().is_string()) {
    return value->json().get<std::string>();
  }
  return value->json().dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::uint32_t count_or_zero(const Value& object, const std::string& key) {
  const std::optional<Value> value = object.find(key);
  return value ? static_cast<std::uint32_t>(value->whole(0, most_ranks)) : 0;
}

template <class Result, class Parse>
Result word(const Value& value, Parse parse, const std::vector<std::string>& accepted) {
  const std::string text = value.text();
  if (const std::optional<Result> result = parse(text)) {
    return *result;
  }
  throw InputError("expected " + one_of(accepted) + ", got " + in_quotes(text), value.path(),
                   did_you_mean(text, accepted));
}

Duration time_of(const Value& value) {
  const double us = value.number();
  const bool is_time = us > 0 && us <= longest_us && std::llround(us * ps_per_us) > 0;
  if (!is_time) {
    value.refuse("microseconds above 0");
  }
  return Duration(std::llround(us * ps_per_us));
}

MeasuredRow read_row(const Value& value) {
  const Value& object = value.object();
  MeasuredRow row;
  row.bytes = Bytes(object.at("bytes").whole(0, std::numeric_limits<std::int64_t>::max()));
  row.time = time_of(object.at("time_us"));
  if (const auto in_place = object.find("in_place")) {
    if (!in_place->json().is_boolean()) {
      in_place->refuse("true, false or null");
    }
    row.in_place = in_place->json().get<bool>() ? InPlace::Yes : InPlace::No;
  }
  if (const auto suspect = object.find("suspect")) {
    if (!suspect->json().is_boolean()) {
      suspect->refuse("true or false");
    }
    row.suspect = suspect->json().get<bool>();
  }
  return row;
}

/// Of nccl-tests' -G, which is how often a graph was launched: none is no graph.
bool is_of_graph(const Value& object) {
  const std::optional<Value> graph = object.find("cuda_graph");
  if (!graph) {
    return false;
  }
  if (graph->json().is_boolean()) {
    return graph->json().get<bool>();
  }
  return graph->whole(0, std::numeric_limits<std::int32_t>::max()) > 0;
}

/// Of nccl-tests' -R.
BuffersWere read_buffers(const Value& object) {
  constexpr auto symmetric = static_cast<std::int64_t>(BuffersWere::Symmetric);
  const std::optional<Value> registered = object.find("local_register");
  return registered ? static_cast<BuffersWere>(registered->whole(0, symmetric))
                    : BuffersWere::Plain;
}

MeasuredSoftware read_software(const Value& value, std::uint32_t ranks, std::uint32_t nodes) {
  const Value& object = value.object();
  MeasuredSoftware software;
  software.nccl = text_or_empty(object, "nccl");
  software.cuda = text_or_empty(object, "cuda");
  software.launch = text_or_empty(object, "launch");
  software.backend = text_or_empty(object, "backend");
  software.algorithm = text_or_empty(object, "algorithm");
  if (const auto channels = object.find("channels")) {
    software.channels = static_cast<std::uint32_t>(channels->whole(1, most_channels));
  }
  if (const auto chunks = object.find("chunks")) {
    software.chunks = static_cast<std::uint32_t>(chunks->whole(1, most_chunks));
  }
  software.kernel = text_or_empty(object, "kernel");
  software.compiler = text_or_empty(object, "compiler");
  software.mode = parse_launch(software.launch, ranks, nodes);
  if (is_of_graph(object)) {
    software.mode.mode = LaunchMode::CudaGraph;
  }
  software.buffers = read_buffers(object);
  if (const auto environment = object.find("env")) {
    for (const auto& [name, setting] : environment->object().json().items()) {
      software.environment.emplace_back(
          name, setting.is_string() ? setting.get<std::string>() : setting.dump());
    }
  }
  return software;
}

MeasuredRun read_run(const Value& value) {
  const Value& object = value.object();
  MeasuredRun run;
  run.collective =
      word<CollectiveKind>(object.at("collective"), parse_collective, collective_names());
  run.ranks = static_cast<std::uint32_t>(object.at("ranks").whole(1, most_ranks));
  run.nodes = count_or_zero(object, "nodes");
  if (run.nodes > run.ranks) {
    throw InputError("more nodes than ranks", object.at("nodes").path());
  }
  if (const auto type = object.find("datatype")) {
    run.type = word<DataType>(*type, parse_data_type, data_type_names());
  }
  if (const auto redop = object.find("redop"); redop && redop->json() != Json("none")) {
    run.redop = word<ReductionOp>(*redop, parse_reduction, reduction_names());
  }
  if (const auto software = object.find("software")) {
    run.software = read_software(*software, run.ranks, run.nodes);
  }
  run.source = text_or_empty(object, "source");
  run.date = text_or_empty(object, "date");
  run.quality = text_or_empty(object, "quality");
  run.notes = text_or_empty(object, "notes");
  for (const Value& row : object.at("rows").items()) {
    run.rows.push_back(read_row(row));
  }
  return run;
}

MeasuredHardware read_hardware(const Value& value) {
  const Value& object = value.object();
  MeasuredHardware hardware;
  hardware.gpu = text_or_empty(object, "gpu");
  hardware.cpu = text_or_empty(object, "cpu");
  hardware.gpus_per_node = count_or_zero(object, "gpus_per_node");
  hardware.intra_node = text_or_empty(object, "intra_node");
  hardware.nics_per_node = count_or_zero(object, "nics_per_node");
  hardware.nic = text_or_empty(object, "nic");
  hardware.fabric = text_or_empty(object, "fabric");
  return hardware;
}

Json parse(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    SourceLocation place;
    place.file = file;
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    place.line = 1 + static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
    place.column = static_cast<std::uint32_t>(before.size() - (before.rfind('\n') + 1));
    throw InputError("no JSON: a syntax error", {}, {}, std::move(place));
  } catch (const Json::out_of_range&) {
    throw InputError("no JSON: a number beyond 10^308", {}, {}, SourceLocation{file, 0, 0, {}});
  }
}

Measurements read_document(const Value& document) {
  const Value& object = document.object();
  const std::string found = object.at("schema").text();
  if (found != schema) {
    throw InputError("expected " + in_quotes(schema) + ", got " + in_quotes(found), "schema");
  }
  Measurements result;
  result.machine = text_or_empty(object, "machine");
  if (const auto hardware = object.find("hardware")) {
    result.hardware = read_hardware(*hardware);
  }
  for (const Value& run : object.at("runs").items()) {
    result.runs.push_back(read_run(run));
    if (const auto cause = run.find("cause"); cause && result.cause.empty()) {
      result.cause = cause->text();
    }
  }
  return result;
}

double microseconds(Duration time) { return static_cast<double>(time.count()) / ps_per_us; }

/// To the printed digits of nccl-tests and a few more.
double rounded(double value) {
  constexpr double digits = 1e4;
  return std::round(value * digits) / digits;
}

Json row_json(const MeasuredRun& run, const MeasuredRow& row) {
  Json json;
  json["bytes"] = row.bytes.count();
  json["time_us"] = microseconds(row.time);
  json["algbw_GBps"] = rounded(algorithm_bandwidth_GBps(row.bytes, row.time));
  json["busbw_GBps"] = rounded(bus_bandwidth_GBps(run.collective, run.ranks, row.bytes, row.time));
  json["in_place"] = row.in_place ? Json(*row.in_place == InPlace::Yes) : Json(nullptr);
  if (row.suspect) {
    json["suspect"] = true;
  }
  return json;
}

void set_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) {
    json[key] = text;
  }
}

void set_count(Json& json, const char* key, std::uint32_t count) {
  if (count != 0) {
    json[key] = count;
  }
}

Json run_json(const MeasuredRun& run) {
  Json json;
  json["collective"] = name_of(run.collective);
  json["ranks"] = run.ranks;
  set_count(json, "nodes", run.nodes);
  json["datatype"] = name_of(run.type);
  json["redop"] = run.redop ? Json(name_of(*run.redop)) : Json(nullptr);
  Json software = Json::object();
  set_text(software, "nccl", run.software.nccl);
  set_text(software, "cuda", run.software.cuda);
  set_text(software, "backend", run.software.backend);
  set_text(software, "algorithm", run.software.algorithm);
  if (run.software.channels > 1) {
    software["channels"] = run.software.channels;
  }
  if (run.software.chunks > 1) {
    software["chunks"] = run.software.chunks;
  }
  set_text(software, "kernel", run.software.kernel);
  set_text(software, "compiler", run.software.compiler);
  software["env"] = Json::object();
  for (const auto& [name, value] : run.software.environment) {
    software["env"][name] = value;
  }
  set_text(software, "launch", run.software.launch);
  if (run.software.mode.mode == LaunchMode::CudaGraph) {
    software["cuda_graph"] = true;
  }
  if (run.software.buffers != BuffersWere::Plain) {
    software["local_register"] = static_cast<int>(run.software.buffers);
  }
  json["software"] = software;
  set_text(json, "source", run.source);
  set_text(json, "date", run.date);
  set_text(json, "quality", run.quality);
  set_text(json, "notes", run.notes);
  json["rows"] = Json::array();
  for (const MeasuredRow& row : run.rows) {
    json["rows"].push_back(row_json(run, row));
  }
  return json;
}

}  // namespace

bool is_measurements_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"schema\"") != std::string_view::npos;
}

Measurements parse_measurements_json(std::string_view text, const std::string& file) {
  const Json document = parse(text, file);
  try {
    Measurements result = read_document(Value(document, ""));
    result.file = file;
    return result;
  } catch (const InputError& error) {
    SourceLocation place;
    place.file = file;
    throw error.with_location(std::move(place));
  }
}

std::string write_measurements_json(const Measurements& measurements) {
  Json json;
  json["schema"] = schema;
  json["machine"] = measurements.machine;
  Json hardware = Json::object();
  set_text(hardware, "gpu", measurements.hardware.gpu);
  set_text(hardware, "cpu", measurements.hardware.cpu);
  set_count(hardware, "gpus_per_node", measurements.hardware.gpus_per_node);
  set_text(hardware, "intra_node", measurements.hardware.intra_node);
  set_count(hardware, "nics_per_node", measurements.hardware.nics_per_node);
  set_text(hardware, "nic", measurements.hardware.nic);
  set_text(hardware, "fabric", measurements.hardware.fabric);
  json["hardware"] = hardware;
  json["runs"] = Json::array();
  for (const MeasuredRun& run : measurements.runs) {
    json["runs"].push_back(run_json(run));
    set_text(json["runs"].back(), "cause", measurements.cause);
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace collsim
