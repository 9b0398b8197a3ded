#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "study/compare.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/compare_nccl.hpp"
#include "tools/job_options.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_comparison.hpp"
#include "tools/render_csv.hpp"
#include "tools/render_json.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct CompareCommand {
  ClusterOptions cluster;
  NcclRunOptions nccl;
  JobOptions job;
  CallOptions call;
  OutputOptions output;
  std::string algorithms;
  bool verify = false;
  bool timing = false;
};

std::vector<std::string> names_of(const CompareCommand& command, CollectiveKind kind) {
  std::vector<std::string> names;
  const std::string& text = command.algorithms;
  if (text.empty()) {
    return names;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    require_program(name, kind, "--algorithms");
    if (std::ranges::find(names, name) != names.end()) {
      throw InputError(in_quotes(name) + " given twice", "--algorithms", "give it once");
    }
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

/// What the simulation of each algorithm took.
class Timings {
 public:
  void begin(const std::string& algorithm) {
    end();
    running_ = algorithm;
    stopwatch_ = Stopwatch();
  }
  void end() {
    if (!running_.empty()) {
      took_[running_] = stopwatch_.stop();
    }
    running_.clear();
  }
  [[nodiscard]] RunInfo of(const ComparedAlgorithm& outcome) const {
    return with_rates(took_.at(outcome.algorithm), outcome.result->events,
                      outcome.result->transfers);
  }

 private:
  std::string running_;
  Stopwatch stopwatch_;
  std::map<std::string, RunInfo> took_;
};

/// The quickest first, what was not simulated last.
void sort_by_time(std::vector<ComparedProgram>& programs) {
  std::ranges::stable_sort(programs, [](const ComparedProgram& a, const ComparedProgram& b) {
    if (!a.outcome.result || !b.outcome.result) {
      return a.outcome.result.has_value() && !b.outcome.result.has_value();
    }
    return a.outcome.result->time < b.outcome.result->time;
  });
}

ResultRow row_of(const Cluster& cluster, const ResultRow& common,
                 const ComparedAlgorithm& outcome) {
  ResultRow row = common;
  row.job.algorithm = outcome.algorithm;
  row.result = *outcome.result;
  row.check = outcome.check;
  show_slowest_group(cluster, row);
  return row;
}

std::vector<ComparedProgram> simulate(const CompareCommand& command, const Machine& machine,
                                      ResultRow& common, Timings& timings) {
  ProgressLine line(command.output);
  CompareOptions options;
  options.run.network = common.network_model;
  options.run.fold = fold_of(command.job);
  options.verify = command.verify ? Verify::Yes : Verify::No;
  options.limits = limits_of(command.job);
  options.progress = [&](std::size_t done, std::size_t all, const std::string& next) {
    line.show(next + " (" + std::to_string(done + 1) + " of " + std::to_string(all) + ")");
    timings.begin(next);
  };
  const std::vector<std::string> names = names_of(command, common.job.call.kind);
  std::vector<std::string> ours = names;
  const auto first_of_nccl = std::ranges::stable_partition(
      ours, [](const std::string& name) { return !is_nccl_algorithm(name); });
  const std::vector<std::string> nccls(first_of_nccl.begin(), first_of_nccl.end());
  ours.erase(first_of_nccl.begin(), first_of_nccl.end());
  std::vector<ComparedProgram> programs;
  if (names.empty() || !ours.empty()) {
    for (ComparedAlgorithm& outcome :
         compare_algorithms(machine.cluster, common.job, ours, options)) {
      programs.push_back({std::move(outcome), std::nullopt});
    }
  }
  if (nccls.empty()) {
    refuse_nccl_options(command.nccl, command.job,
                        "has no effect: none of the algorithms is one of NCCL's",
                        "--algorithms nccl,…");
  } else {
    common.warnings.emplace_back(
        "NCCL's programs pay what their kernels cost, where there are parameters; the others have "
        "the "
        "wire alone");
    const NcclComparison nccl(machine, command.nccl, command.cluster, command.job, common,
                              command.output);
    for (const std::string& name : nccls) {
      options.progress(programs.size(), names.size(), name);
      programs.push_back(nccl.run(name, options));
    }
  }
  timings.end();
  sort_by_time(programs);
  for (ComparedProgram& program : programs) {
    if (program.outcome.result && !program.row) {
      program.row = row_of(machine.cluster, common, program.outcome);
    }
  }
  return programs;
}

std::vector<ComparedAlgorithm> outcomes_of(const std::vector<ComparedProgram>& programs) {
  std::vector<ComparedAlgorithm> outcomes;
  outcomes.reserve(programs.size());
  for (const ComparedProgram& program : programs) {
    outcomes.push_back(program.outcome);
  }
  require_some_simulated(outcomes, "--algorithms");
  return outcomes;
}

std::vector<ResultRow> rows_of(const std::vector<ComparedProgram>& programs) {
  std::vector<ResultRow> rows;
  for (const ComparedProgram& program : programs) {
    if (program.row) {
      rows.push_back(*program.row);
    }
  }
  return rows;
}

std::string as_json(const CompareCommand& command, const Cluster& cluster,
                    const std::vector<ResultRow>& rows,
                    const std::vector<ComparedAlgorithm>& outcomes, const Timings& timings) {
  Results results{rows, {}, {}};
  for (const ComparedAlgorithm& outcome : outcomes) {
    if (!outcome.result) {
      results.not_simulated.push_back({outcome.algorithm, outcome.obstacle});
    } else if (command.timing) {
      results.infos.push_back(timings.of(outcome));
    }
  }
  return render_json(cluster, results, {});
}

std::string total_info(const Stopwatch& stopwatch, const std::vector<ResultRow>& rows) {
  std::uint64_t events = 0;
  std::uint64_t transfers = 0;
  for (const ResultRow& row : rows) {
    events += row.result.events;
    transfers += row.result.transfers;
  }
  return run_info_text(stopwatch.stop(events, transfers));
}

Exit compare(const CompareCommand& command) {
  const Stopwatch stopwatch;
  const Machine machine = load_machine(command.cluster, command.output);
  ResultRow common = row_for(machine, command.job, command.call);
  Timings timings;
  std::vector<ComparedAlgorithm> outcomes;
  const std::vector<ComparedProgram> programs = at_its_place(machine, [&] {
    std::vector<ComparedProgram> all = simulate(command, machine, common, timings);
    outcomes = outcomes_of(all);
    return all;
  });
  const std::vector<ResultRow> rows = rows_of(programs);
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = as_json(command, machine.cluster, rows, outcomes, timings);
      break;
    case Format::Csv:
      text = render_csv(machine.cluster, rows);
      for (const ComparedAlgorithm& outcome : outcomes) {
        if (outcome.result) {
          continue;
        }
        note(command.output, "not simulated: " + outcome.algorithm + ": " + outcome.obstacle);
      }
      if (command.timing) {
        note(command.output, total_info(stopwatch, rows));
      }
      break;
    case Format::Table:
      text = render_comparison(machine.cluster, common, outcomes);
      if (command.timing) {
        text += "\n" + total_info(stopwatch, rows) + "\n";
      }
      break;
  }
  write_output(command.output, text);
  const bool wrong =
      std::ranges::any_of(rows, [](const ResultRow& row) { return row.check && !row.check->ok(); });
  return wrong ? Exit::CheckFailed : Exit::Done;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<CompareCommand>();
  CLI::App* sub = app.add_subcommand(
      "compare", "the same collective by several algorithms, the quickest first");
  add_job_options(*sub, command->job);
  add_call_options(*sub, command->call);
  add_cluster_options(*sub, command->cluster);
  add_text(*sub, "--algorithms", command->algorithms, "A,B,…",
           "names with commas between, NCCL's among them (default: all of ours that apply)")
      ->group("Job");
  add_nccl_run_options(*sub, command->nccl);
  add_switch(*sub, "--verify", command->verify, "check each algorithm's data symbolically")
      ->group("Simulation");
  add_switch(*sub, "--timing", command->timing, "show what the simulation itself took")
      ->group("Output");
  add_output_options(*sub, command->output);
  sub->footer(
      "Example:\n"
      "  collsim compare all_reduce --cluster textbook-star --bytes 1GiB --algorithms "
      "naive,tree,ring\n"
      "  collsim compare all_reduce --cluster dgx-h100 --bytes 1GiB --algorithms "
      "ring,nccl-ring,nvls");
  sub->callback([command, &chosen] { chosen = [command] { return compare(*command); }; });
}

}  // namespace collsim
