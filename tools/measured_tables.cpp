#include "tools/measured_tables.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/table.hpp"
#include "tools/nccl_run.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"
#include "validate/io/find_measurements.hpp"
#include "validate/io/read_measurements.hpp"

namespace collsim {

namespace {

constexpr std::string_view assumed_version = "2.28";

/// "CLUSTER=FILE", or a file alone.
struct FileOfCluster {
  std::string cluster;
  std::string file;
};

FileOfCluster split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return {{}, text};
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The first version in a text: "2.18" of "2.18 (HPC SDK 23.7)".
std::optional<nccl::NcclVersion> version_in(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (std::isdigit(static_cast<unsigned char>(text[begin])) == 0) {
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) {
      ++end;
    }
    if (const auto version = nccl::parse_version(text.substr(begin, end - begin))) {
      return version;
    }
    begin = end;
  }
  return std::nullopt;
}

auto order(const nccl::NcclVersion& version) {
  return std::tuple(version.major, version.minor, version.patch.value_or(0));
}

/// The version whose constants stand in: itself if it is listed, else the nearest older one, else the oldest.
std::string nearest_listed(const std::vector<nccl::ListedConstants>& listed,
                           const nccl::NcclVersion& version) {
  for (const nccl::ListedConstants& constants : listed) {
    if (constants.versions.contains(version)) {
      return nccl::to_text(version);
    }
  }
  std::string nearest = nccl::to_text(listed.front().versions.first);
  for (const nccl::ListedConstants& constants : listed) {
    if (order(constants.versions.last) <= order(version)) {
      nearest = nccl::to_text(constants.versions.last);
    }
  }
  return nearest;
}

/// How the file's other tables on as many nodes were launched, where those that tell agree; graphs apart, which take a
/// run of their own.
MeasuredLaunch launch_of_others(const Measurements& measurements, const MeasuredRun& run) {
  MeasuredLaunch common;
  for (const MeasuredRun& other : measurements.runs) {
    const MeasuredLaunch& launch = other.software.mode;
    const bool tells = launch.mode != LaunchMode::Unknown && launch.mode != LaunchMode::CudaGraph;
    if (!tells || other.nodes != run.nodes || other.ranks != run.ranks) {
      continue;
    }
    const bool differs =
        launch.mode != common.mode || launch.gpus_per_process != common.gpus_per_process;
    if (common.mode != LaunchMode::Unknown && differs) {
      return {};
    }
    common = launch;
  }
  return common;
}

class Loader {
 public:
  Loader(const MeasuredTablesOptions& options, const OutputOptions& output)
      : options_(&options),
        output_(&output),
        listed_(nccl::list_constants(config_path(options.cluster))) {}

  MeasuredMachine load(const std::string& text) {
    const FileOfCluster what = split(text);
    ClusterOptions cluster = options_->cluster;
    if (!what.cluster.empty()) {
      cluster.cluster = what.cluster;
    }
    if (cluster.cluster.empty()) {
      throw InputError("which cluster is " + in_quotes(what.file) + " of?", "--cluster",
                       "--cluster NAME, or --measurements NAME=FILE");
    }
    MeasuredMachine machine;
    machine.machine = std::make_unique<Machine>(load_machine(cluster, *output_));
    machine.measurements = std::make_unique<Measurements>(
        load_measurements(found(what.file), options_->measurements.hints));
    note_measurements(*output_, *machine.measurements);
    for (const MeasuredRun& run : machine.measurements->runs) {
      add_table(machine, run, cluster);
    }
    return machine;
  }

 private:
  /// The file of a name, or of a path.
  [[nodiscard]] std::string found(const std::string& file) const {
    try {
      return find_measurements(config_path(options_->cluster), file);
    } catch (const InputError& error) {
      throw InputError(error.message(), "--measurements", error.hint());
    }
  }

