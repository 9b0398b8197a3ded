#include "tools/job_options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/table.hpp"
#include "study/groups.hpp"
#include "study/nccl_job.hpp"
#include "tools/format_text.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

void add_job_options(CLI::App& app, JobOptions& options) {
  const NumberRange at_least_one{1, std::numeric_limits<std::uint32_t>::max()};
  const char* const job = "Job";
  add_text(app, "COLLECTIVE", options.collective, "",
           "all_reduce, all_gather, … (`collsim list collectives`); all-reduce and AllReduce too")
      ->required();
  add_number(app, "--nodes", options.nodes, at_least_one, "use the first N nodes")->group(job);
  add_text(app, "--node-list", options.node_list, "LIST",
           "use these nodes, in this order, as Slurm lists them: node[0-3,7]")
      ->group(job);
  add_number(app, "--gpus-per-node", options.gpus_per_node, at_least_one,
             "use the first N GPUs of each node")
      ->group(job);
  add_number(app, "--ranks", options.ranks, at_least_one, "use N GPUs, filling nodes")->group(job);
  add_text(app, "--placement", options.placement, "ORDER",
           "order of ranks: block (node by node), cyclic (round robin over the nodes), random or "
           "random:SEED (nodes drawn at random), node[0-3,7] (these nodes, as --node-list), or a "
           "file with the name of a GPU a line")
      ->group(job);
  add_number(app, "--channels", options.channels, {1, 1024},
             "slices of the data that run side by side")
      ->default_str("1, or as many as NCCL takes")
      ->group(job);
  add_number(app, "--chunks", options.chunks, {1, 1U << 20U},
             "pieces of a slice that follow each other")
      ->default_str("1")
      ->group(job);
  const char* const simulation = "Simulation";
  add_text(app, "--network-model", options.network_model, "MODEL",
           "flow: transfers share links fairly; ideal: they do not notice each other")
      ->group(simulation);
  add_choice(
      app, "--fold", options.fold, {"auto", "off", "require"},
      "simulate one of all lanes that do the same at the same times. auto: where it can be shown "
      "that they do; off: never; require: refuse the run where nothing can be folded")
      ->group(simulation);
  add_text(app, "--protocol", options.protocol, "P", "Simple, LL or LL128, of NCCL's programs")
      ->group(simulation);
  add_number(app, "--max-transfers", options.max_transfers,
             {0, std::numeric_limits<std::uint64_t>::max()}, "refuse longer simulations")
      ->group(simulation);
  add_text(app, "--max-memory", options.max_memory, "SIZE",
           "refuse larger simulations (default: the memory of this machine)")
      ->group(simulation);
}

void add_call_options(CLI::App& app, CallOptions& options) {
  const char* const job = "Job";
  add_text(app, "--bytes", options.bytes, "SIZE",
           "size as in nccl-tests: 8, 64K, 1G; also 128MiB (1024-based) and 1GB (1000-based)")
      ->required()
      ->group(job);
  add_text(app, "--datatype", options.datatype, "TYPE", "float, half, bfloat16, int8, …")
      ->group(job);
  add_text(app, "--redop", options.redop, "OP", "sum, prod, max, min or avg")
      ->default_str("sum")
      ->group(job);
  add_number(app, "--root", options.root, {}, "root rank of rooted collectives")
      ->default_str("0")
      ->group(job);
  add_switch(app, "--out-of-place", options.out_of_place, "separate input and output buffers")
      ->group(job);
  add_groups_option(app, options.groups);
}

void add_groups_option(CLI::App& app, std::string& groups) {
  add_text(app, "--groups", groups, "KIND=SIZE",
           "run in groups of SIZE ranks at once: tp=SIZE of ranks that follow each other, dp=SIZE "
           "across these; shown is the slowest group")
      ->group("Job");
}

CLI::Option* add_algorithm_option(CLI::App& app, std::string& algorithm) {
  return add_text(app, "--algorithm", algorithm, "A",
                  "a name (`collsim list algorithms`); auto: NCCL's choice where the cluster has "
                  "parameters, else best; best: the quickest of those that are not NCCL's, by "
                  "simulation")
      ->group("Job");
}

