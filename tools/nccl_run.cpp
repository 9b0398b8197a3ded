#include "tools/nccl_run.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <tuple>

#include "sim/io/read_costs.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::string_view no_parameters = "none";

/// Where ranks stand: nodes in the order of their first ranks, with their GPUs in order.
struct Stand {
  std::vector<std::vector<DeviceId>> nodes;
};

Stand stand_of(const Graph& graph, const Communicator& gpus) {
  Stand stand;
  std::map<NodeId, std::size_t> number_of;
  for (const DeviceId gpu : gpus) {
    const NodeId node = graph.device(gpu).node.value_or(NodeId(0));
    const auto [entry, is_new] = number_of.emplace(node, stand.nodes.size());
    if (is_new) {
      stand.nodes.emplace_back();
    }
    stand.nodes[entry->second].push_back(gpu);
  }
  for (std::vector<DeviceId>& node : stand.nodes) {
    std::ranges::sort(node);
  }
  return stand;
}

/// GPUs of each node, of which all have as many.
std::uint32_t gpus_a_node(const Stand& stand) {
  const std::size_t first = stand.nodes.front().size();
  for (const std::vector<DeviceId>& node : stand.nodes) {
    if (node.size() != first) {
      throw InputError("NCCL's programs need as many GPUs on each node: here are " +
                           std::to_string(first) + " and " + std::to_string(node.size()),
                       "--algorithm",
                       "whole nodes (--nodes, --gpus-per-node), or --algorithm best");
    }
  }
  return static_cast<std::uint32_t>(first);
}

/// Throws: InputError if they are more than NCCL has.
void set_channels(nccl::DecisionInput& input, std::uint32_t channels) {
  const auto most = static_cast<std::uint32_t>(input.constants.max_channels);
  if (channels > most) {
    throw InputError(
        "NCCL has at most " + std::to_string(most) + " channels, got " + std::to_string(channels),
        "--channels");
  }
  const auto wanted = static_cast<int>(channels);
  input.configuration.min_channels = wanted;
  input.configuration.max_channels = wanted;
  input.configuration.nvls_channels = wanted;
}

std::optional<nccl::Protocol> protocol_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const nccl::Protocol protocol : nccl::protocols) {
    const std::string name(nccl::name(protocol));
    if (same_letters(name, text)) {
      return protocol;
    }
    names.push_back(name);
  }
  refuse_word("--protocol", "protocol", text, names);
}

}  // namespace

void add_nccl_run_options(CLI::App& app, NcclRunOptions& options) {
  add_nccl_options(app, options.nccl);
  add_tuner_option(app, options.tuner);
  add_text(app, "--parameters", options.parameters, "NAME",
           "what NCCL's kernels cost (`collsim list parameters`); none: nothing but the wire")
      ->default_str("the cluster's")
      ->group("NCCL");
  add_text(app, "--network-parameters", options.network_parameters, "NAME",
           "what the fabric's software costs, laid over them; none: as they say")
      ->default_str("the fabric's")
      ->group("NCCL");
}

std::optional<NetworkCosts> network_costs(const Machine& machine, const std::string& chosen,
                                          const ClusterOptions& cluster) {
  const std::optional<std::string> name =
      chosen.empty() ? machine.cluster.spec().fabric.parameters : chosen;
  if (!name || *name == no_parameters) {
    return std::nullopt;
  }
  try {
    return find_network_costs(config_path(cluster), *name);
  } catch (const InputError& error) {
    if (error.location().line != 0) {
      throw;
    }
    if (!chosen.empty()) {
      throw InputError(error.message(), "--network-parameters", error.hint());
    }
    throw machine.loaded.source_map.locate(
        InputError(error.message(), "fabric.parameters", error.hint()));
  }
}

std::optional<CostParameters> cost_parameters(const Machine& machine, const NcclRunOptions& options,
                                              const ClusterOptions& cluster) {
  const ClusterSpec& spec = machine.cluster.spec();
  const bool by_option = !options.parameters.empty();
  const std::optional<std::string> name = by_option         ? options.parameters
                                          : spec.parameters ? spec.parameters
                                                            : spec.node.parameters;
  if (!name || *name == no_parameters) {
    return std::nullopt;
  }
  const auto network = network_costs(machine, options.network_parameters, cluster);
  try {
    CostParameters costs = find_costs(config_path(cluster), *name);
    if (network) {
      costs.lay_over(*network);
    }
    return costs;
  } catch (const InputError& error) {
    if (error.location().line != 0) {
      throw;
    }
    if (by_option) {
      throw InputError(error.message(), "--parameters", error.hint());
    }
    throw machine.loaded.source_map.locate(InputError(
        error.message(), spec.parameters ? "parameters" : "node.parameters", error.hint()));
  }
}

std::string meant_algorithm(const std::string& algorithm, bool has_parameters) {
  if (algorithm == "auto") {
    return has_parameters ? "nccl" : "best";
  }
  return algorithm;
}

void refuse_without_nccl(const NcclRunOptions& options, const JobOptions& job,
                         const std::string& algorithm) {
  refuse_nccl_options(options, job,
                      "has no effect on " + algorithm + ", which is not one of NCCL's programs",
                      "--algorithm nccl");
}

