#include "validate/io/nccl_tests_runs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "validate/io/measurement_notes.hpp"
#include "validate/io/nccl_tests_evidence.hpp"
#include "validate/io/nccl_tests_identity.hpp"

namespace collsim {

namespace {

constexpr double ps_per_us = 1e6;
constexpr std::size_t most_runs = 4096;

/// Whether a table goes on where the one before it ended: a test for each size, one after the other.
bool continues(const MeasuredRun& before, const MeasuredRun& run) {
  const auto same = [](const MeasuredRun& one) {
    return std::tie(one.collective, one.ranks, one.nodes, one.type, one.redop, one.software.nccl,
                    one.software.launch, one.software.environment, one.source, one.notes);
  };
  return same(before) == same(run) && before.rows.back().bytes < run.rows.front().bytes;
}

/// Makes the runs of one test.
class RunMaker {
 public:
  RunMaker(const NcclTest& test, const RunContext& context, Measurements& result)
      : test_(test), context_(context), result_(result), placement_(test.placement) {}

  void run();

 private:
  [[nodiscard]] std::string refusal() const;
  [[nodiscard]] MeasuredRun shape(const TableIdentity& identity) const;
  void add_rows(const MeasuredRun& like);
  void add_half(MeasuredRun& run, const TableRow& row, std::size_t half);
  [[nodiscard]] MeasuredRun& run_for(const MeasuredRun& like, const TableRow& row,
                                     std::vector<MeasuredRun>& runs);
  void note_hardware(std::uint32_t ranks, std::uint32_t nodes);
  void note_missing(const MeasuredRun& run);
  void note_test();
  void note_odd_times(const MeasuredRun& run);

