#include "study/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "algorithms/nccl/choice.hpp"
#include "study/calibration_rows.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using namespace literals;

/// Rows that an offset of launches is fitted to.
constexpr Bytes offset_shows_up_to = 32_KiB;
constexpr Duration least_prediction{1};
constexpr double ps_per_us = 1e6;

/// A row to simulate, and what came of it.
struct Work {
  std::size_t table = 0;
  const MeasuredRow* row = nullptr;
  std::optional<ValidatedRow> done;
  std::string why_not;
};

bool wanted(const ValidationOptions& options, CollectiveKind kind) {
  return options.collectives.empty() ||
         std::ranges::find(options.collectives, kind) != options.collectives.end();
}

std::vector<Work> work_of(const std::vector<TableToValidate>& tables,
                          const ValidationOptions& options) {
  std::vector<Work> works;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const MeasuredRun& run = *tables[i].table->run;
    if (!wanted(options, run.collective)) {
      continue;
    }
    for (const MeasuredRow& row : run.rows) {
      if (row.bytes >= options.least && (!options.most || row.bytes <= *options.most)) {
        works.push_back({i, &row, {}, {}});
      }
    }
  }
  return works;
}

/// The time that NCCL chooses by; absent where it does not choose.
std::optional<Duration> nccl_formula(const MeasuredCall& call) {
  if (call.table->is_of_our_program || !nccl::function_of(call.call.kind) || call.call.ranks == 1) {
    return std::nullopt;
  }
  const nccl::Decisions& decisions = *call.table->decisions;
  const nccl::Contender chosen =
      nccl::choose(decisions.input(), decisions.tuning(), nccl::call_of(call.call));
  return Duration(std::llround(static_cast<double>(chosen.time) * ps_per_us));
}

void simulate(Work& work, const TableToValidate& table) {
  try {
    const std::optional<MeasuredCall> call = measured_call(*table.table, *work.row);
    if (!call) {
      work.why_not = "less than an element a rank";
      return;
    }
    ValidatedRow row;
    row.row = work.row;
    const bool is_ours = table.table->is_of_our_program;
    row.predicted = (is_ours ? predict_our_program(*call) : predict(*call, *table.costs)).time;
    row.algorithm = call->program.algorithm;
    row.protocol = call->program.protocol;
    row.channels = call->program.channels;
    if (!is_ours) {
      row.outside = outside(table.costs->records, call->call, table.table->nodes);
    }
    row.rival_times.at(static_cast<std::size_t>(Rival::NcclFormula)) = nccl_formula(*call);
    work.done = std::move(row);
  } catch (const InputError& error) {
    work.why_not = error.message();
  }
}

/// Runs of the tables of which something is left, in their order; reasons for the rest, each once a table.
Validation gather(const std::vector<TableToValidate>& tables, std::vector<Work> works) {
  Validation validation;
  std::optional<std::size_t> last;
  std::map<std::pair<std::size_t, std::string>, std::size_t> reasons;
  for (Work& work : works) {
    if (!work.done) {
      ++reasons[{work.table, work.why_not}];
      continue;
    }
    if (last != work.table) {
      last = work.table;
      validation.runs.push_back({tables[work.table].table, {}});
    }
    validation.runs.back().rows.push_back(*std::move(work.done));
  }
  for (const auto& [reason, rows] : reasons) {
    const MeasuredTable& table = *tables[reason.first].table;
    validation.left_out.push_back(
        table.machine + ": " + std::string(name_of(table.run->collective)) + " on " +
        std::to_string(table.run->ranks) + " ranks, " + std::to_string(rows) +
        (rows == 1 ? " row: " : " rows: ") + reason.second);
  }
  return validation;
}

std::vector<LaunchOffset> fit_offsets(const std::vector<ValidatedRun>& runs) {
  struct Points {
    std::vector<Duration> measured;
    std::vector<Duration> predicted;
  };
  using Key = std::pair<std::string, LaunchMode>;
  std::vector<std::pair<Key, Points>> launches;
  for (const ValidatedRun& run : runs) {
    const Key key(run.table->machine, run.table->launch.mode);
    auto at = std::ranges::find(launches, key, &std::pair<Key, Points>::first);
    if (at == launches.end()) {
      at = launches.insert(at, {key, {}});
    }
    for (const ValidatedRow& row : run.rows) {
      if (!row.row->suspect && row.row->bytes <= offset_shows_up_to) {
        at->second.measured.push_back(row.row->time);
        at->second.predicted.push_back(row.predicted);
      }
    }
  }
  std::vector<LaunchOffset> offsets;
  for (const auto& [key, points] : launches) {
    if (const auto more = launch_offset(points.measured, points.predicted)) {
      offsets.push_back({key.first, key.second, *more, points.measured.size()});
    }
  }
  return offsets;
}

const LaunchOffset* offset_of(const Validation& validation, const ValidatedRun& run) {
  const auto is_of_run = [&run](const LaunchOffset& offset) {
    return offset.machine == run.table->machine && offset.launch == run.table->launch.mode;
  };
  const auto found = std::ranges::find_if(validation.offsets, is_of_run);
  return found == validation.offsets.end() ? nullptr : &*found;
}

Apart apart_of(const ValidatedRun& run, const MeasuredRow& row, bool has_offset) {
  if (row.suspect) {
    return Apart::Suspect;
  }
  return has_offset || is_launch_known(*run.table, row) ? Apart::No : Apart::LaunchUnknown;
}

void set_errors(ValidatedRun& run, const LaunchOffset* offset) {
  for (ValidatedRow& row : run.rows) {
    if (offset != nullptr) {
      row.predicted = std::max(row.predicted + offset->more, least_prediction);
    }
    row.error = relative_error(row.predicted, row.row->time);
    row.apart = apart_of(run, *row.row, offset != nullptr);
  }
}

/// Those that the table itself gives, from the rows that count.
void set_rivals(ValidatedRun& run) {
  std::vector<Bytes> sizes;
  std::vector<Duration> times;
  for (const ValidatedRow& row : run.rows) {
    if (row.apart == Apart::No) {
      sizes.push_back(row.row->bytes);
      times.push_back(row.row->time);
    }
  }
  const std::optional<StraightLine> line = best_line(sizes, times);
  const std::optional<StraightLine> constant = constant_bandwidth(sizes, times);
  for (ValidatedRow& row : run.rows) {
    if (row.apart != Apart::No) {
      row.rival_times = {};
      continue;
    }
    const auto set = [&row](Rival rival, const std::optional<StraightLine>& by) {
      if (by) {
        row.rival_times.at(static_cast<std::size_t>(rival)) = by->at(row.row->bytes);
      }
    };
    set(Rival::BestLine, line);
    set(Rival::ConstantBusbw, constant);
  }
}

}  // namespace

Validation validate(const std::vector<TableToValidate>& tables, const ValidationOptions& options) {
  std::vector<Work> works = work_of(tables, options);
  const ForEach for_each = options.for_each ? options.for_each : one_by_one();
  for_each(works.size(), [&](std::size_t i) { simulate(works[i], tables[works[i].table]); });
  Validation validation = gather(tables, std::move(works));
  if (options.fit_launch) {
    validation.offsets = fit_offsets(validation.runs);
  }
  for (ValidatedRun& run : validation.runs) {
    set_errors(run, offset_of(validation, run));
    set_rivals(run);
  }
  return validation;
}

}  // namespace collsim