CollectiveKind collective_of(const std::string& text) {
  if (const auto kind = parse_collective(text)) {
    return *kind;
  }
  refuse_word("COLLECTIVE", "collective", text, collective_names());
}

DataType data_type_of(const std::string& text, const std::string& option) {
  if (const auto type = parse_data_type(text)) {
    return *type;
  }
  refuse_word(option, "data type", text, data_type_names());
}

ReductionOp reduction_of(const std::string& text, const std::string& option) {
  if (const auto op = parse_reduction(text)) {
    return *op;
  }
  refuse_word(option, "reduction", text, reduction_names());
}

Bytes size_of_option(const std::string& text, const std::string& option) {
  try {
    return parse_size_argument(text);
  } catch (const InputError& error) {
    throw InputError(error.message(), option, error.hint());
  }
}

bool is_chosen_by_simulation(const std::string& algorithm) {
  return algorithm == "auto" || algorithm == "best";
}

namespace {

/// What an option takes as the name of an algorithm, and which of them fit a collective.
struct AlgorithmNames {
  std::vector<std::string> known;
  std::vector<std::string> fitting;

  template <class Algorithm>
  void add(const Algorithm& algorithm, CollectiveKind kind) {
    known.emplace_back(algorithm.name);
    if (implements(algorithm, kind)) {
      fitting.emplace_back(algorithm.name);
    }
  }
  void add_ours(CollectiveKind kind) {
    for (const Algorithm& algorithm : algorithms()) {
      add(algorithm, kind);
    }
  }
  void add_nccls(CollectiveKind kind) {
    for (const NcclAlgorithm& algorithm : nccl_algorithms()) {
      add(algorithm, kind);
    }
  }
};

void require_one_of(const AlgorithmNames& names, const std::string& name, CollectiveKind kind,
                    const std::string& option) {
  if (std::ranges::find(names.known, name) == names.known.end()) {
    refuse_word(option, "algorithm", name, names.known);
  }
  if (std::ranges::find(names.fitting, name) == names.fitting.end()) {
    throw InputError(name + " does not implement " + std::string(name_of(kind)) + "; expected " +
                         one_of(names.fitting),
                     option);
  }
}

}  // namespace

void require_algorithm(const std::string& name, CollectiveKind kind, const std::string& option) {
  AlgorithmNames names;
  names.add_ours(kind);
  require_one_of(names, name, kind, option);
}

void require_program(const std::string& name, CollectiveKind kind, const std::string& option) {
  AlgorithmNames names;
  names.add_ours(kind);
  names.add_nccls(kind);
  require_one_of(names, name, kind, option);
}

void require_any_algorithm(const std::string& name, CollectiveKind kind,
                           const std::string& option) {
  AlgorithmNames names{{"auto", "best"}, {"auto", "best"}};
  names.add_ours(kind);
  names.add_nccls(kind);
  require_one_of(names, name, kind, option);
}

namespace {

/// The memory of this machine.
Bytes physical_memory() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t page_size = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_size > 0 ? Bytes(pages * page_size) : RunLimits().max_memory;
}

}  // namespace

RunLimits limits_of(const JobOptions& options) {
  RunLimits limits;
  limits.max_transfers = options.max_transfers;
  limits.max_memory = options.max_memory.empty()
                          ? physical_memory()
                          : size_of_option(options.max_memory, "--max-memory");
  return limits;
}

NetworkModel network_model_of(const JobOptions& options) {
  if (options.network_model == "flow") {
    return NetworkModel::Flow;
  }
  if (options.network_model == "ideal") {
    return NetworkModel::Ideal;
  }
  if (options.network_model == "packet") {
    throw InputError("the packet model does not exist yet; expected flow or ideal",
                     "--network-model");
  }
  refuse_word("--network-model", "network model", options.network_model, {"flow", "ideal"});
}

FoldMode fold_of(const JobOptions& options) {
  if (options.fold == "off") {
    return FoldMode::Off;
  }
  return options.fold == "require" ? FoldMode::Require : FoldMode::Auto;
}

std::vector<Communicator> groups_of(const Communicator& gpus, const std::string& groups) {
  return groups.empty() ? std::vector<Communicator>{gpus} : split(gpus, parse_grouping(groups));
}

