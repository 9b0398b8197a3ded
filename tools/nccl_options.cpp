#include "tools/nccl_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "algorithms/nccl/fill_template.hpp"
#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/io/graph_xml.hpp"
#include "algorithms/nccl/io/read_tuner.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "algorithms/nccl/machine_changes.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "algorithms/nccl/machine_parts.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim {

void add_nccl_options(CLI::App& app, NcclOptions& options) {
  const char* const nccl = "NCCL";
  add_text(app, "--nccl", options.version, "VERSION",
           "decide as this version does: 2.7, 2.18 to 2.30 (`collsim list parameters`)")
      ->group(nccl);
  app.add_option("--env", options.environment,
                 "set a variable of NCCL, such as NCCL_ALGO=Ring; may be given several times")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->group(nccl);
}

void add_tuner_option(CLI::App& app, std::string& tuner) {
  add_text(app, "--tuner", tuner, "FILE",
           "a file of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE), which overrules")
      ->group("NCCL");
}

std::vector<nccl::TunerRule> read_tuner(const std::string& tuner) {
  return tuner.empty() ? std::vector<nccl::TunerRule>{}
                       : nccl::parse_tuner(read_file(tuner), tuner);
}

std::vector<NcclVariable> nccl_environment(const Machine& machine, const NcclOptions& options) {
  std::vector<NcclVariable> variables;
  const auto set = [&variables](NcclVariable variable) {
    const auto known = std::ranges::find(variables, variable.name, &NcclVariable::name);
    if (known == variables.end()) {
      variables.push_back(std::move(variable));
    } else {
      *known = std::move(variable);
    }
  };
  for (const EnvironmentVariable& variable : machine.loaded.spec.environment) {
    set({variable.name, variable.value, machine.cluster.name()});
  }
  for (const std::string& text : options.environment) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("expected NAME=VALUE, got " + in_quotes(text), "--env",
                       "for example NCCL_ALGO=Ring");
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::any_of(variables, [&name](const NcclVariable& known) {
          return known.name == name && known.origin == "--env";
        })) {
      throw InputError(printable(name) + " is given twice", "--env", "give it once");
    }
    set({name, text.substr(equals + 1), "--env"});
  }
  return variables;
}

namespace {

nccl::Configuration configuration_of(const Machine& machine, const NcclOptions& options) {
  nccl::Configuration configuration;
  for (const NcclVariable& variable : nccl_environment(machine, options)) {
    try {
      nccl::parse_variable(configuration, variable.name, variable.value);
    } catch (const InputError& error) {
      if (variable.origin != "--env") {
        throw machine.loaded.source_map.locate(
            InputError(error.message(), "environment." + variable.name, error.hint()));
      }
      const std::string name = error.path().empty() ? "" : error.path() + ": ";
      throw InputError(name + error.message(), "--env", error.hint());
    }
  }
  return configuration;
}

/// The file that a variable names; errors of the file as a whole say which variable.
template <class Load>
auto load_named_by(const std::string& variable, const Load& load) {
  try {
    return load();
  } catch (const InputError& error) {
    if (!error.path().empty()) {
      throw;
    }
    throw InputError(error.message(), variable, error.hint(), error.location());
  }
}

void use_graph_file(const std::string& file, const OutputOptions& output,
                    nccl::DecisionInput& input) {
  const nccl::ReadGraphs graphs = load_named_by(
      "NCCL_GRAPH_FILE", [&] { return nccl::load_graph_xml(file, gpu_numbers(input.machine)); });
  note_warnings(output, graphs.warnings);
  for (const nccl::GraphOfFile& read : graphs.graphs) {
    switch (read.role) {
      case nccl::GraphRole::Ring:
        input.given_ring = read.graph;
        break;
      case nccl::GraphRole::Tree:
        input.given_tree = read.graph;
        break;
      case nccl::GraphRole::Nvls:
        input.given_nvls = read.graph;
        break;
      case nccl::GraphRole::CollNetChain:
      case nccl::GraphRole::CollNetDirect:
        note(output, "warning: " + printable(file) +
                         ": CollNet graphs of a file are not modelled: they are searched");
        break;
    }
  }
}

std::uint32_t at_most(std::optional<std::uint32_t> asked, std::uint32_t there,
                      const std::string& option, const std::string& what) {
  if (asked && *asked > there) {
    throw InputError(
        "there are only " + std::to_string(there) + " " + what + ", got " + std::to_string(*asked),
        option);
  }
  return asked.value_or(there);
}

nccl::Machine machine_of_file(const std::string& file, const OutputOptions& output) {
  nccl::ReadMachine read =
      load_named_by("NCCL_TOPO_FILE", [&file] { return nccl::load_topology_xml(file); });
  note_warnings(output, read.warnings);
  return std::move(read.machine);
}

/// Whether the description still says what the file does.
bool only_counts_nodes(const std::vector<std::string>& settings) {
  return std::ranges::all_of(settings,
                             [](const std::string& text) { return text.starts_with("nodes="); });
}

}  // namespace

nccl::Machine nccl_machine(const Machine& machine, const ClusterOptions& cluster) {
  if (machine.topology_file && only_counts_nodes(cluster.settings)) {
    return *machine.topology_file;
  }
  if (!machine.cluster.spec().more_nodes.empty()) {
    throw InputError("the nodes of " + machine.cluster.name() +
                         " differ: NCCL's choices are modelled for nodes alike",
                     {}, "describe one kind with a cluster of its own");
  }
  try {
    return nccl::machine_of_node(machine.cluster, NodeId(0));
  } catch (const InputError& error) {
    throw machine.loaded.source_map.locate(error);
  }
}

std::vector<int> gpu_numbers(const nccl::Machine& machine) {
  const nccl::MachineParts parts(machine);
  std::vector<int> numbers;
  for (const nccl::GpuPart& part : parts.gpus()) {
    if (std::ranges::find(numbers, part.gpu->dev) != numbers.end()) {
      throw InputError("several GPUs have number " + std::to_string(part.gpu->dev) +
                           ": graph files of several hosts are not modelled",
                       "NCCL_GRAPH_FILE");
    }
    numbers.push_back(part.gpu->dev);
  }
  return numbers;
}

nccl::DecisionInput nccl_decision_input(const Machine& machine, const NcclOptions& options,
                                        const ClusterOptions& cluster, const NcclJob& job,
                                        const OutputOptions& output) {
  nccl::DecisionInput input;
  input.configuration = configuration_of(machine, options);
  input.constants = nccl::find_constants(config_path(cluster), options.version);
  input.nodes =
      static_cast<int>(at_most(job.nodes, machine.cluster.graph().nodes(), "--nodes", "nodes"));
  input.machine = nccl_machine(machine, cluster);
  if (const std::string& file = input.configuration.topo_file; !file.empty()) {
    input.machine = nccl::fill_template(machine_of_file(file, output), input.machine);
  }
  if (job.gpus_per_node) {
    const std::uint32_t gpus = machine.cluster.spec().node.gpus;
    nccl::keep_gpus(input.machine,
                    at_most(job.gpus_per_node, gpus, "--gpus-per-node", "GPUs a node"));
  }
  if (!input.configuration.graph_file.empty()) {
    use_graph_file(input.configuration.graph_file, output, input);
  }
  return input;
}

}  // namespace collsim
