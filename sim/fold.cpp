#include "sim/fold.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "sim/fold_graph.hpp"
#include "sim/fold_shift.hpp"
#include "sim/slots_alike.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// The run of the whole will say what is wrong.
constexpr const char* makes_no_sense = "the workload makes no sense";

/// The jobs of a workload, and which of them each operation is.
struct FoldJobs {
  std::vector<FoldJob> jobs;
  std::vector<std::size_t> of_operation;
};

bool makes_sense(const Collective& collective) {
  return collective.program != nullptr && collective.communicator != nullptr &&
         collective.program->call().ranks == collective.communicator->size();
}

/// Throws: NotFolded.
FoldJobs jobs_of(const Cluster& cluster, const Workload& workload) {
  if (!workload.capacity_changes.empty()) {
    throw NotFolded{"capacities of links change during the run"};
  }
  FoldJobs result;
  std::vector<bool> taken(cluster.graph().devices().size());
  for (const Workload::Operation& operation : workload.operations) {
    const auto* collective = std::get_if<Collective>(&operation);
    if (collective == nullptr) {
      throw NotFolded{"the workload is more than collectives"};
    }
    if (!makes_sense(*collective)) {
      throw NotFolded{makes_no_sense};
    }
    const auto known =
        std::ranges::find(result.jobs, collective->communicator, &FoldJob::communicator);
    result.of_operation.push_back(static_cast<std::size_t>(known - result.jobs.begin()));
    if (known != result.jobs.end()) {
      if (known->program != collective->program) {
        throw NotFolded{"a communicator runs several programs"};
      }
      continue;
    }
    for (const DeviceId gpu : *collective->communicator) {
      if (gpu.index() >= taken.size() || taken[gpu.index()]) {
        throw NotFolded{"a GPU is in several communicators"};
      }
      taken[gpu.index()] = true;
    }
    FoldJob& job = result.jobs.emplace_back();
    job.program = collective->program;
    job.communicator = collective->communicator;
  }
  return result;
}

/// How many moves of a vertex to another class refinement may take, for each vertex.
constexpr std::size_t most_moves_each = 64;

/// Throws: NotFolded.
Partition stable_partition(const LabelledGraph& graph) {
  std::optional<Partition> partition =
      coarsest_partition(graph, most_moves_each * graph.vertices());
  if (!partition) {
    throw NotFolded{"lanes differ by too little to tell them apart in a reasonable time"};
  }
  COLLSIM_ENSURE(is_equitable(graph, *partition), "a partition that is not equitable");
  return std::move(*partition);
}

/// Fills in which groups stand for those of the first rank. False: lanes that stand for those of one group are
/// of several.
bool fill_groups(const FoldJob& job, const RankFolding& folding, RankClass& ranks) {
  for (std::uint32_t number = 0; number < job.lanes(ranks.first.value()); ++number) {
    const LaneClass& its_class = ranks.lanes[folding.class_of_lane(ranks.first, number)];
    const std::uint32_t group = job.program->lane(ranks.first, number).group;
    const std::uint32_t of_class = job.program->lane(ranks.first, its_class.lane).group;
    if (group >= ranks.group_of_group.size()) {
      ranks.group_of_group.resize(std::size_t{group} + 1, no_index);
    }
    std::uint32_t& stands_for = ranks.group_of_group[group];
    if (stands_for != no_index && stands_for != of_class) {
      return false;
    }
    stands_for = of_class;
  }
  return true;
}

/// The program in which a lane stands for its class. Null: groups of lanes cannot be told by those.
std::shared_ptr<const FoldedProgram> folded_program(const Cluster& cluster,
                                                    const RunOptions& options, const FoldJob& job,
                                                    const Partition& partition) {
  std::vector<RankClass> classes;
  RankFolding folding;
  std::vector<std::uint32_t> number(partition.classes, no_index);  // of classes of ranks, lanes
  std::vector<std::uint32_t> sizes(partition.classes);
  for (const std::uint32_t its : partition.of_vertex) {
    ++sizes[its];
  }
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    std::uint32_t& its = number[partition.of_vertex[job.first_rank + rank]];
    if (its == no_index) {
      its = static_cast<std::uint32_t>(classes.size());
      classes.push_back({Rank(rank), {}});
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t lane = 0; lane < job.lanes(rank); ++lane) {
      const std::uint32_t of_lane = partition.of_vertex[job.first_lane[rank] + lane];
      if (number[of_lane] == no_index) {
        std::vector<LaneClass>& lanes = classes[its].lanes;
        number[of_lane] = static_cast<std::uint32_t>(lanes.size());
        lanes.push_back({Rank(rank), lane, sizes[of_lane]});
      }
      order.push_back(number[of_lane]);
    }
    folding.add(Rank(its), std::move(order));
  }
  for (RankClass& ranks : classes) {
    if (job.joins && !fill_groups(job, folding, ranks)) {
      return nullptr;
    }
  }
  auto program = std::make_shared<FoldedProgram>(job.program, job.communicator, std::move(classes),
                                                 std::move(folding));
  if (options.costs != nullptr) {
    find_slots_alike(cluster, *program);
  }
  return program;
}