void set_groups(CollectiveJob& job, std::vector<Communicator> groups) {
  job.gpus = std::move(groups.front());
  groups.erase(groups.begin());
  job.beside = std::move(groups);
}

Rank root_of(std::uint32_t root, std::uint32_t ranks, const std::string& option) {
  if (root < ranks) {
    return Rank(root);
  }
  throw InputError(
      "there is no rank " + std::to_string(root) + ": ranks are 0 to " + std::to_string(ranks - 1),
      option);
}

namespace {

/// Names of the collectives that have something, for hints.
std::string collectives_that(bool (*have_it)(CollectiveKind)) {
  std::vector<std::string> names;
  for (const std::string& name : collective_names()) {
    if (have_it(collective_of(name))) {
      names.push_back(name);
    }
  }
  return one_of(names);
}

void set_reduction(CollectiveCall& call, const std::string& text) {
  if (text.empty()) {
    return;
  }
  call.op = reduction_of(text, "--redop");
  if (!reduces(call.kind)) {
    throw InputError(std::string(name_of(call.kind)) + " reduces nothing", "--redop",
                     "leave the option out; it is for " + collectives_that(reduces));
  }
}

void set_root(CollectiveCall& call, const std::optional<std::uint32_t>& root) {
  if (!root) {
    return;
  }
  if (!has_root(call.kind)) {
    throw InputError(std::string(name_of(call.kind)) + " has no root", "--root",
                     "leave the option out; it is for " + collectives_that(has_root));
  }
  call.root = root_of(*root, call.ranks, "--root");
}

}  // namespace

CollectiveJob job_of(const Cluster& cluster, const JobOptions& options, const CallOptions& call,
                     Bytes& requested) {
  const CollectiveKind kind = collective_of(options.collective);
  CollectiveJob job;
  set_groups(job, groups_of(gpus_of(cluster, options), call.groups));
  requested = size_of_option(call.bytes, "--bytes");
  const auto ranks = static_cast<std::uint32_t>(job.gpus.size());
  job.call = call_for_size(kind, ranks, requested, data_type_of(call.datatype, "--datatype"));
  set_reduction(job.call, call.redop);
  set_root(job.call, call.root);
  job.call.in_place = call.out_of_place || !allows_in_place(kind) ? InPlace::No : InPlace::Yes;
  job.channels = options.channels.value_or(1);
  job.chunks = options.chunks.value_or(1);
  return job;
}

CheckedProgram checked_program(const Cluster& cluster, const CollectiveJob& job,
                               std::uint64_t iterations, const JobOptions& options) {
  std::shared_ptr<const Program> program;
  try {
    program = job.programs.empty() ? program_of(cluster, job) : job.programs.front();
  } catch (const InputError& error) {
    // What stands in the way of the algorithm, for want of a place in a document.
    if (!error.path().empty()) {
      throw;
    }
    throw InputError(error.message(), "--algorithm", error.hint());
  }
  const RunSize size = size_of_run(cluster, job, *program, iterations);
  if (fold_of(options) == FoldMode::Off) {
    require_within_limits(size, options);
  }
  return {std::move(program), size};
}

void require_folded_within_limits(RunOptions& run, const RunSize& size, const JobOptions& options) {
  run.admit = [size, &options](const Folding& folding) {
    require_within_limits(folded_size(size, folding), options);
  };
}

void require_within_limits(const RunSize& size, const JobOptions& options) {
  const RunLimits limits = limits_of(options);
  switch (check_limits(size, limits)) {
    case WithinLimits::TooManyTransfers:
      throw InputError(
          "the simulation needs " + grouped(size.transfers) + " transfers" +
              (size.calls > 1 ? " times " + grouped(size.calls) + " iterations" : "") +
              ", more than " + grouped(limits.max_transfers),
          "--max-transfers",
          "fewer --channels, --chunks or iterations, a subset of the GPUs with --ranks, another "
          "--algorithm, or a higher limit");
    case WithinLimits::TooMuchMemory:
      throw InputError("the simulation needs about " + to_text(size.memory) +
                           " of memory, more than " + human_bytes(limits.max_memory),
                       "--max-memory",
                       "fewer --channels, a subset of the GPUs with --ranks, another --algorithm, "
                       "or a higher limit");
    case WithinLimits::Yes:
      break;
  }
}

}  // namespace collsim
