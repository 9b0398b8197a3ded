#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "study/compare.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/interrupt.hpp"
#include "tools/job_options.hpp"
#include "tools/output.hpp"
#include "tools/render_csv.hpp"
#include "tools/render_json.hpp"
#include "tools/render_table.hpp"

namespace collsim {

namespace {

struct CompareCommand {
  ClusterOptions cluster;
  JobOptions job;
  CallOptions call;
  OutputOptions output;
  std::vector<std::string> algorithms;
  bool verify = false;
  bool timing = false;
};

std::vector<ResultRow> rows_of(const ResultRow& common,
                               const std::vector<ComparedAlgorithm>& outcomes) {
  std::vector<ResultRow> rows;
  for (const ComparedAlgorithm& outcome : outcomes) {
    if (!outcome.result) continue;
    ResultRow row = common;
    row.job.algorithm = outcome.algorithm;
    row.result = *outcome.result;
    row.check = outcome.check;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ComparedAlgorithm> simulate(const CompareCommand& command, const Cluster& cluster,
                                        const ResultRow& common) {
  ProgressLine line(command.output);
  CompareOptions options;
  options.run.network = common.network_model;
  options.run.progress = [](std::uint64_t) { return interrupted() ? throw Interrupted() : true; };
  options.verify = command.verify ? Verify::yes : Verify::no;
  options.max_transfers = command.job.max_transfers;
  options.progress = [&line](std::size_t done, std::size_t all, const std::string& next) {
    line.show(next + " (" + std::to_string(done + 1) + " of " + std::to_string(all) + ")");
  };
  return compare_algorithms(cluster, common.job, command.algorithms, options);
}

std::string render(const CompareCommand& command, const Machine& machine, const ResultRow& common,
                   const std::vector<ComparedAlgorithm>& outcomes, const Stopwatch& stopwatch) {
  const std::vector<ResultRow> rows = rows_of(common, outcomes);
  if (command.output.format() == Format::json) return render_json(machine.cluster, rows, {}, {});
  if (command.output.format() == Format::csv) return render_csv(machine.cluster, rows);
  std::string text = render_comparison(machine.cluster, common, outcomes);
  if (command.timing) {
    std::uint64_t events = 0;
    std::uint64_t transfers = 0;
    for (const ResultRow& row : rows) {
      events += row.result.events;
      transfers += row.result.transfers;
    }
    text += "\n" + render_run_info(stopwatch.stop(events, transfers));
  }
  return text;
}

Exit compare(const CompareCommand& command) {
  const Stopwatch stopwatch;
  const Machine machine = load_machine(command.cluster);
  ResultRow common;
  common.network_model = network_model_of(command.job);
  common.input_digest = machine.loaded.digest;
  common.placement = placement_name(command.job);
  common.job = job_of(machine.cluster, command.job, command.call, common.requested);
  common.nodes = nodes_of(machine.cluster.graph(), common.job.gpus);
  const std::vector<ComparedAlgorithm> outcomes = simulate(command, machine.cluster, common);
  write_output(command.output, render(command, machine, common, outcomes, stopwatch));
  const bool wrong = std::ranges::any_of(outcomes, [](const ComparedAlgorithm& outcome) {
    return outcome.check && !outcome.check->ok();
  });
  return wrong ? Exit::check_failed : Exit::done;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<CompareCommand>();
  CLI::App* sub = app.add_subcommand("compare", "the same collective by several algorithms");
  add_job_options(*sub, command->job);
  add_call_options(*sub, command->call);
  add_cluster_options(*sub, command->cluster);
  sub->add_option("--algorithms", command->algorithms,
                  "names with commas between; default: all that apply")
      ->delimiter(',')
      ->type_name("A,B,…")
      ->group("Job");
  sub->add_flag("--verify", command->verify, "check each algorithm's data symbolically")
      ->group("Simulation");
  sub->add_flag("--timing", command->timing, "show what the simulation itself took (table only)")
      ->group("Output");
  add_output_options(*sub, command->output);
  sub->footer(
      "Example:\n"
      "  collsim compare all_reduce --cluster textbook-star --bytes 1GiB --algorithms "
      "naive,tree,ring");
  sub->callback([command, &chosen] { chosen = [command] { return compare(*command); }; });
}

}  // namespace collsim
