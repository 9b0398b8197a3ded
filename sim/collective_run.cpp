#include "sim/collective_run.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

Collective collective_of(std::shared_ptr<const Program> program, const Communicator& gpus) {
  Collective collective;
  collective.program = std::move(program);
  collective.communicator = std::make_shared<const Communicator>(gpus);
  return collective;
}

/// `calls` calls, one behind the other on every GPU.
Workload workload_of(const CollectiveJob& job, std::shared_ptr<const Program> program,
                     std::uint32_t calls) {
  Workload workload;
  workload.operations.assign(calls, collective_of(std::move(program), job.gpus));
  return workload;
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
  if (job.call.ranks > 1 && job.call.count > 0) {
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

/// What a run of any number of calls says about the job.
CollectiveResult result_of(const Cluster& cluster, const CollectiveJob& job, const Program& program,
                           RunResult&& run) {
  check_totals(cluster.graph(), run.links);
  CollectiveResult result;
  result.algorithm = program.algorithm();
  result.channels = program.channels();
  result.chunks = program.chunks();
  OperationResult& last = run.operations.back();
  result.time = run.time;
  result.time_of_rank = std::move(last.time_of_rank);
  result.attribution = std::move(last.attribution);
  result.critical_path = std::move(last.critical_path);
  result.bounds = lower_bounds(cluster, job.gpus, job.call);
  result.links = std::move(run.links);
  result.elapsed = run.time;
  result.transfers = run.transfers;
  result.events = run.events;
  result.simulated_calls = static_cast<std::uint32_t>(run.operations.size());
  result.contention_ignored = run.contention_ignored;
  add_warnings(result, job);
  return result;
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

Duration last_end(const OperationResult& operation) {
  return operation.time_of_rank.empty() ? Duration::zero()
                                        : *std::ranges::max_element(operation.time_of_rank);
}

CollectiveResult run_side_by_side(const Cluster& cluster, const CollectiveJob& job,
                                  const RunOptions& options) {
  const std::vector<std::shared_ptr<const Program>> programs = programs_of(cluster, job);
  Workload workload;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    workload.operations.emplace_back(collective_of(programs[i], job.group(i)));
  }
  RunResult run = run_workload(cluster, workload, options);
  std::vector<Duration> times;
  times.reserve(run.operations.size());
  for (const OperationResult& operation : run.operations) {
    times.push_back(last_end(operation));
  }
  const auto slowest = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
  CollectiveJob shown = job;
  shown.gpus = job.group(slowest);
  std::swap(run.operations[slowest], run.operations.back());
  CollectiveResult result = result_of(cluster, shown, *programs[slowest], std::move(run));
  result.time_of_group = std::move(times);
  result.slowest_group = slowest;
  result.simulated_calls = 1;
  check_bounds(result);
  return result;
}

CollectiveResult run_once(const Cluster& cluster, const CollectiveJob& job,
                          const std::shared_ptr<const Program>& program,
                          const RunOptions& options) {
  CollectiveResult result = result_of(cluster, job, *program,
                                      run_workload(cluster, workload_of(job, program, 1), options));
  check_bounds(result);
  return result;
}

/// Dividend / divisor to the nearest integer, halves up. Requires: dividend >= 0.
Duration rounded(U128 dividend, std::uint64_t divisor) {
  return Duration(static_cast<std::int64_t>((dividend + divisor / 2) / divisor));
}

/// Scales the parts so that they sum to `total` exactly: each is rounded down, and what is missing
/// goes to the largest remainders, the first of equals.
void scale_attribution(std::vector<AttributedTime>& parts, Duration total) {
  U128 sum = 0;
  for (const AttributedTime& part : parts) {
    sum += static_cast<U128>(part.time.count());
  }
  if (sum == 0) {
    return;
  }
  std::vector<std::pair<U128, std::size_t>> remainders;
  Duration given{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const U128 scaled = static_cast<U128>(parts[i].time.count()) * static_cast<U128>(total.count());
    parts[i].time = Duration(static_cast<std::int64_t>(scaled / sum));
    given += parts[i].time;
    remainders.emplace_back(scaled % sum, i);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto missing = static_cast<std::size_t>((total - given).count());
  for (std::size_t i = 0; i < missing; ++i) {
    parts[remainders[i].second].time += Duration(1);
  }
  std::erase_if(parts, [](const AttributedTime& part) { return part.time == Duration{}; });
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
  if (!job.beside.empty()) {
    return run_side_by_side(cluster, job, options);
  }
  return run_once(cluster, job, program_of(cluster, job), options);
}

CollectiveResult run_back_to_back(const Cluster& cluster, const CollectiveJob& job,
                                  Iterations iterations, const RunOptions& options) {
  if (iterations.timed == 0) {
    throw InputError("at least one iteration must be timed");
  }
  if (!job.beside.empty()) {
    throw InputError("groups side by side run one call each");
  }
  const std::uint64_t calls = std::uint64_t{iterations.warmup} + iterations.timed;
  if (calls > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(std::to_string(calls) + " iterations are more than can be counted");
  }
  const std::shared_ptr<const Program> program = program_of(cluster, job);

  // A look at a call of its own, which no observer sees before it is clear that it stands for all.
  RunOptions unseen = options;
  unseen.observer = nullptr;
  CollectiveResult first = run_once(cluster, job, program, calls == 1 ? options : unseen);
  const auto [quickest, slowest] =
      std::minmax_element(first.time_of_rank.begin(), first.time_of_rank.end());
  if (calls == 1) {
    return first;
  }
  if (*quickest == *slowest) {
    return options.observer == nullptr ? first : run_once(cluster, job, program, options);
  }

  RunResult run =
      run_workload(cluster, workload_of(job, program, static_cast<std::uint32_t>(calls)), options);
  std::vector<Duration> before(job.gpus.size());
  if (iterations.warmup != 0) {
    before = run.operations[iterations.warmup - 1].time_of_rank;
  }
  CollectiveResult result = result_of(cluster, job, *program, std::move(run));
  U128 sum = 0;
  for (std::size_t rank = 0; rank < before.size(); ++rank) {
    const Duration span = result.time_of_rank[rank] - before[rank];
    sum += static_cast<U128>(span.count());
    result.time_of_rank[rank] = rounded(static_cast<U128>(span.count()), iterations.timed);
  }
  retime(result, rounded(sum, std::uint64_t{iterations.timed} * before.size()));
  return result;
}

void retime(CollectiveResult& result, Duration time) {
  result.time = time;
  scale_attribution(result.attribution, time);
}

}  // namespace collsim
