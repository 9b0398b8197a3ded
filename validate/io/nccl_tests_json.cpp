#include "validate/io/nccl_tests_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "validate/io/json_outline.hpp"
#include "validate/io/measurement_notes.hpp"
#include "validate/io/nccl_tests_runs.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t most_ranks = 1U << 20U;
constexpr std::size_t most_results = 200'000;

/// A member of an object, or null.
const Json& member(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

std::string text_of(const Json& value) {
  return value.is_string() ? printable(trimmed(value.get_ref<const std::string&>()))
                           : std::string();
}

/// A whole number, also as a text with blanks ("    -1").
std::optional<std::int64_t> whole_of(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? std::optional(static_cast<std::int64_t>(number))
               : std::nullopt;
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  const std::string text = text_of(value);
  if (text.empty() || text.size() > 18 ||
      text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) != std::string::npos ||
      text == "-") {
    return std::nullopt;
  }
  return std::stoll(text);
}

std::uint32_t count_of(const Json& value, std::uint32_t otherwise) {
  const auto number = whole_of(value);
  return number && *number >= 0 && *number < most_ranks ? static_cast<std::uint32_t>(*number)
                                                        : otherwise;
}

/// A number of six decimals; nccl-tests computes it before it rounds, so that it agrees with others to their digits
/// only where it is large enough.
std::optional<PrintedNumber> number_of(const Json& value) {
  if (!value.is_number()) {
    return std::nullopt;  // "nan"
  }
  const double number = value.get<double>();
  if (!(number >= 0) || number > 1e30) {
    return std::nullopt;
  }
  return PrintedNumber{number, std::max(0.01, number * 1e-4)};
}

/// Why a result is none; empty if it is one.
std::string read_half(const Json& result, const char* key, std::optional<RowHalf>& half) {
  const Json& measured = member(result, key);
  if (!measured.is_object()) {
    return {};
  }
  if (!member(measured, "time").is_number()) {
    return member(measured, "cpu_time").is_number()
               ? "a time of the CPU (-C 1): how long the host was busy"
               : "no time";
  }
  RowHalf read;
  const auto time = number_of(member(measured, "time"));
  if (!time || !(time->value > 0) || time->value > 1e12) {
    return "no time above 0";
  }
  read.time_us = *time;
  read.algbw = number_of(member(measured, "alg_bw"));
  read.busbw = number_of(member(measured, "bus_bw"));
  if (const Json& wrong = member(measured, "nwrong"); wrong.is_number()) {
    read.wrong = wrong.get<double>();
  }
  half = read;
  return {};
}

std::string read_result(const Json& result, TableRow& row) {
  const auto size = whole_of(member(result, "size"));
  row.count = whole_of(member(result, "count"));
  row.type = parse_data_type(text_of(member(result, "type")));
  const std::string redop = text_of(member(result, "redop"));
  row.redop = parse_reduction(redop);
  row.reduces_nothing = redop == "none";
  row.root = whole_of(member(result, "root"));
  if (!size || *size < 0 || (row.count && *row.count < 0)) {
    return "no whole number of bytes or elements";
  }
  row.size = *size;
  if (!row.type) {
    return "a data type that is not known";
  }
  if (!row.redop && !row.reduces_nothing) {
    return "a reduction other than sum, prod, max, min and avg";
  }
  for (const auto& [key, half] : {std::pair("out_of_place", 0), std::pair("in_place", 1)}) {
    if (std::string why = read_half(result, key, row.halves[static_cast<std::size_t>(half)]);
        !why.empty()) {
      return why;
    }
  }
  return {};
}

Placement placement_of(const Json& config) {
  DeviceList devices;
  for (const Json& listed : member(config, "devices")) {
    TestDevice device;
    device.rank = count_of(member(listed, "rank"), most_ranks);
    device.group = count_of(member(listed, "group"), 0);
    device.process = static_cast<std::uint64_t>(whole_of(member(listed, "pid")).value_or(0));
    device.host = text_of(member(listed, "hostname"));
    device.gpu = text_of(member(listed, "device_info"));
    if (device.rank < most_ranks) {
      devices.add(device);
    }
  }
  return devices.placement();
}