  const NcclTest& test_;
  const RunContext& context_;
  Measurements& result_;
  const Placement& placement_;
  std::map<std::tuple<DataType, int, std::int64_t>, std::size_t> run_of_;
};

std::string RunMaker::refusal() const {
  if (test_.alone != 0) {
    return "each process ran a test of its own, with a Rank 0 of its own: nccl-tests was built "
           "without MPI (it takes make MPI=1)";
  }
  if (test_.columns->first_generation) {
    return "a table of the tests of NCCL 1, in milliseconds: not read";
  }
  if (test_.columns->columns[test_.columns->first_half] == Column::CpuTime) {
    return "times of the CPU (-C 1): how long the host was busy, not how long a call took";
  }
  if (placement_.groups > 1) {
    return std::to_string(placement_.groups) +
           " groups of ranks ran beside each other (NCCL_TESTS_SPLIT): not the times of one";
  }
  const std::string program =
      test_.program.empty() ? echoed_program(test_, context_).value_or("") : test_.program;
  if (!program.empty() && !parse_collective(program)) {
    return program + " is not among the collectives that are modelled";
  }
  if (placement_.ranks == 1) {
    return "a single rank: nothing is sent";
  }
  return {};
}

MeasuredRun RunMaker::shape(const TableIdentity& identity) const {
  MeasuredRun run;
  run.collective = identity.kind;
  run.ranks = identity.ranks;
  run.nodes = placement_.nodes;
  if (run.nodes == 0 && context_.hints->nodes && *context_.hints->nodes <= run.ranks) {
    run.nodes = *context_.hints->nodes;
  }
  run.software = software_of(test_, context_, run.ranks, run.nodes);
  run.source = context_.kind;
  if (!test_.version.nccl_tests.empty()) {
    run.source += " " + test_.version.nccl_tests;
  }
  if (!test_.version.simulator.empty()) {
    run.notes = "simulated by " + test_.version.simulator + ", not measured";
  }
  return run;
}

MeasuredRun& RunMaker::run_for(const MeasuredRun& like, const TableRow& row,
                               std::vector<MeasuredRun>& runs) {
  const DataType type = row.type.value_or(context_.hints->datatype.value_or(DataType::Float32));
  const int redop = row.redop ? static_cast<int>(*row.redop) : -1;
  const auto [at, is_new] = run_of_.try_emplace({type, redop, row.root.value_or(-1)}, runs.size());
  if (is_new) {
    if (runs.size() == most_runs) {
      throw InputError("more than " + std::to_string(most_runs) + " runs");
    }
    runs.push_back(like);
    runs.back().type = type;
    runs.back().redop = reduces(like.collective) ? row.redop : std::nullopt;
    if (row.root.value_or(0) > 0) {
      std::string& notes = runs.back().notes;
      notes += (notes.empty() ? "root " : "; root ") + std::to_string(*row.root);
    }
  }
  return runs[at->second];
}

void RunMaker::add_half(MeasuredRun& run, const TableRow& row, std::size_t half) {
  const RowHalf& measured = *row.halves[half];
  const bool two = test_.columns->has_two_halves();
  std::string why = wrong_data_in(row, measured);
  if (why.empty()) {
    why = contradiction_in(row, measured, run.collective, run.ranks);
  }
  if (!why.empty()) {
    const char* const side = half == 0 ? "out of place: " : "in place: ";
    add_dropped(result_, row.line, (two ? side : "") + why);
    return;
  }
  MeasuredRow added;
  added.bytes = Bytes(row.size);
  added.time = Duration(std::llround(measured.time_us.value * ps_per_us));
  if (two) {
    added.in_place = half == 0 ? InPlace::No : InPlace::Yes;
  }
  run.rows.push_back(added);
}

void RunMaker::add_rows(const MeasuredRun& like) {
  std::vector<MeasuredRun> runs;
  std::size_t empty = 0;
  for (const TableRow& row : test_.rows) {
    if (row.size == 0) {
      ++empty;
      continue;
    }
    const std::string why = contradiction_in(row, like.collective, like.ranks);
    if (!why.empty()) {
      add_dropped(result_, row.line, why);
      continue;
    }
    MeasuredRun& run = run_for(like, row, runs);
    for (std::size_t half = 0; half < row.halves.size(); ++half) {
      if (row.halves[half]) {
        add_half(run, row, half);
      }
    }
  }
  if (empty != 0) {
    add_note(result_, test_.table_line, "rows of size 0 are left out");
  }
  std::erase_if(runs, [](const MeasuredRun& run) { return run.rows.empty(); });
  for (MeasuredRun& run : runs) {
    note_odd_times(run);
    note_missing(run);
    if (!result_.runs.empty() && continues(result_.runs.back(), run)) {
      std::ranges::copy(run.rows, std::back_inserter(result_.runs.back().rows));
    } else if (result_.runs.size() < most_runs) {
      result_.runs.push_back(std::move(run));
    } else {
      throw InputError("more than " + std::to_string(most_runs) + " runs");
    }
  }
}

void RunMaker::note_hardware(std::uint32_t ranks, std::uint32_t nodes) {
  MeasuredHardware& hardware = result_.hardware;
  if (placement_.gpus_differ ||
      (!hardware.gpu.empty() && !placement_.gpu.empty() && hardware.gpu != placement_.gpu)) {
    add_note(result_, test_.line, "GPUs of different kinds: the first is named");
  }
  hardware.gpu = hardware.gpu.empty() ? placement_.gpu : hardware.gpu;
  const std::uint32_t a_node =
      placement_.gpus_per_node != 0 ? placement_.gpus_per_node : (nodes != 0 ? ranks / nodes : 0);
  hardware.gpus_per_node = std::max(hardware.gpus_per_node, a_node);
}

void RunMaker::note_missing(const MeasuredRun& run) {
  std::vector<std::string> missing;
  if (run.nodes == 0) {
    missing.emplace_back("nodes (--nodes)");
  }
  if (run.software.launch.empty()) {
    missing.emplace_back("launch (--launch)");
  }
  if (run.software.nccl.empty()) {
    missing.emplace_back("version of NCCL (--nccl)");
  }
  if (!test_.columns->has(Column::Type) && !context_.hints->datatype) {
    missing.emplace_back("data type (--datatype; float is assumed)");
  }
  std::string list;
  for (const std::string& what : missing) {
    list += (list.empty() ? "" : ", ") + what;
  }
  if (!list.empty()) {
    add_note(result_, test_.table_line, "not told: " + list);
  }
}

void RunMaker::note_test() {
  if (test_.failed_check) {
    add_note(result_, test_.last_line, "the test found wrong values");
  }
  if (test_.test_failure != 0) {
    add_note(result_, test_.test_failure, "the test reports a failure here");
  }
  if (test_.parameters && test_.parameters->aggregated > 1) {
    add_note(result_, test_.table_line,
             std::to_string(test_.parameters->aggregated) +
                 " calls in a group (-m): times of a call in it");
  }
  if (!test_.version.simulator.empty()) {
    add_note(result_, test_.line, "simulated by " + test_.version.simulator + ": no measurement");
  }
  if (placement_.ranks != 0 && placement_.ranks != placement_.listed) {
    add_note(result_, test_.line,
             std::to_string(placement_.listed) + " of " + std::to_string(placement_.ranks) +
                 " devices are listed");
  }
  const auto& hints = *context_.hints;
  if (placement_.ranks != 0 && hints.ranks && *hints.ranks != placement_.ranks) {
    add_note(result_, test_.line,
             "--ranks is not used: the file lists " + std::to_string(placement_.ranks));
  }
  if (placement_.nodes != 0 && hints.nodes && *hints.nodes != placement_.nodes) {
    add_note(result_, test_.line,
             "--nodes is not used: the file lists " + std::to_string(placement_.nodes));
  }
}

/// Sizes whose halves differ, and sizes that take less time than smaller ones.
void RunMaker::note_odd_times(const MeasuredRun& run) {
  constexpr double much = 1.2;
  constexpr double much_less = 0.8;
  std::size_t differing = 0;
  std::size_t falling = 0;
  std::map<std::optional<InPlace>, MeasuredRow> last;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const MeasuredRow& row = run.rows[i];
    const auto time = static_cast<double>(row.time.count());
    if (i > 0 && run.rows[i - 1].bytes == row.bytes && run.rows[i - 1].in_place != row.in_place) {
      const auto other = static_cast<double>(run.rows[i - 1].time.count());
      differing += std::max(time, other) > much * std::min(time, other) ? 1U : 0U;
    }
    const auto [at, is_first] = last.try_emplace(row.in_place, row);
    const MeasuredRow before = std::exchange(at->second, row);
    const double least = much_less * static_cast<double>(before.time.count());
    falling += !is_first && row.bytes > before.bytes && time < least ? 1U : 0U;
  }
  if (differing != 0) {
    add_note(result_, test_.table_line,
             "in place and out of place differ by more than 20 % at " + std::to_string(differing) +
                 (differing == 1 ? " size" : " sizes"));
  }
  if (falling != 0) {
    add_note(result_, test_.table_line,
             "a larger size takes 20 % less time than the one before it, " +
                 std::to_string(falling) + (falling == 1 ? " time" : " times"));
  }
}

void RunMaker::run() {
  if (!test_.columns) {
    add_note(result_, test_.line, "a test without a table");
    return;
  }
  if (const std::string why = refusal(); !why.empty()) {
    const std::size_t rows = test_.rows.size();
    const std::string count =
        rows == 0 ? "" : " (" + std::to_string(rows) + (rows == 1 ? " row)" : " rows)");
    add_dropped(result_, test_.alone != 0 ? test_.alone : test_.table_line, why + count);
    return;
  }
  for (const LineProblem& problem : test_.dropped) {
    add_dropped(result_, problem.line, problem.why);
  }
  note_test();
  if (test_.rows.empty()) {
    if (test_.dropped.empty()) {
      add_note(result_, test_.table_line, "a table without rows");
    }
    return;
  }
  const MeasuredRun like = shape(identify_table(test_, context_, result_));
  add_rows(like);
  note_hardware(like.ranks, like.nodes);
}

}  // namespace

void add_runs_of(const NcclTest& test, const RunContext& context, Measurements& result) {
  RunMaker(test, context, result).run();
}

}  // namespace collsim