LinkClasses link_classes(const Cluster& cluster, const FoldGraph& graph,
                         const Partition& partition) {
  LinkClasses links(cluster.graph().links().size(), cluster.graph().devices().size());
  std::vector<std::uint32_t> number(partition.classes, no_index);
  std::uint32_t count = 0;
  for (std::uint32_t thing = 0; thing < graph.things().size(); ++thing) {
    const std::uint32_t vertex = graph.things()[thing];
    if (vertex == no_index) {
      continue;
    }
    std::uint32_t& its = number[partition.of_vertex[vertex]];
    if (its == no_index) {
      its = count++;
    }
    links.add(thing, its);
  }
  return links;
}

/// What stands for the GPUs of a communicator.
std::shared_ptr<const Communicator> representatives(const FoldedProgram& program) {
  Communicator gpus;
  for (const RankClass& ranks : program.classes()) {
    gpus.push_back(program.communicator()[ranks.first.index()]);
  }
  return std::make_shared<const Communicator>(std::move(gpus));
}

void count(Folding& folding, const FoldPlan& plan, const FoldJobs& jobs, const Cluster& cluster) {
  std::vector<const FoldedProgram*> seen;
  for (const auto& program : plan.programs) {
    if (std::ranges::find(seen, program.get()) != seen.end()) {
      continue;
    }
    seen.push_back(program.get());
    folding.ranks.classes += program->classes().size();
    for (const RankClass& ranks : program->classes()) {
      folding.lanes.classes += ranks.lanes.size();
    }
  }
  for (const FoldJob& job : jobs.jobs) {
    folding.ranks.all += job.ranks();
    folding.lanes.all += job.first_lane.back() - job.first_lane.front();
  }
  const std::uint32_t links = static_cast<std::uint32_t>(cluster.graph().links().size());
  for (std::uint32_t link = 0; link < links; ++link) {
    if (plan.links.class_of(link) != no_index) {
      ++folding.links.all;
      folding.links.classes += plan.links.representative(link) == link ? 1U : 0U;
    }
  }
}

/// The jobs' programs over the links of their classes, without a workload.
struct FoldedJobs {
  std::vector<std::shared_ptr<const FoldedProgram>> programs;  ///< by job
  LinkClasses links;
};

/// Everything compared with everything. Absent: groups of lanes come out of order. Throws: NotFolded.
std::optional<FoldedJobs> compared(const Cluster& cluster, const RunOptions& options,
                                   FoldJobs& jobs, LaneOrder order) {
  const FoldGraph graph(cluster, options, jobs.jobs, order);
  const Partition partition = stable_partition(graph.graph());
  FoldedJobs folded{{}, link_classes(cluster, graph, partition)};
  for (const FoldJob& job : jobs.jobs) {
    auto program = folded_program(cluster, options, job, partition);
    if (program == nullptr) {
      return std::nullopt;
    }
    folded.programs.push_back(std::move(program));
  }
  return folded;
}

FoldedJobs compared(const Cluster& cluster, const RunOptions& options, FoldJobs& jobs) {
  // Of lanes that end a rank's operation together the lowest is what its next one follows.
  const bool repeated = jobs.of_operation.size() > jobs.jobs.size();
  std::optional<FoldedJobs> folded;
  if (!repeated) {
    folded = compared(cluster, options, jobs, LaneOrder::OfChannels);
  }
  if (!folded) {
    folded = compared(cluster, options, jobs, LaneOrder::OfAll);
  }
  COLLSIM_ENSURE(folded.has_value(), "lanes of several groups are alike");
  return std::move(*folded);
}