  void add_table(MeasuredMachine& machine, const MeasuredRun& run, const ClusterOptions& cluster) {
    try {
      auto table = std::make_unique<MeasuredTable>();
      table->machine = machine.measurements->machine;
      table->run = &run;
      table->cluster = &machine.machine->cluster;
      table->launch = launch_of(*machine.measurements, run);
      const NcclJob job = job_of(*machine.machine, run);
      table->nodes = *job.nodes;
      table->is_of_our_program = ran_our_program(run);
      if (table->is_of_our_program) {
        require_program(run);
      } else {
        table->nccl = version_of(run);
        table->decisions = decisions(*machine.machine, run, cluster, job, table->nccl);
      }
      table->network = network_of(*machine.machine, cluster);
      table->gpus = first_gpus(machine.machine->cluster, *job.nodes, *job.gpus_per_node);
      machine.tables.push_back(std::move(table));
    } catch (const InputError& error) {
      const std::string what =
          std::string(name_of(run.collective)) + " on " + std::to_string(run.ranks) + " ranks";
      machine.left_out.push_back(what + ": " + error.message());
    }
  }

  MeasuredLaunch launch_of(const Measurements& measurements, const MeasuredRun& run) {
    if (run.software.mode.mode != LaunchMode::Unknown) {
      return run.software.mode;
    }
    const MeasuredLaunch others = launch_of_others(measurements, run);
    if (others.mode != LaunchMode::Unknown) {
      note_once("tables of " + printable(measurements.machine) +
                " that do not say how they were launched are taken to be as its others: " +
                std::string(name_of(others.mode)) + " (--launch)");
    }
    return others;
  }

  static void require_program(const MeasuredRun& run) {
    try {
      static_cast<void>(find_algorithm(run.software.algorithm));
    } catch (const InputError& error) {
      throw InputError("it is of the program " + in_quotes(run.software.algorithm) +
                       ", which is none of `collsim list algorithms`" +
                       (error.hint().empty() ? "" : ": " + error.hint()));
    }
  }

  /// Read once a cluster.
  const std::optional<NetworkCosts>& network_of(const Machine& machine,
                                                const ClusterOptions& cluster) {
    const auto known = networks_.find(cluster.cluster);
    if (known != networks_.end()) {
      return known->second;
    }
    return networks_
        .emplace(cluster.cluster, network_costs(machine, options_->network_parameters, cluster))
        .first->second;
  }

  /// Nodes of the cluster: a rack with one NVLink domain is one node to NCCL, whatever trays a table counts.
  [[nodiscard]] static NcclJob job_of(const Machine& machine, const MeasuredRun& run) {
    if (run.ranks == 0) {
      throw InputError("it does not tell its ranks: --ranks N, if you know them");
    }
    const std::uint32_t gpus = machine.cluster.spec().node.gpus;
    const std::uint32_t there = machine.cluster.graph().nodes();
    const std::uint32_t fewest = (run.ranks + gpus - 1) / gpus;
    std::uint32_t nodes = run.nodes == 0 ? fewest : run.nodes;
    const bool trays = is_domain(machine) && fewest < nodes && (run.ranks / nodes) * 2 <= gpus;
    // Machines of ours may play many nodes: processes, threads, namespaces.
    const bool crowded = ran_our_program(run) && run.ranks / nodes > gpus;
    if (nodes > there || trays || crowded) {
      nodes = fewest;
    }
    if (run.ranks % nodes != 0) {
      throw InputError("its ranks are not spread evenly over " + std::to_string(nodes) + " nodes");
    }
    NcclJob job;
    job.nodes = nodes;
    job.gpus_per_node = run.ranks / nodes;
    if (nodes > there) {
      throw InputError("it is of " + std::to_string(nodes) + " nodes, " + machine.cluster.name() +
                       " has " + std::to_string(there));
    }
    return job;
  }

