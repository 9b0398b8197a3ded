#include "tools/perf_options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <map>

#include "tools/option_values.hpp"
#include "tools/result_row.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// An option of nccl-tests that the model has no use for.
struct Unmodelled {
  const char* names;
  const char* neutral;  ///< the value that changes nothing; null where there is none
  const char* why;
  bool shown = false;  ///< in --help
};

constexpr std::array<Unmodelled, 16> unmodelled{{
    {"-C,--report_cputime", "0", "CPU time is not modelled", true},
    {"-m,--agg_iters", "1", "aggregated operations are not modelled"},
    {"-N,--run_cycles", "1", "each cycle would give the same times"},
    {"-p,--parallel_init", "0", "nothing is initialised"},
    {"-z,--blocking", "0", "waiting on the CPU is not modelled"},
    {"-y,--stream_null", "0", "streams are not modelled"},
    {"-T,--timeout", "0", "virtual time has no timeout"},
    {"-S,--report_timestamps", "0", "virtual time has no date"},
    {"-J,--output_file", nullptr, "the result as JSON is --format json --output FILE"},
    {"-x,--cta_policy", "0",
     "of CTA policies only the default is modelled, and copy engines by "
     "--algorithm nccl-ce"},
    {"-D,--device_implementation", nullptr, "device-side implementations are not modelled"},
    {"-V,--device_cta_count", nullptr, "device-side implementations are not modelled"},
    {"-M,--memory", nullptr, "memory use is not modelled"},
    {"-I,--iteration_times", "0", "times of single iterations are not shown"},
    {"-K,--iteration_skip", "0", "times of single iterations are not shown"},
    {"-u,--unalign", "0", "how buffers are aligned is not modelled"},
}};

/// Takes the option, so that it is refused by name and for a reason.
void add_unmodelled(CLI::App& app, const Unmodelled& refused, const char* group) {
  const std::string names = refused.names;
  const auto refuse_others = [option = shown_name(names), refused](const std::string& text) {
    if (refused.neutral != nullptr && text == refused.neutral) {
      return;
    }
    const std::string or_neutral =
        refused.neutral == nullptr ? "" : ", or " + option + " " + refused.neutral;
    throw InputError(refused.why, option, "leave the option out" + or_neutral);
  };
  const std::string help =
      refused.neutral == nullptr ? "" : std::string("not modelled: only ") + refused.neutral;
  add_value(app, names, "N", help, refuse_others)->group(refused.shown ? group : "");
}

/// nccl-tests' registration of buffers: none, or as symmetric windows.
void add_registration(CLI::App& app, PerfCommand& command, const char* group) {
  const auto take = [&command](const std::string& text) {
    if (text != "0" && text != "2") {
      throw InputError(text == "1"
                           ? "registered buffers that are no symmetric windows are not modelled"
                           : "expected 0 or 2, got " + in_quotes(text),
                       "-R", "-R 0, or -R 2 for symmetric windows");
    }
    command.nccl.symmetric_windows = text == "2";
  };
  add_value(app, "-R,--local_register", "N",
            "2: buffers are symmetric windows, for which NCCL has kernels of its own; 0: they are "
            "not",
            take)
      ->default_str("0")
      ->group(group);
}

/// A process has T·G ranks, all on one node.
void check_launch_mode(const PerfCommand& command, const Graph& graph, const Communicator& gpus) {
  const std::uint64_t per_process = std::uint64_t{command.gpus} * command.threads;
  if (gpus.size() % per_process != 0) {
    throw InputError(std::to_string(gpus.size()) + " ranks do not fill processes of " +
                         std::to_string(command.threads) + " x " + std::to_string(command.gpus) +
                         " GPUs",
                     "-g", "choose -t and -g so that their product divides the number of ranks");
  }
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    const std::size_t first = rank - rank % per_process;
    if (graph.device(gpus[rank]).node != graph.device(gpus[first]).node) {
      throw InputError(
          "the GPUs of the process of rank " + std::to_string(first) + " are on different nodes",
          "-g");
    }
  }
}

void add_nccl_tests_options(CLI::App& app, PerfCommand& command) {
  const char* const group = "nccl-tests";
  const NumberRange any{};
  const NumberRange counted{1, 1'000'000};
  add_size_options(app, command);
  add_number(app, "-g,--ngpus", command.gpus, counted, "GPUs per thread")->group(group);
  add_number(app, "-t,--nthreads", command.threads, counted, "threads per process")->group(group);
  add_number(app, "-G,--cudagraph", command.graph_launches, {0, 1'000'000},
             "times a CUDA graph of the calls is launched; 0: no graph")
      ->group(group);
  add_iteration_options(app, command);
  add_registration(app, command, group);
  add_number(app, "-c,--check", command.check, any, "0: do not check the data")->group(group);
  add_number(app, "-a,--average", command.average, {0, 3},
             "time over ranks: 0 rank 0, 1 mean, 2 min, 3 max (default: 1; 3 with --isolated)")
      ->group(group);
  add_kind_options(app, command);
  for (const Unmodelled& option : unmodelled) {
    add_unmodelled(app, option, group);
  }
}

