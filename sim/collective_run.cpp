#include "sim/collective_run.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/collective_calls.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace detail {

namespace {

Collective collective_of(std::shared_ptr<const Program> program, const Communicator& gpus) {
  Collective collective;
  collective.program = std::move(program);
  collective.communicator = std::make_shared<const Communicator>(gpus);
  return collective;
}

void add_warnings(CollectiveResult& result, const CollectiveJob& job) {
  if (result.contention_ignored) {
    result.warnings.emplace_back(
        "transfers overlapped on links, which the network model \"ideal\" ignores: the time is too "
        "short; \"flow\" shares the links");
  }
  const auto used = [&](const char* what, std::uint32_t in_use, std::uint32_t asked) {
    if (in_use == asked) {
      return;
    }
    result.warnings.push_back(std::to_string(in_use) + " of " + std::to_string(asked) + " " + what +
                              " in use: the data have no more parts");
  };
  if (job.programs.empty() && job.call.ranks > 1 && job.call.count > 0) {
    used("channels", result.channels, job.channels);
    used("chunks", result.chunks, job.chunks);
  }
}

/// Refuses a run whose links carried more than output can hold, level by level.
void check_totals(const Graph& graph, const std::vector<LinkUse>& links) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<U128> totals(graph.levels().size(), 0);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::size_t level = graph.links()[i].level.index();
    totals[level] += whole_bytes(links[i]);
    if (totals[level] > static_cast<U128>(most)) {
      throw RangeError("the bytes on the links of level " + in_quotes(graph.levels()[level]) +
                           " exceed 2^63 - 1",
                       {}, "fewer bytes, ranks or iterations");
    }
  }
}

void check_bounds(const CollectiveResult& result) {
  if (result.contention_ignored) {
    return;
  }
  for (const Bound& bound : result.bounds) {
    COLLSIM_ENSURE(result.time >= bound.time,
                   result.algorithm + " takes " + std::to_string(result.time.count()) +
                       " ps, less than the bound \"" + bound.name + "\" of " +
                       std::to_string(bound.time.count()) + " ps");
  }
}

}  // namespace

Workload workload_of(const CollectiveJob& job, const Programs& programs, std::uint32_t calls) {
  std::vector<Collective> groups;
  groups.reserve(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    groups.push_back(collective_of(programs[i], job.group(i)));
  }
  Workload workload;
  workload.operations.reserve(groups.size() * calls);
  for (std::uint32_t call = 0; call < calls; ++call) {
    workload.operations.insert(workload.operations.end(), groups.begin(), groups.end());
  }
  return workload;
}

CollectiveResult result_of(const Cluster& cluster, const CollectiveJob& job,
                           const Programs& programs, std::size_t group, RunResult&& run) {
  const Program& program = *programs[group];
  check_totals(cluster.graph(), run.links);
  CollectiveResult result;
  result.algorithm = program.algorithm();
  result.channels = program.channels();
  result.chunks = program.chunks();
  const std::size_t groups = programs.size();
  OperationResult& last = run.operations[run.operations.size() - groups + group];
  result.time = run.time;
  result.time_of_rank = std::move(last.time_of_rank);
  result.attribution = std::move(last.attribution);
  result.critical_path = std::move(last.critical_path);
  result.bounds =
      lower_bounds(cluster, job.group(group), job.call,
                   program.reduces_in_network() ? Reduction::InNetwork : Reduction::AtRanks);
  result.links = std::move(run.links);
  result.elapsed = run.time;
  result.transfers = run.transfers;
  result.events = run.events;
  result.simulated_calls = static_cast<std::uint32_t>(run.operations.size() / groups);
  result.contention_ignored = run.contention_ignored;
  result.folding = std::move(run.folding);
  add_warnings(result, job);
  return result;
}

Duration last_end(const OperationResult& operation) {
  return operation.time_of_rank.empty() ? Duration::zero()
                                        : *std::ranges::max_element(operation.time_of_rank);
}

void set_groups(CollectiveResult& result, std::vector<Duration> times, std::size_t slowest) {
  if (times.size() > 1) {
    result.time_of_group = std::move(times);
    result.slowest_group = slowest;
  }
}

std::size_t slowest_of(const std::vector<Duration>& times) {
  return static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
}

OneCall run_once(const Cluster& cluster, const CollectiveJob& job, const Programs& programs,
                 const RunOptions& options) {
  RunResult run = run_workload(cluster, workload_of(job, programs, 1), options);
  OneCall one;
  std::vector<Duration> times;
  for (const OperationResult& operation : run.operations) {
    times.push_back(last_end(operation));
    one.together = one.together && std::ranges::all_of(operation.time_of_rank, [&](Duration end) {
                     return end == times.front();
                   });
  }
  const std::size_t slowest = slowest_of(times);
  one.result = result_of(cluster, job, programs, slowest, std::move(run));
  set_groups(one.result, std::move(times), slowest);
  check_bounds(one.result);
  return one;
}

}  // namespace detail

namespace {

/// The nodes of the ranks, numbered in the order in which they first occur.
std::vector<std::uint32_t> layout_of(const Cluster& cluster, const Communicator& gpus) {
  std::map<NodeId, std::uint32_t> number_of;
  std::vector<std::uint32_t> layout;
  for (const DeviceId gpu : gpus) {
    const NodeId node = cluster.graph().device(gpu).node.value_or(NodeId(0));
    layout.push_back(
        number_of.emplace(node, static_cast<std::uint32_t>(number_of.size())).first->second);
  }
  return layout;
}

}  // namespace

ProgramRequest request_of(const Cluster& cluster, const CollectiveJob& job) {
  ProgramRequest request;
  request.call = job.call;
  request.channels = job.channels;
  request.chunks = job.chunks;
  for (const DeviceId gpu : job.gpus) {
    request.node_of_rank.push_back(cluster.graph().device(gpu).node.value_or(NodeId(0)));
  }
  return request;
}

std::unique_ptr<Program> program_of(const Cluster& cluster, const CollectiveJob& job) {
  if (job.gpus.size() != job.call.ranks) {
    throw InputError("the call is for " + std::to_string(job.call.ranks) + " ranks, the job has " +
                     std::to_string(job.gpus.size()) + " GPUs");
  }
  return build_program(find_algorithm(job.algorithm), request_of(cluster, job));
}

std::vector<std::shared_ptr<const Program>> programs_of(const Cluster& cluster,
                                                        const CollectiveJob& job) {
  if (!job.programs.empty()) {
    return job.programs;
  }
  std::map<std::vector<std::uint32_t>, std::shared_ptr<const Program>> known;
  std::vector<std::shared_ptr<const Program>> programs;
  CollectiveJob group = job;
  for (std::size_t i = 0; i < job.groups(); ++i) {
    group.gpus = job.group(i);
    std::shared_ptr<const Program>& program = known[layout_of(cluster, group.gpus)];
    if (program == nullptr) {
      program = program_of(cluster, group);
    }
    programs.push_back(program);
  }
  return programs;
}

CollectiveResult run_collective(const Cluster& cluster, const CollectiveJob& job,
                                const RunOptions& options) {
  return detail::run_once(cluster, job, programs_of(cluster, job), options).result;
}

}  // namespace collsim
