// NCCL's programs on the engine: against the plain ring, and with equal channels joined.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/ring_program.hpp"
#include "algorithms/table.hpp"
#include "tests/catch.hpp"
#include "tests/study/nccl_machine.hpp"
#include "tests/topology/clusters.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// A ring of all ranks in order on every channel, one slice, one loop, and a FIFO without end.
std::shared_ptr<const Program> single_loop_ring(const CollectiveCall& call,
                                                std::uint32_t channels) {
  nccl::Execution execution;
  execution.call = call;
  execution.threads = 512;
  execution.fifo = 1 << 20;
  std::vector<Rank> ring;
  ring.reserve(call.ranks);
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    ring.emplace_back(rank);
  }
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    const std::int64_t part = call.count / channels;
    execution.work.push_back({channel, 1, part * channel, part, part});
  }
  return nccl::build_ring_program(execution, std::vector(channels, ring));
}

RunResult run_on(const Cluster& cluster, std::shared_ptr<const Program> program,
                 const CostParameters* costs) {
  Communicator communicator(cluster.graph().gpus().begin(), cluster.graph().gpus().end());
  Workload workload;
  workload.operations = {
      Collective{std::move(program), std::make_shared<const Communicator>(communicator)}};
  RunOptions options;
  options.costs = costs;
  return run_workload(cluster, workload, options);
}

void check_same_links(const RunResult& a, const RunResult& b) {
  REQUIRE(a.links.size() == b.links.size());
  bool same = true;
  for (std::size_t link = 0; link < a.links.size(); ++link) {
    same = same && a.links[link].fine_bytes == b.links[link].fine_bytes;
  }
  CHECK(same);
}

constexpr std::array ring_kinds{CollectiveKind::AllReduce, CollectiveKind::AllGather,
                                CollectiveKind::ReduceScatter, CollectiveKind::Broadcast,
                                CollectiveKind::Reduce};

}  // namespace

TEST_CASE("a free Simple ring of one slice and one loop is the plain ring") {
  const CostParameters free;
  const auto machine = GENERATE(0, 1, 2, 3);
  const Cluster cluster(machine == 0   ? star(5)
                        : machine == 1 ? mesh(8)
                        : machine == 2 ? textbook_nodes(3)
                                       : dgx(2));
  const auto ranks = static_cast<std::uint32_t>(cluster.graph().gpus().size());
  for (const CollectiveKind kind : ring_kinds) {
    for (const std::uint32_t channels : {1U, 2U, 3U}) {
      for (const std::int64_t elements : {1, 7, 1000}) {
        // Chunks of whole 16 bytes, as NCCL deals them out.
        ProgramRequest request;
        request.call =
            call_for_size(kind, ranks, 16_B * (elements * channels * ranks), DataType::Float32);
        request.call.root = Rank(ranks / 2);
        request.channels = channels;
        const std::shared_ptr<const Program> plain = build_program(find_algorithm("ring"), request);
        const RunResult expected = run_on(cluster, plain, nullptr);
        const RunResult result = run_on(cluster, single_loop_ring(request.call, channels), &free);
        CAPTURE(cluster.name(), name_of(kind), channels, elements);
        CHECK(result.time == expected.time);
        CHECK(result.transfers == expected.transfers);
        check_same_links(result, expected);
      }
    }
  }
}

