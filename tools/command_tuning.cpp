#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/nccl/io/read_tuner.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_options.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_tuning.hpp"
#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim {

namespace {

struct TuningCommand {
  ClusterOptions cluster;
  NcclOptions nccl;
  NcclJob job;
  OutputOptions output;
  std::string collective;
  std::string bytes;
  std::string datatype = "float";
  std::string redop;
  std::string tuner;
  std::uint32_t pipelined = 1;
  bool rings = false;
};

std::vector<nccl::Function> functions_of(const TuningCommand& command) {
  if (command.collective.empty()) {
    return {nccl::functions.begin(), nccl::functions.end()};
  }
  const CollectiveKind kind = collective_of(command.collective);
  const auto function = nccl::function_of(kind);
  if (!function) {
    throw InputError(std::string(name_of(kind)) +
                         " is made of sends and receives: NCCL has no algorithm to choose",
                     "COLLECTIVE", "all_reduce, all_gather, reduce_scatter, broadcast or reduce");
  }
  return {*function};
}

/// Bytes as NCCL's model counts them: the larger of what a rank sends and receives.
TunedCall call_of(const TuningCommand& command, int ranks) {
  if (command.collective.empty()) {
    throw InputError("needs a COLLECTIVE: why one is chosen differs from one to the next",
                     "--bytes");
  }
  TunedCall tuned;
  tuned.collective = collective_of(command.collective);
  const DataType type = data_type_of(command.datatype, "--datatype");
  const CollectiveCall call = call_for_size(tuned.collective, static_cast<std::uint32_t>(ranks),
                                            size_of_option(command.bytes, "--bytes"), type);
  tuned.size = call.size();
  tuned.call.function = *nccl::function_of(tuned.collective);
  tuned.call.bytes = static_cast<std::uint64_t>(call.size().count());
  tuned.call.type = type;
  tuned.call.op = command.redop.empty() ? ReductionOp::Sum : reduction_of(command.redop, "--redop");
  tuned.call.pipelined = static_cast<int>(command.pipelined);
  return tuned;
}

void refuse_without_effect(const TuningCommand& command) {
  if (!command.bytes.empty()) {
    return;
  }
  if (!command.redop.empty()) {
    throw InputError("has no effect without --bytes", "--redop");
  }
  if (command.pipelined != 1) {
    throw InputError("has no effect without --bytes", "--group-calls");
  }
}

Exit tuning(const TuningCommand& command) {
  refuse_without_effect(command);
  const Machine machine = load_machine(command.cluster, command.output);
  const nccl::Decisions decisions =
      nccl_decisions(machine, command.nccl, command.cluster, command.job);
  TuningView view;
  view.machine = &machine;
  view.decisions = &decisions;
  view.version = command.nccl.version;
  view.variables = nccl_environment(machine, command.nccl);
  view.functions = functions_of(command);
  view.rings = command.rings;
  if (!command.tuner.empty()) {
    view.tuner = nccl::parse_tuner(read_file(command.tuner), command.tuner);
  }
  if (!command.bytes.empty()) {
    view.call = call_of(command, decisions.communicator().ranks);
  }
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = render_tuning_json(view);
      break;
    case Format::Csv:
      text = render_tuning_csv(view);
      break;
    case Format::Table:
      text = render_tuning_table(view);
      break;
  }
  write_output(command.output, text);
  return Exit::Done;
}

}  // namespace

void add_tuning_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<TuningCommand>();
  CLI::App* sub = app.add_subcommand(
      "tuning", "what NCCL would choose on a cluster, and why: graphs, channels, tuning table");
  const NumberRange at_least_one{1, std::numeric_limits<std::uint32_t>::max()};
  const char* const job = "Job";
  add_text(*sub, "COLLECTIVE", command->collective, "",
           "all_reduce, all_gather, reduce_scatter, broadcast or reduce; without: all of them");
  add_cluster_options(*sub, command->cluster);
  add_number(*sub, "--nodes", command->job.nodes, at_least_one, "use the first N nodes")
      ->group(job);
  add_number(*sub, "--gpus-per-node", command->job.gpus_per_node, at_least_one,
             "use the first N GPUs of each node")
      ->group(job);
  add_text(
      *sub, "--bytes", command->bytes, "SIZE",
      "look at this size closely: each candidate's time, and the rule that excludes the others")
      ->group(job);
  add_text(*sub, "--datatype", command->datatype, "TYPE", "float, half, bfloat16, int8, …")
      ->group(job);
  add_text(*sub, "--redop", command->redop, "OP", "sum, prod, max, min or avg")
      ->default_str("sum")
      ->group(job);
  add_number(*sub, "--group-calls", command->pipelined, {1, 1'000'000},
             "calls of a group that share a channel: they wait for each other")
      ->group(job);
  add_nccl_options(*sub, command->nccl);
  add_text(*sub, "--tuner", command->tuner, "FILE",
           "a file of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE), which overrules")
      ->group("NCCL");
  add_switch(*sub, "--rings", command->rings,
             "also the rings of all channels, and the trees of rank 0");
  add_output_options(*sub, command->output);
  sub->footer(
      "Examples:\n"
      "  collsim tuning --cluster dgx-h100-x4\n"
      "  collsim tuning all_reduce --cluster dgx-h100-x4 --bytes 4M --env NCCL_ALGO=Ring,Tree");
  sub->callback([command, &chosen] { chosen = [command] { return tuning(*command); }; });
}

}  // namespace collsim
