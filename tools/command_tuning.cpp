#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/nccl/io/graph_xml.hpp"
#include "algorithms/nccl/io/read_tuner.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/log_comparison.hpp"
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
  std::string datatype;
  std::string redop;
  std::string tuner;
  std::string log;
  std::string graph_file;  ///< to write
  std::uint32_t pipelined = 1;
  bool rings = false;
};

std::vector<nccl::Function> functions_of(const TuningCommand& command) {
  if (command.collective.empty()) {
    return {nccl::functions.begin(), nccl::functions.end()};
  }
  const CollectiveKind kind = collective_of(command.collective);
  const auto function = nccl::function_of(kind);
  return function ? std::vector<nccl::Function>{*function} : std::vector<nccl::Function>{};
}

/// Made of sends and receives: NCCL has no algorithm to choose.
bool is_send_recv(const TuningCommand& command) {
  return !command.collective.empty() && !nccl::function_of(collective_of(command.collective));
}

/// The size column of nccl-tests, for the type of --datatype.
CollectiveCall sized_call(const TuningCommand& command, int ranks) {
  const CollectiveKind kind = collective_of(command.collective);
  const DataType type =
      command.datatype.empty() ? DataType::Float32 : data_type_of(command.datatype, "--datatype");
  const CollectiveCall call = call_for_size(kind, static_cast<std::uint32_t>(ranks),
                                            size_of_option(command.bytes, "--bytes"), type);
  if (call.size() == Bytes(0)) {
    throw InputError("no whole element for each rank: NCCL runs nothing", "--bytes");
  }
  return call;
}

TunedSendRecv send_recv_of(const TuningCommand& command, int ranks) {
  const CollectiveCall call = sized_call(command, ranks);
  const bool whole = call.kind == CollectiveKind::SendRecv;
  return {call, whole ? call.size() : Bytes(call.size().count() / ranks)};
}

/// Bytes as NCCL's model counts them: the larger of what a rank sends and receives.
TunedCall call_of(const TuningCommand& command, int ranks) {
  const CollectiveCall call = sized_call(command, ranks);
  TunedCall tuned;
  tuned.collective = call.kind;
  tuned.size = call.size();
  tuned.call = nccl::call_of(call);
  if (!command.redop.empty()) {
    tuned.call.op = reduction_of(command.redop, "--redop");
    if (!reduces(call.kind)) {
      throw InputError(std::string(name_of(call.kind)) + " reduces nothing", "--redop",
                       "leave the option out; it is for all_reduce, reduce_scatter and reduce");
    }
  }
  tuned.call.pipelined = static_cast<int>(command.pipelined);
  return tuned;
}

void refuse_without_effect(const TuningCommand& command) {
  if (!command.bytes.empty() && command.collective.empty()) {
    throw InputError("needs a COLLECTIVE: why one is chosen differs from one to the next",
                     "--bytes");
  }
  const auto needs_bytes = [&command](bool given, const char* option) {
    if (given && command.bytes.empty()) {
      throw InputError("has no effect without --bytes", option);
    }
  };
  needs_bytes(!command.redop.empty(), "--redop");
  needs_bytes(!command.datatype.empty(), "--datatype");
  needs_bytes(command.pipelined != 1, "--group-calls");
  if (is_send_recv(command)) {
    const std::string why =
        "has no effect on " + std::string(name_of(collective_of(command.collective))) +
        ", which is made of sends and receives: there is no algorithm to choose";
    for (const auto& [given, option] :
         {std::pair(!command.redop.empty(), "--redop"),
          std::pair(command.pipelined != 1, "--group-calls"),
          std::pair(!command.tuner.empty(), "--tuner"),
          std::pair(command.output.format() == Format::Csv, "--format csv")}) {
      if (given) {
        throw InputError(why, option);
      }
    }
  }
  if (command.output.format() != Format::Csv) {
    return;
  }
  for (const auto& [given, option] :
       {std::pair(!command.bytes.empty(), "--bytes"), std::pair(!command.tuner.empty(), "--tuner"),
        std::pair(command.rings, "--rings"), std::pair(!command.log.empty(), "--log")}) {
    if (given) {
      throw InputError("has no effect on CSV, which has the table alone", option);
    }
  }
}