namespace {

constexpr std::array algorithms_of_nccl{
    nccl::Algorithm::Ring,     nccl::Algorithm::Tree,          nccl::Algorithm::Nvls,
    nccl::Algorithm::NvlsTree, nccl::Algorithm::CollNetDirect, nccl::Algorithm::CollNetChain,
    nccl::Algorithm::Pat};
constexpr std::array protocols_of_nccl{nccl::Protocol::LL, nccl::Protocol::LL128,
                                       nccl::Protocol::Simple};

/// Absent: NCCL does not run this.
std::optional<NcclProgram> program_if_any(const NcclMachine& machine, const CollectiveCall& call,
                                          const NcclWish& wish, ChannelsRun channels) {
  try {
    return machine.program(call, wish, channels);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string name_of(const NcclWish& wish) {
  return std::string(nccl::name(*wish.algorithm)) + " " + std::string(nccl::name(*wish.protocol));
}

void check_joined(const NcclMachine& machine, const CollectiveCall& call, const NcclWish& wish) {
  const std::optional<NcclProgram> joined =
      program_if_any(machine, call, wish, ChannelsRun::Joined);
  if (!joined) {
    return;
  }
  const NcclProgram each = machine.program(call, wish, ChannelsRun::Each);
  const RunResult once = machine.run(joined->program);
  const RunResult all = machine.run(each.program);
  CAPTURE(joined->algorithm, joined->protocol, name_of(call.kind), call.count);
  CHECK(once.operations[0].time_of_rank == all.operations[0].time_of_rank);
  CHECK(joined->program->channels() == each.program->channels());
  check_same_links(once, all);
}

/// Every algorithm and protocol that NCCL has for a kind there, by name; the sizes give short last
/// channels, too.
std::map<std::string, int> check_all_joined(const NcclMachine& machine, CollectiveKind kind) {
  std::map<std::string, int> runs;
  for (const nccl::Algorithm algorithm : algorithms_of_nccl) {
    for (const nccl::Protocol protocol : protocols_of_nccl) {
      NcclWish wish;
      wish.algorithm = algorithm;
      wish.protocol = protocol;
      for (const Bytes size : {64_KiB, 1'000'000_B, 6_MiB}) {
        const CollectiveCall call = machine.call(kind, size);
        if (program_if_any(machine, call, wish, ChannelsRun::Joined)) {
          check_joined(machine, call, wish);
          ++runs[name_of(wish)];
        }
      }
    }
  }
  return runs;
}

std::vector<std::string> names(const std::map<std::string, int>& runs) {
  std::vector<std::string> result;
  result.reserve(runs.size());
  for (const auto& [name, count] : runs) {
    result.push_back(name);
  }
  return result;
}

}  // namespace

using Names = std::vector<std::string>;

TEST_CASE("channels joined are all channels, to the picosecond, on one node") {
  const NcclMachine machine("dgx-h100", 1, 8, closed_form_costs);
  const Names rings{"Ring LL", "Ring LL128", "Ring Simple"};
  const Names nvls_and_rings{"NVLS Simple", "Ring LL", "Ring LL128", "Ring Simple"};
  CHECK(names(check_all_joined(machine, CollectiveKind::AllReduce)) ==
        Names{"NVLS Simple", "Ring LL", "Ring LL128", "Ring Simple", "Tree LL", "Tree LL128",
              "Tree Simple"});
  CHECK(names(check_all_joined(machine, CollectiveKind::AllGather)) == nvls_and_rings);
  CHECK(names(check_all_joined(machine, CollectiveKind::ReduceScatter)) == nvls_and_rings);
  CHECK(names(check_all_joined(machine, CollectiveKind::Broadcast)) == rings);
  CHECK(names(check_all_joined(machine, CollectiveKind::Reduce)) == rings);
}

TEST_CASE("channels joined are all channels, to the picosecond, on two nodes") {
  const NcclMachine machine("dgx-h100-x4", 2, 8, closed_form_costs);
  REQUIRE(routes_ignore_channels(machine.cluster()));
  const Names rings{"Ring LL", "Ring LL128", "Ring Simple"};
  CHECK(names(check_all_joined(machine, CollectiveKind::AllReduce)) ==
        Names{"NVLSTree Simple", "Ring LL", "Ring LL128", "Ring Simple", "Tree LL", "Tree LL128",
              "Tree Simple"});
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
                                    CollectiveKind::Broadcast, CollectiveKind::Reduce}) {
    CHECK(names(check_all_joined(machine, kind)) == rings);
  }
}

TEST_CASE("channels joined are all channels, to the picosecond, with a GPU a node") {
  const NcclMachine machine("dgx-h100-x4", 4, 1, closed_form_costs);
  CHECK(names(check_all_joined(machine, CollectiveKind::AllGather)) ==
        Names{"PAT Simple", "Ring LL", "Ring LL128", "Ring Simple"});
  CHECK(names(check_all_joined(machine, CollectiveKind::ReduceScatter)) ==
        Names{"PAT Simple", "Ring LL", "Ring LL128", "Ring Simple"});
}