  /// More GPUs than one board has: a rack.
  [[nodiscard]] static bool is_domain(const Machine& machine) {
    constexpr std::uint32_t most_of_a_board = 16;
    return machine.cluster.spec().node.gpus > most_of_a_board;
  }

  [[nodiscard]] std::string version_of(const MeasuredRun& run) {
    const std::optional<nccl::NcclVersion> said = version_in(run.software.nccl);
    if (!said) {
      note_once("tables that name no version of NCCL are predicted as " +
                std::string(assumed_version) + " (--nccl)");
      return std::string(assumed_version);
    }
    std::string version = nearest_listed(listed_, *said);
    if (version != nccl::to_text(*said)) {
      note_once("NCCL " + printable(run.software.nccl) + " is predicted as " + version +
                ", the nearest one that is modelled");
    }
    return version;
  }

  std::shared_ptr<const nccl::Decisions> decisions(const Machine& machine, const MeasuredRun& run,
                                                   const ClusterOptions& cluster,
                                                   const NcclJob& job, const std::string& version) {
    NcclOptions options;
    options.version = version;
    std::string key = cluster.cluster + " " + version + " " + std::to_string(*job.nodes) + " " +
                      std::to_string(*job.gpus_per_node);
    nccl::Configuration scratch;
    for (const auto& [name, value] : run.software.environment) {
      if (name == "NCCL_TOPO_FILE" || name == "NCCL_GRAPH_FILE") {
        note_once("the file of " + name + " is not at hand: the cluster's description stands in");
        continue;
      }
      try {
        nccl::parse_variable(scratch, name, value);
      } catch (const InputError&) {
        note_once("not modelled, left out: " + printable(name) + "=" + printable(value));
        continue;
      }
      std::string& setting = options.environment.emplace_back(name);
      setting += '=';
      setting += value;
      key += " " + setting;
    }
    std::shared_ptr<const nccl::Decisions>& known = known_[key];
    if (known == nullptr) {
      known = std::make_shared<const nccl::Decisions>(
          nccl_decision_input(machine, options, cluster, job, *output_));
    }
    return known;
  }

  void note_once(const std::string& text) {
    if (noted_.insert(text).second) {
      note(*output_, "note: " + text);
    }
  }

  const MeasuredTablesOptions* options_;
  const OutputOptions* output_;
  std::vector<nccl::ListedConstants> listed_;
  std::map<std::string, std::shared_ptr<const nccl::Decisions>> known_;
  std::map<std::string, std::optional<NetworkCosts>> networks_;
  std::set<std::string> noted_;
};

}  // namespace

void add_measured_tables_options(CLI::App& app, MeasuredTablesOptions& options) {
  add_cluster_options(app, options.cluster);
  app.get_option("--cluster")->required(false);
  add_measurement_options(app, options.measurements, FileNaming::Option);
  app.get_option("--measurements")
      ->type_name("[CLUSTER=]FILE...")
      ->description(
          "a name (`collsim list measurements`), or a file: measurements/1, output of nccl-tests "
          "or "
          "rccl-tests (text, CSV, JSON), lines of NCCL's inspector; of another cluster than "
          "--cluster with its name before it");
  add_text(app, "--network-parameters", options.network_parameters, "NAME",
           "what the fabric's software costs; none: as the node's parameters say")
      ->default_str("the fabric's")
      ->group("NCCL");
}

std::vector<MeasuredMachine> load_measured_machines(const MeasuredTablesOptions& options,
                                                    const OutputOptions& output) {
  Loader loader(options, output);
  std::vector<MeasuredMachine> machines;
  std::size_t tables = 0;
  for (const std::string& file : options.measurements.files) {
    machines.push_back(loader.load(file));
    tables += machines.back().tables.size();
    for (const std::string& why : machines.back().left_out) {
      note(output, "left out: " + machines.back().measurements->machine + ": " + why);
    }
  }
  if (tables == 0) {
    throw InputError("no table is left", "--measurements");
  }
  return machines;
}

}  // namespace collsim