/// Where that is too much, a shift of the ranks. Throws: NotFolded.
FoldedJobs folded_jobs(const Cluster& cluster, const RunOptions& options, FoldJobs& jobs) {
  try {
    return compared(cluster, options, jobs);
  } catch (const NotFolded& why) {
    if (!why.too_much || jobs.jobs.size() != 1) {
      throw;
    }
    std::optional<ShiftFold> shift = fold_by_shift(cluster, options, jobs.jobs.front());
    if (!shift) {
      throw;
    }
    return {{std::move(shift->program)}, std::move(shift->links)};
  }
}

std::unique_ptr<const FoldPlan> plan_of(const Cluster& cluster, const Workload& workload,
                                        const RunOptions& options, Folding& folding) {
  FoldJobs jobs = jobs_of(cluster, workload);
  FoldedJobs folded = folded_jobs(cluster, options, jobs);
  std::vector<std::shared_ptr<const Communicator>> communicators;
  communicators.reserve(folded.programs.size());
  for (const auto& program : folded.programs) {
    communicators.push_back(representatives(*program));
  }
  auto plan = std::make_unique<FoldPlan>(FoldPlan{{}, {}, std::move(folded.links)});
  for (std::size_t i = 0; i < workload.operations.size(); ++i) {
    const std::size_t job = jobs.of_operation[i];
    Collective collective;
    collective.program = folded.programs[job];
    collective.communicator = communicators[job];
    collective.launch = std::get<Collective>(workload.operations[i]).launch;
    plan->workload.operations.emplace_back(std::move(collective));
    plan->programs.push_back(folded.programs[job]);
  }
  count(folding, *plan, jobs, cluster);
  if (folding.lanes.classes == folding.lanes.all) {
    throw cluster.router().options().routing == RoutingKind::Ecmp
        ? NotFolded{"no two lanes do the same over paths that are alike, as hashed ones rarely are",
                    "--set fabric.routing=static, and a size that leaves equal chunks"}
        : NotFolded{"no two lanes do the same over paths that are alike"};
  }
  folding.folded = true;
  return plan;
}

}  // namespace

bool is_small(const Workload& workload) {
  constexpr std::uint64_t few_transfers = 10'000;
  std::uint64_t transfers = 0;
  for (const Workload::Operation& operation : workload.operations) {
    const auto* collective = std::get_if<Collective>(&operation);
    if (collective != nullptr && collective->program != nullptr) {
      transfers += std::min(collective->program->transfer_count(), few_transfers);
    }
  }
  return transfers < few_transfers;
}

FoldResult fold(const Cluster& cluster, const Workload& workload, const RunOptions& options) {
  FoldResult result;
  try {
    if (options.observer != nullptr) {
      throw NotFolded{"a trace shows every lane"};
    }
    if (options.critical_path) {
      throw NotFolded{"the critical path names every rank on it"};
    }
    if (options.fold == FoldMode::Auto && is_small(workload)) {
      throw NotFolded{"a run of so few transfers is over before it could be folded"};
    }
    result.plan = plan_of(cluster, workload, options, result.folding);
  } catch (const NotFolded& why) {
    result.folding.reason = why.reason;
    result.folding.remedy = why.remedy;
  } catch (const InputError&) {
    result.folding.reason = makes_no_sense;
  } catch (const SimulationError&) {
    result.folding.reason = makes_no_sense;
  } catch (const std::overflow_error&) {
    result.folding.reason = makes_no_sense;
  }
  return result;
}

RunResult unfolded(const FoldPlan& plan, RunResult&& folded) {
  RunResult result = std::move(folded);
  for (std::size_t i = 0; i < result.operations.size(); ++i) {
    const FoldedProgram& program = *plan.programs[i];
    const std::vector<Duration> of_class =
        std::exchange(result.operations[i].time_of_rank, std::vector<Duration>());
    std::vector<Duration>& times = result.operations[i].time_of_rank;
    times.reserve(program.communicator().size());
    for (std::uint32_t rank = 0; rank < program.communicator().size(); ++rank) {
      times.push_back(of_class[program.class_of(Rank(rank)).index()]);
    }
  }
  for (std::uint32_t link = 0; link < result.links.size(); ++link) {
    if (plan.links.class_of(link) != no_index) {
      result.links[link] = result.links[plan.links.representative(link)];
    }
  }
  return result;
}

}  // namespace collsim::detail