TEST_CASE("channels joined are all channels, to the picosecond, on a fabric that reduces") {
  const auto nodes = GENERATE(2U, 3U);
  const NcclMachine machine = sharp_machine(nodes, 8);
  CHECK(names(check_all_joined(machine, CollectiveKind::AllReduce)) ==
        Names{"CollNetChain Simple", "CollNetDirect Simple", "NVLS Simple", "NVLSTree Simple",
              "Ring LL", "Ring LL128", "Ring Simple", "Tree LL", "Tree LL128", "Tree Simple"});
  const Names gathers{"CollNetDirect Simple", "NVLS Simple", "Ring LL", "Ring LL128",
                      "Ring Simple"};
  CHECK(names(check_all_joined(machine, CollectiveKind::AllGather)) == gathers);
  CHECK(names(check_all_joined(machine, CollectiveKind::ReduceScatter)) == gathers);
}

TEST_CASE("joined channels of sends and receives are all channels, to the picosecond") {
  const auto nodes = GENERATE(1U, 2U);
  const NcclMachine machine("dgx-h100-x4", nodes, 8, closed_form_costs);
  for (const CollectiveKind kind : {CollectiveKind::AllToAll, CollectiveKind::Gather,
                                    CollectiveKind::Scatter, CollectiveKind::SendRecv}) {
    for (const Bytes size : {64_KiB, 1'000'000_B, 16_MiB}) {
      check_joined(machine, machine.call(kind, size), {});
    }
  }
}

namespace {

/// What of a step shows when it is done, without whose bytes they are.
bool do_the_same(const Step& a, const Step& b) {
  return a.bytes == b.bytes && a.receives == b.receives && a.sends == b.sends &&
         a.primitive() == b.primitive() && a.join == b.join &&
         a.after.has_value() == b.after.has_value() && a.movement == b.movement &&
         a.continues == b.continues;
}

/// How many periods of a lane were compared with the one before.
std::uint64_t compared_periods(const Program& program, Rank rank, std::uint32_t lane) {
  const std::optional<StepPeriod> period = program.period(rank, lane);
  if (!period) {
    return 0;
  }
  REQUIRE(period->length > 0);
  REQUIRE(period->end <= program.step_count(rank, lane));
  for (std::uint64_t i = period->first; i + period->length < period->end; ++i) {
    const Step step = program.step(rank, lane, i);
    const Step later = program.step(rank, lane, i + period->length);
    REQUIRE(do_the_same(step, later));
    REQUIRE(later.phase == step.phase + period->phases);
    if (step.after) {
      const std::optional<StepPeriod> other = program.period(rank, step.after->lane);
      REQUIRE(other);
      REQUIRE(later.after->lane == step.after->lane);
      REQUIRE(later.after->index == step.after->index + other->length);
    }
  }
  return (period->end - period->first) / period->length;
}

}  // namespace

TEST_CASE("what NCCL's programs say repeats, repeats") {
  // One node for NVLS; two for NVLSTree, and for NVLS with a fabric that reduces.
  const auto nodes = GENERATE(1U, 2U);
  const NcclMachine machine =
      nodes == 1 ? NcclMachine("dgx-h100", 1, 8, closed_form_costs) : sharp_machine(nodes, 8);
  std::uint64_t periods = 0;
  for (const CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    for (const nccl::Algorithm algorithm : algorithms_of_nccl) {
      // 400 MB: some channels have more whole loops than others.
      const CollectiveCall call = machine.call(kind, 400'000'000_B);
      const std::optional<NcclProgram> built =
          program_if_any(machine, call, {algorithm, nccl::Protocol::Simple}, ChannelsRun::Each);
      if (!built) {
        continue;
      }
      CAPTURE(nccl::name(algorithm), name_of(kind));
      for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
        for (std::uint32_t lane = 0; lane < built->program->lane_count(Rank(rank)); ++lane) {
          periods += compared_periods(*built->program, Rank(rank), lane);
        }
      }
    }
  }
  CHECK(periods > 100);
}
