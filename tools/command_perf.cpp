#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "study/compare.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/format_text.hpp"
#include "tools/interrupt.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_tests_table.hpp"
#include "tools/output.hpp"
#include "tools/perf_options.hpp"
#include "tools/render_csv.hpp"
#include "tools/render_json.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// The data checker walks every step: beyond this many transfers rows say N/A.
constexpr std::uint64_t most_checked_transfers = 2'000'000;

class PerfRun {
 public:
  PerfRun(const PerfCommand& command, const Machine& machine, PerfPlan plan)
      : command_(&command), machine_(&machine), plan_(std::move(plan)), line_(command.output) {}

  void run() {
    for (const DataType type : plan_.types) {
      for (const ReductionOp op : plan_.ops) {
        for (const std::int64_t root : plan_.roots) {
          for (const Bytes size : plan_.sizes) add_row(type, op, root, size);
        }
      }
    }
  }

  [[nodiscard]] const std::vector<PerfRow>& table() const { return table_; }
  [[nodiscard]] const std::vector<ResultRow>& rows() const { return rows_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void add_row(DataType type, ReductionOp op, std::int64_t root, Bytes size) {
    line_.show("size " + human_bytes(size) + " (row " + std::to_string(table_.size() + 1) + " of " +
               std::to_string(plan_.row_count()) + ")");
    const auto ranks = static_cast<std::uint32_t>(plan_.gpus.size());
    CollectiveCall call = call_for_size(plan_.kind, ranks, size, type);
    call.op = op;
    call.root = Rank(std::max<std::int64_t>(root, 0));
    PerfRow row;
    row.size = call.size();
    row.count = call.count;
    row.type = type;
    row.redop = reduces(plan_.kind) ? std::string(name_of(op)) : "none";
    row.root = root;
    call.in_place = InPlace::no;
    row.out_of_place = measure(call, size, Check::yes);
    if (allows_in_place(plan_.kind)) {
      call.in_place = InPlace::yes;
      row.in_place = measure(call, size, Check::yes);
    } else {
      // In place these would overwrite blocks not yet sent: a copy of the input to scratch memory, which
      // costs nothing here, makes it the same program. nccl-tests times it and cannot check it.
      row.in_place = row.out_of_place;
      row.in_place.wrong.reset();
    }
    table_.push_back(row);
  }

  enum class Check : std::uint8_t { no, yes };

  PerfTime measure(const CollectiveCall& call, Bytes requested, Check check) {
    ResultRow row;
    row.input_digest = machine_->loaded.digest;
    row.placement = placement_name(command_->job);
    row.nodes = nodes_of(machine_->cluster.graph(), plan_.gpus);
    row.requested = requested;
    row.network_model = plan_.network;
    row.job.call = call;
    row.job.gpus = plan_.gpus;
    row.job.channels = command_->job.channels;
    row.job.chunks = command_->job.chunks;
    choose_algorithm(row);
    const std::unique_ptr<Program> program = program_of(machine_->cluster, row.job);
    const std::uint64_t iterations =
        command_->isolated ? 1 : plan_.iterations.warmup + plan_.iterations.timed;
    require_within_limit(*program, iterations, command_->job);
    if (check == Check::yes && command_->check > 0 &&
        program->transfer_count() <= most_checked_transfers) {
      row.check = check_program(*program);
      failed_ = failed_ || !row.check->ok();
    }
    simulate(row);
    PerfTime half;
    half.time = row.result.time;
    half.algbw_GBps = algorithm_bandwidth_GBps(call.size(), half.time);
    half.busbw_GBps = bus_bandwidth_GBps(call.kind, call.ranks, call.size(), half.time);
    if (row.check) half.wrong = row.check->failures.size();
    rows_.push_back(std::move(row));
    return half;
  }

  void simulate(ResultRow& row) const {
    RunOptions options;
    options.network = plan_.network;
    options.progress = [](std::uint64_t) { return interrupted() ? throw Interrupted() : true; };
    if (command_->isolated) {
      row.result = run_collective(machine_->cluster, row.job, options);
    } else {
      row.iterations = plan_.iterations;
      row.result = run_back_to_back(machine_->cluster, row.job, plan_.iterations, options);
    }
    retime(row.result, averaged(row.result, plan_.averaging));
  }

  void choose_algorithm(ResultRow& row) const {
    if (command_->algorithm != "auto" && command_->algorithm != "best") {
      row.job.algorithm = command_->algorithm;
      return;
    }
    CompareOptions options;
    options.run.network = plan_.network;
    options.run.progress = [](std::uint64_t) { return interrupted() ? throw Interrupted() : true; };
    options.max_transfers = command_->job.max_transfers;
    BestAlgorithm best = best_algorithm(machine_->cluster, row.job, options);
    row.job.algorithm = best.result.algorithm;
    row.chosen_because = best.reason;
  }

  const PerfCommand* command_;
  const Machine* machine_;
  PerfPlan plan_;
  ProgressLine line_;
  std::vector<PerfRow> table_;
  std::vector<ResultRow> rows_;
  bool failed_ = false;
};

/// Which algorithm was taken at which sizes, on stderr: nccl-tests' table has no place for it.
void note_choices(const PerfCommand& command, const std::vector<ResultRow>& rows) {
  std::string last;
  for (const ResultRow& row : rows) {
    if (row.chosen_because.empty() || row.result.algorithm == last) continue;
    last = row.result.algorithm;
    note(command.output, "algorithm from " + human_bytes(row.job.call.size()) + ": " + last);
  }
}

Exit perf(const PerfCommand& command) {
  const Machine machine = load_machine(command.cluster);
  const PerfPlan plan = plan_of(command, machine.cluster);
  PerfRun run(command, machine, plan);
  run.run();
  std::string text;
  switch (command.output.format()) {
    case Format::json:
      text = render_json(machine.cluster, run.rows(), {}, {});
      break;
    case Format::csv:
      text = render_csv(machine.cluster, run.rows());
      break;
    case Format::table: {
      const PerfHeader header = header_of(command, plan);
      text = nccl_tests_header(header, machine.cluster.graph(), plan.gpus, machine.cluster.name());
      for (const PerfRow& row : run.table()) text += nccl_tests_row(row);
      text += nccl_tests_footer(header, run.table());
      note_choices(command, run.rows());
      note(command.output, "nominal: no protocol, no launch");
      break;
    }
  }
  write_output(command.output, text);
  return run.failed() ? Exit::check_failed : Exit::done;
}

}  // namespace

void add_perf_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<PerfCommand>();
  CLI::App* sub = app.add_subcommand("perf", "sizes in nccl-tests' table, with its options");
  add_perf_options(*sub, *command);
  sub->footer(
      "Example:\n"
      "  collsim perf all_reduce --cluster dgx-h100 -b 8 -e 1G -f 2 -g 8");
  sub->callback([command, &chosen] { chosen = [command] { return perf(*command); }; });
}

}  // namespace collsim