/// By rank of all.
std::vector<std::uint32_t> group_numbers(const PerfPlan& plan) {
  std::map<DeviceId, std::uint32_t> number;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    for (const DeviceId gpu : plan.groups[i]) {
      number[gpu] = static_cast<std::uint32_t>(i);
    }
  }
  std::vector<std::uint32_t> numbers;
  numbers.reserve(plan.gpus.size());
  for (const DeviceId gpu : plan.gpus) {
    numbers.push_back(number.at(gpu));
  }
  return numbers;
}

}  // namespace

void add_perf_options(CLI::App& app, PerfCommand& command) {
  add_job_options(app, command.job);
  add_algorithm_option(app, command.algorithm);
  add_groups_option(app, command.groups);
  add_cluster_options(app, command.cluster);
  add_nccl_run_options(app, command.nccl);
  add_nccl_tests_options(app, command);
  add_switch(app, "--isolated", command.isolated,
             "one call alone instead of iterations back to back")
      ->excludes("--iters")
      ->excludes("--warmup_iters")
      ->group("Simulation");
  add_switch(app, "--columns", command.columns,
             "behind nccl-tests' columns also algorithm, protocol and channels")
      ->group("Output");
  add_switch(app, "--timing", command.timing, "show what the simulation itself took (on stderr)")
      ->group("Output");
  add_output_options(app, command.output);
}

PerfPlan plan_of(const PerfCommand& command, const Cluster& cluster) {
  PerfPlan plan;
  plan.kind = collective_of(command.job.collective);
  require_any_algorithm(command.algorithm, plan.kind, "--algorithm");
  plan.network = network_model_of(command.job);
  plan.gpus = gpus_of(cluster, command.job);
  check_launch_mode(command, cluster.graph(), plan.gpus);
  plan.groups = groups_of(plan.gpus, command.groups);
  plan.types = types_of(command.datatype);
  plan.ops = ops_of(command.redop, plan.kind);
  plan.roots =
      roots_of(command.root, plan.kind, static_cast<std::uint32_t>(plan.groups.front().size()));
  plan.sizes = sizes_of(command);
  plan.iterations = Iterations{command.warmup, command.iterations};
  plan.averaging = command.average    ? static_cast<Averaging>(*command.average)
                   : command.isolated ? Averaging::Max
                                      : Averaging::Mean;
  refuse_long_table(plan.row_count());
  return plan;
}

PerfHeader header_of(const PerfCommand& command, const PerfPlan& plan) {
  PerfHeader header;
  header.kind = plan.kind;
  header.threads = command.threads;
  header.gpus = command.gpus;
  header.min = plan.sizes.front();
  header.max = size_of_option(command.max_bytes, "-e");
  header.step_is_factor = command.step_factor > 1;
  header.step = header.step_is_factor ? command.step_factor
                                      : size_of_option(command.step_bytes, "-i").count();
  header.warmup = command.isolated ? 0 : command.warmup;
  header.iterations = command.isolated ? 1 : command.iterations;
  header.check = command.check;
  header.graph = command.graph_launches;
  header.extra_columns = command.columns;
  if (command.job.placement != "block" || !command.job.node_list.empty()) {
    header.notes.push_back("placement " + placement_name(command.job));
  }
  if (!command.groups.empty()) {
    header.notes.push_back(std::to_string(plan.groups.size()) +
                           (plan.groups.size() == 1 ? " group of " : " groups of ") +
                           std::to_string(plan.groups.front().size()) + " ranks at once (" +
                           command.groups + "): the times are those of the slowest group");
    header.group_of = group_numbers(plan);
  }
  return header;
}

Duration averaged(const CollectiveResult& result, Averaging averaging) {
  if (result.time_of_rank.empty()) {
    return result.time;
  }
  const RankTimes times = rank_times(result);
  switch (averaging) {
    case Averaging::Rank0:
      return result.time_of_rank.front();
    case Averaging::Mean:
      return times.mean;
    case Averaging::Min:
      return times.min;
    case Averaging::Max:
      return times.max;
  }
  return result.time;
}

}  // namespace collsim
