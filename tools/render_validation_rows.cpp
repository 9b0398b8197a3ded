#include "tools/render_validation_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/format_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

double microseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

/// "yes", "no", or nothing where the table does not tell.
std::string in_place_text(const MeasuredRow& row, std::string_view yes, std::string_view no) {
  return !row.in_place ? std::string() : std::string(*row.in_place == InPlace::Yes ? yes : no);
}

std::string_view why_apart(Apart apart) {
  switch (apart) {
    case Apart::No:
      return "";
    case Apart::Suspect:
      return "apart: suspect";
    case Apart::LaunchUnknown:
      return "apart: launch unknown";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

/// "outside: size, nodes": of what the parameters were fitted to.
std::string where_outside(const ValidatedRow& row) {
  std::string text;
  for (const OutsideFit& outside : row.outside) {
    text += (text.empty() ? "outside: " : ", ") + outside.what;
  }
  return text;
}

/// What is special about a row.
std::string marks(const ValidatedRow& row) {
  const std::string apart(why_apart(row.apart));
  const std::string outside = where_outside(row);
  return apart + (apart.empty() || outside.empty() ? "" : "; ") + outside;
}

/// An error as a stroke: to the left too fast, to the right too slow, a column for each 2 %.
std::string stroke(double error) {
  constexpr int most = 12;
  constexpr double a_column = 0.02;
  const int columns = std::clamp(
      static_cast<int>(std::lround(std::clamp(error, -1.0, 1.0) / a_column)), -most, most);
  std::string text;
  for (int at = -most; at <= most; ++at) {
    const bool within = (at < 0 && at >= columns) || (at > 0 && at <= columns);
    text += at == 0 ? "│" : within ? "■" : " ";
  }
  return text;
}

std::string run_text(const ValidationView& view, const ValidatedRun& run) {
  TextTable table;
  for (const char* const heading : {"bytes", "in place", "measured us", "predicted us", "error"}) {
    table.add_column(heading);
  }
  for (const char* const heading : {"", "algorithm", "protocol", ""}) {
    table.add_column(heading, Align::Left);
  }
  for (const ValidatedRow& row : run.rows) {
    table.add_row({grouped(static_cast<std::uint64_t>(row.row->bytes.count())),
                   in_place_text(*row.row, "yes", "no"),
                   fmt::format("{:.2f}", microseconds(row.row->time)),
                   fmt::format("{:.2f}", microseconds(row.predicted)), signed_percent(row.error),
                   stroke(row.error), row.algorithm, row.protocol, marks(row)});
  }
  const std::string machine = view.machines.size() > 1 ? run.table->machine + ": " : "";
  return fmt::format("\n{}{}, {}\n{}", machine, what_ran(*run.table->run),
                     name_of(run.table->run->type), table.render("  "));
}

std::string csv_line(const ValidatedRun& run, const ValidatedRow& row) {
  const MeasuredRun& measured = *run.table->run;
  std::vector<std::string> fields{csv_field(run.table->machine),
                                  csv_field(run.table->cluster->name()),
                                  std::string(name_of(measured.collective)),
                                  std::to_string(measured.ranks),
                                  std::to_string(run.table->nodes),
                                  std::string(name_of(measured.type)),
                                  run.table->nccl,
                                  std::string(name_of(run.table->launch.mode)),
                                  std::to_string(row.row->bytes.count()),
                                  in_place_text(*row.row, "true", "false"),
                                  fmt::format("{}", microseconds(row.row->time)),
                                  fmt::format("{}", microseconds(row.predicted)),
                                  fmt::format("{:.6f}", row.error),
                                  row.algorithm,
                                  row.protocol,
                                  std::to_string(row.channels),
                                  row.row->suspect ? "true" : "false",
                                  row.apart != Apart::No ? "true" : "false",
                                  row.outside.empty() ? "false" : "true"};
  for (const std::optional<Duration>& time : row.rival_times) {
    fields.push_back(time ? fmt::format("{}", microseconds(*time)) : "");
  }
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string validation_rows_text(const ValidationView& view) {
  std::string text;
  for (const ValidatedRun& run : view.validation.runs) {
    text += run_text(view, run);
  }
  return text;
}

std::string render_validation_csv(const ValidationView& view) {
  std::string text =
      "machine,cluster,collective,ranks,nodes,datatype,nccl,launch,bytes,in_place,measured_us,"
      "predicted_us,error,algorithm,protocol,channels,suspect,apart,outside_fit,best_line_us,nccl_"
      "formula_us,"
      "constant_busbw_us\n";
  for (const ValidatedRun& run : view.validation.runs) {
    for (const ValidatedRow& row : run.rows) {
      text += csv_line(run, row);
    }
  }
  return text;
}

}  // namespace collsim