void refuse_nccl_options(const NcclRunOptions& options, const JobOptions& job,
                         const std::string& why, const std::string& hint) {
  for (const auto& [given, option] :
       {std::pair(!job.protocol.empty(), "--protocol"),
        std::pair(!options.nccl.environment.empty(), "--env"),
        std::pair(!options.tuner.empty(), "--tuner"), std::pair(options.symmetric_windows, "-R"),
        std::pair(options.nccl.version != NcclOptions{}.version, "--nccl")}) {
    if (given) {
      throw InputError(why, option, hint);
    }
  }
}

NcclRun::NcclRun(const Machine& machine, const NcclRunOptions& options,
                 const ClusterOptions& cluster, const JobOptions& job,
                 const std::vector<Communicator>& groups, const OutputOptions& output)
    : machine_(&machine),
      protocol_(protocol_of(job.protocol)),
      symmetric_windows_(options.symmetric_windows),
      sets_channels_(job.channels.has_value()) {
  if (job.chunks) {
    throw InputError("has no effect on NCCL's programs, which cut chunks by rules of their own",
                     "--chunks", "--env NCCL_BUFFSIZE=…, or another --algorithm");
  }
  const Stand stand = stand_of(machine.cluster.graph(), groups.front());
  NcclJob part;
  part.nodes = static_cast<std::uint32_t>(stand.nodes.size());
  part.gpus_per_node = gpus_a_node(stand);
  if (machine.topology_file) {
    part.gpus_per_node.reset();
  }
  nccl::DecisionInput input = nccl_decision_input(machine, options.nccl, cluster, part, output);
  if (job.channels) {
    set_channels(input, *job.channels);
  }
  decisions_ = std::make_unique<nccl::Decisions>(input);
  tuner_ = read_tuner(options.tuner);
}

NcclProgram NcclRun::program(const CollectiveCall& call, const std::string& algorithm,
                             ChannelsRun channels) const {
  NcclWish wish;
  wish.algorithm = find_nccl_algorithm(algorithm).algorithm;
  wish.buffers = find_nccl_algorithm(algorithm).buffers;
  const bool chooses = algorithm == "nccl" && !protocol_;
  if (symmetric_windows_ && !chooses && wish.buffers == NcclBuffers::Plain) {
    throw InputError(
        "has no effect where " +
            (protocol_ ? std::string("--protocol is given") : algorithm + " is named") +
            ": kernels for symmetric windows are an algorithm of their own",
        "-R", "leave one of them out, or --algorithm nccl-symmetric");
  }
  if (symmetric_windows_ && chooses && takes_symmetric(*decisions_, call)) {
    wish.buffers = NcclBuffers::Symmetric;
  }
  wish.protocol = protocol_;
  if (wish.buffers != NcclBuffers::Plain && (protocol_ || sets_channels_)) {
    const bool symmetric = wish.buffers == NcclBuffers::Symmetric;
    throw InputError("has no effect on " +
                         std::string(symmetric ? "kernels for symmetric windows" : "copy engines"),
                     protocol_ ? "--protocol" : "--channels",
                     !symmetric  ? "leave the option out"
                     : protocol_ ? "--env NCCL_SYM_KERNEL=…"
                                 : "--env NCCL_SYM_CTAS=…");
  }
  try {
    return nccl_program(*decisions_, tuner_, call, wish, channels);
  } catch (const InputError& error) {
    if (!error.path().empty()) {
      throw;
    }
    throw InputError(error.message(), protocol_ ? "--protocol" : "--algorithm", error.hint());
  }
}

void NcclRun::prepare(ResultRow& row, const std::string& algorithm) const {
  const Graph& graph = machine_->cluster.graph();
  const DeviceId root = row.job.gpus[row.job.call.root.index()];
  const auto in_nccls_order = [&](Communicator& gpus) {
    Communicator ordered;
    for (const std::vector<DeviceId>& node : stand_of(graph, gpus).nodes) {
      ordered.insert(ordered.end(), node.begin(), node.end());
    }
    gpus = std::move(ordered);
  };
  in_nccls_order(row.job.gpus);
  for (Communicator& group : row.job.beside) {
    in_nccls_order(group);
  }
  const auto place = std::ranges::find(row.job.gpus, root);
  row.job.call.root = Rank(static_cast<std::uint32_t>(place - row.job.gpus.begin()));
  const NcclProgram chosen =
      program(row.job.call, algorithm,
              routes_ignore_channels(machine_->cluster) ? ChannelsRun::Joined : ChannelsRun::Each);
  row.job.algorithm = chosen.algorithm;
  row.job.programs.assign(row.job.groups(), chosen.program);
  row.protocol = chosen.protocol;
  row.chosen_because = chosen.reason;
  row.nccl_channels = chosen.channels;
}

CollectiveJob NcclRun::checkable(const ResultRow& row, const std::string& algorithm) const {
  CollectiveJob job = row.job;
  job.programs.assign(job.groups(), program(job.call, algorithm, ChannelsRun::Each).program);
  return job;
}

}  // namespace collsim
