// The memory of GPUs: on shipped machines it limits nothing; with a tenth of it, a ring is bound by it.

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "sim/collective_run.hpp"
#include "sim/io/read_costs.hpp"
#include "sim/memory_parts.hpp"
#include "study/nccl_job.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/described_memory.hpp"
#include "topology/io/load.hpp"

using namespace collsim;
using collsim::test::TableProgram;
using namespace collsim::literals;

namespace {

ConfigPath shipped() { return ConfigPath{{test::source_path("configs").string()}}; }

/// Two ranks with a lane of a kernel: all that a limit depends on beside the machine.
TableProgram lanes_of(Kernel kernel) {
  CollectiveCall call;
  call.ranks = 2;
  call.count = 1;
  TableProgram program(call);
  Lane lane;
  lane.protocol = WireProtocol::Simple;
  lane.kernel = kernel;
  lane.threads = 512;
  program.set_lanes(lane);
  const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
  Step send;
  send.bytes = 4_B;
  send.sends = {slot.send, 1};
  program.add(Rank(0), 0, send);
  Step receive;
  receive.bytes = 4_B;
  receive.receives = {slot.receive, 1};
  program.add(Rank(1), 0, receive);
  return program;
}

constexpr std::array kernels{Kernel::Collective, Kernel::SendRecv,           Kernel::Multicast,
                             Kernel::Symmetric,  Kernel::SymmetricMulticast, Kernel::CopyEngine};

/// The sets that a machine may run with: its own, and of its generation those that are not fitted.
std::vector<CostParameters> sets_for(const std::string& own) {
  std::vector<CostParameters> sets{find_costs(shipped(), own)};
  for (const char* const tier : {"-nominal", "-generation"}) {
    if (std::filesystem::exists(test::source_path("configs/parameters/" + own + tier + ".yaml"))) {
      sets.push_back(find_costs(shipped(), own + tier));
    }
  }
  return sets;
}

/// All-reduce by a ring in Simple on a DGX H100 with such memory.
CollectiveResult ring_with_memory(const std::string& bandwidth) {
  const Cluster cluster = build_cluster(load_cluster(
      "dgx-h100", {parse_setting("node.gpu_memory[4].bandwidth.value=" + bandwidth)}, shipped()));
  nccl::DecisionInput input;
  input.machine = nccl::machine_of_node(cluster, NodeId(0));
  input.nodes = 1;
  input.constants = nccl::find_constants(shipped(), "2.28");
  const nccl::Decisions decisions(input);
  const CostParameters costs = find_costs(shipped(), "nccl-hopper-nominal");
  const auto all = cluster.graph().gpus();
  CollectiveJob job;
  job.gpus = {all.begin(), all.end()};
  job.call = call_for_size(CollectiveKind::AllReduce, 8, 1_GiB, DataType::Float32);
  NcclWish wish;
  wish.algorithm = nccl::Algorithm::Ring;
  wish.protocol = nccl::Protocol::Simple;
  job.algorithm = "nccl-ring";
  job.programs = {nccl_program(decisions, {}, job.call, wish, ChannelsRun::Joined).program};
  RunOptions options;
  options.costs = &costs;
  return run_collective(cluster, job, options);
}

double part_of_memory(const CollectiveResult& result) {
  for (const AttributedTime& part : result.attribution) {
    if (part.parameter == CostItem::ShareMemory) {
      return static_cast<double>(part.time.count()) / static_cast<double>(result.time.count());
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("memory limits no program on a shipped machine", "[memory]") {
  std::set<std::string> described;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_path("configs/nodes"))) {
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    const Cluster cluster =
        build_cluster(parse_cluster("name: x\nnode: " + name + "\n", "x.yaml", {}, shipped()));
    const DeviceId gpu = cluster.graph().gpus()[0];
    if (!cluster.spec().node.parameters || memory_of(cluster, gpu) == nullptr) {
      continue;
    }
    described.insert(name);
    for (const CostParameters& costs : sets_for(*cluster.spec().node.parameters)) {
      for (const Kernel kernel : kernels) {
        CAPTURE(costs.name, static_cast<int>(kernel));
        const TableProgram program = lanes_of(kernel);
        for (const DeviceId each : cluster.graph().gpus()) {
          CHECK(detail::memory_part(cluster, costs, program, Rank(0), each) == Bandwidth{});
        }
      }
    }
  }
  CHECK(described.contains("dgx-h100"));
  CHECK(described.size() > 20);
}

TEST_CASE("a large all-reduce by a ring is bound by memory of a tenth", "[memory]") {
  const CollectiveResult with_all = ring_with_memory("3.35 TB/s");
  CHECK(part_of_memory(with_all) == 0);
  const CollectiveResult with_a_tenth = ring_with_memory("335 GB/s");
  // Each of 8 parts of the data is sent (1 access), reduced and passed on 6 times (3), reduced and kept (4), passed on
  // and kept 6 times (3), received (3): 44 accesses of an eighth of 1 GiB, at 0.87 of 335 GB/s.
  constexpr double gibibyte = 1 << 30;
  const double least = 44.0 / 8 * gibibyte / (0.87 * 335e9) * 1e12;
  const auto time = static_cast<double>(with_a_tenth.time.count());
  CHECK(time > least);
  // Launch, synchronisation and waiting for neighbours come on top.
  CHECK(time < 1.25 * least);
  CHECK(part_of_memory(with_a_tenth) > 0.5);
  CHECK(with_a_tenth.time > 2 * with_all.time);
}