/// Everything but the results.
NcclTest frame_of(const Json& document) {
  NcclTest test;
  test.line = 1;
  test.table_line = 1;
  test.last_line = 1;
  test.version.nccl = version_of_code(whole_of(member(document, "nccl_version")).value_or(0));
  const Json& config = member(document, "config");
  TestParameters parameters;
  parameters.threads = std::max(count_of(member(config, "nthreads"), 1), 1U);
  parameters.gpus = std::max(count_of(member(config, "ngpus"), 1), 1U);
  parameters.aggregated = count_of(member(config, "aggregated_iterations"), 1);
  parameters.graph = count_of(member(config, "graph"), 0);
  test.parameters = parameters;
  test.placement = placement_of(config);
  test.failed_check = text_of(member(member(document, "out_of_bounds"), "okay")) == "false";
  TableColumns columns;
  columns.columns = {Column::Size,  Column::Count,    Column::Type,  Column::Redop,
                     Column::Root,  Column::WallTime, Column::Algbw, Column::Busbw,
                     Column::Wrong, Column::WallTime, Column::Algbw, Column::Busbw,
                     Column::Wrong};
  columns.first_half = 5;
  columns.second_half = 9;
  test.columns = columns;
  return test;
}

/// The program: of a result, else the first argument.
std::string program_of(const Json& document, const Json& result) {
  std::string name = text_of(member(result, "experiment_name"));
  const Json& arguments = member(document, "args");
  if (name.empty() && arguments.is_array() && !arguments.empty()) {
    name = text_of(arguments.front());
  }
  const auto program = program_named_in(name);
  return program ? std::string(*program) : std::string();
}

/// One test for each program among the results (there is one, but nothing says so).
std::vector<NcclTest> tests_of(const Json& document) {
  std::vector<NcclTest> tests;
  std::uint32_t number = 0;
  for (const Json& result : member(document, "results")) {
    if (++number > most_results) {
      throw InputError("more than " + std::to_string(most_results) + " results");
    }
    const std::string program = program_of(document, result);
    auto test = std::ranges::find(tests, program, &NcclTest::program);
    if (test == tests.end()) {
      if (tests.size() == 16) {
        throw InputError("more than 16 programs among the results");
      }
      test = tests.insert(tests.end(), frame_of(document));
      test->program = program;
    }
    TableRow row;
    row.line = 1;
    if (std::string why = read_result(result, row); !why.empty()) {
      test->dropped.push_back({1, "results[" + std::to_string(number - 1) + "]: " + why});
    } else {
      test->rows.push_back(row);
    }
  }
  return tests;
}

LogFacts environment_of(const Json& document) {
  LogFacts facts;
  for (const Json& setting : member(document, "env")) {
    const std::string text = setting.is_string() ? setting.get<std::string>() : std::string();
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      continue;
    }
    const std::string name = text.substr(0, equals);
    const std::string value = text.substr(equals + 1);
    if (is_telling(name, value)) {
      facts.variables.push_back({1, {name, printable(value, 256)}});
    }
  }
  return facts;
}

/// The document, or what is whole of it.
Json parse(std::string_view text, Measurements& result) {
  require_shallow_json(text);
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    const auto whole = whole_part_of_json(text, "results");
    document = whole ? Json::parse(*whole, nullptr, false) : document;
    result.truncated = true;
    add_note(result, 1, "cut: the results that are whole are read");
  }
  if (document.is_discarded() || !document.is_object()) {
    throw InputError(
        "no measurement: the JSON of nccl-tests ends, or is broken, before the first result");
  }
  return document;
}

void read_file_of(std::string_view text, const MeasurementHints& hints, Measurements& result) {
  const Json document = parse(text, result);
  const LogFacts facts = environment_of(document);
  const std::string date = text_of(member(document, "start_time")).substr(0, 10);
  RunContext context;
  context.facts = &facts;
  context.hints = &hints;
  context.kind = "nccl-tests JSON";
  for (const NcclTest& test : tests_of(document)) {
    add_runs_of(test, context, result);
  }
  for (MeasuredRun& run : result.runs) {
    run.date = date;
  }
  if (member(document, "errors").is_array() && !member(document, "errors").empty()) {
    add_note(result, 1, "the test reports errors");
  }
  require_runs(result);
}

}  // namespace

Measurements parse_nccl_tests_json(std::string_view text, const std::string& file,
                                   const MeasurementHints& hints) {
  return read_measurements(file, [&](Measurements& result) { read_file_of(text, hints, result); });
}

}  // namespace collsim