/// What NCCL_GRAPH_DUMP_FILE would hold.
void write_graphs(const TuningCommand& command, const nccl::Decisions& decisions) {
  const nccl::GraphSet& graphs = decisions.graphs();
  std::vector<nccl::GraphOfFile> written{{nccl::GraphRole::Ring, graphs.ring},
                                         {nccl::GraphRole::Tree, graphs.tree}};
  const auto add = [&written](nccl::GraphRole role, const std::optional<nccl::Graph>& graph) {
    if (graph) {
      written.push_back({role, *graph});
    }
  };
  add(nccl::GraphRole::CollNetChain, graphs.collnet_chain);
  add(nccl::GraphRole::Nvls, graphs.nvls);
  add(nccl::GraphRole::CollNetDirect, graphs.collnet_direct);
  std::vector<int> numbers;
  for (const nccl::PartId gpu : decisions.node().gpus) {
    numbers.push_back(decisions.node().system.part(gpu).gpu.dev);
  }
  write_file("--write-graphs", command.graph_file, nccl::write_graph_xml(written, numbers));
}

Exit tuning(const TuningCommand& command) {
  refuse_without_effect(command);
  if (!command.graph_file.empty()) {
    refuse_overwriting("--write-graphs", command.graph_file, command.output);
  }
  const Machine machine = load_machine(command.cluster, command.output);
  const nccl::DecisionInput input =
      nccl_decision_input(machine, command.nccl, command.cluster, command.job, command.output);
  const nccl::Decisions decisions(input);
  TuningView view;
  view.machine = &machine;
  view.decisions = &decisions;
  view.version = command.nccl.version;
  view.variables = nccl_environment(machine, command.nccl);
  view.functions = functions_of(command);
  view.rings = command.rings;
  view.tuner = read_tuner(command.tuner);
  if (!command.bytes.empty() && is_send_recv(command)) {
    view.send_recv = send_recv_of(command, decisions.communicator().ranks);
  } else if (!command.bytes.empty()) {
    view.call = call_of(command, decisions.communicator().ranks);
  }
  if (!command.graph_file.empty()) {
    write_graphs(command, decisions);
  }
  if (!command.log.empty()) {
    ProgressLine progress(command.output);
    progress.show("deciding anew with other inputs");
    view.log = compare_log(command.log, input, command.nccl, command.cluster, view.variables);
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
           "a collective; without: all those that NCCL has algorithms for");
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
      ->default_str("float")
      ->group(job);
  add_text(*sub, "--redop", command->redop, "OP", "sum, prod, max, min or avg")
      ->default_str("sum")
      ->group(job);
  add_number(*sub, "--group-calls", command->pipelined, {1, 1'000'000},
             "calls of a group that share a channel: they wait for each other")
      ->group(job);
  add_nccl_options(*sub, command->nccl);
  add_tuner_option(*sub, command->tuner);
  add_text(
      *sub, "--log", command->log, "FILE",
      "a log of a real run (NCCL_DEBUG=INFO): what agrees, what differs, and what would explain "
      "it")
      ->group("NCCL");
  add_text(*sub, "--write-graphs", command->graph_file, "FILE",
           "also write the graphs as NCCL does (NCCL_GRAPH_DUMP_FILE), for NCCL_GRAPH_FILE")
      ->group("Output");
  add_switch(*sub, "--rings", command->rings,
             "also the rings of all channels, and the trees of rank 0");
  add_output_options(*sub, command->output);
  sub->footer(
      "Examples:\n"
      "  collsim tuning --cluster dgx-h100-x4\n"
      "  collsim tuning all_reduce --cluster dgx-h100-x4 --bytes 4M --env NCCL_ALGO=Ring,Tree\n"
      "  collsim tuning --cluster dgx-h100 --log nccl.log");
  sub->callback([command, &chosen] { chosen = [command] { return tuning(*command); }; });
}

}  // namespace collsim
