// Kernels on symmetric memory and copy engines on the engine: bytes on the links, blocks joined, and the
// terms their times are made of.

#include <string>

#include "algorithms/nccl/symmetric_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/study/nccl_machine.hpp"
#include "tests/study/oracle.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

constexpr auto nominal = "nccl-hopper-nominal";

nccl::Configuration with_kernel(std::string_view name, int blocks) {
  nccl::Configuration configuration;
  configuration.symmetric_kernel = std::string(name);
  configuration.symmetric_ctas = blocks;
  return configuration;
}

NcclWish windows() {
  NcclWish wish;
  wish.buffers = NcclBuffers::Symmetric;
  return wish;
}

NcclWish copy_engines() {
  NcclWish wish;
  wish.buffers = NcclBuffers::ForCopyEngines;
  return wish;
}

/// Out of all GPUs together.
U128 bytes_sent(const NcclMachine& machine, const RunResult& result) {
  const Graph& graph = machine.cluster().graph();
  U128 fine = 0;
  for (std::uint32_t number = 0; number < graph.links().size(); ++number) {
    const Link& link = graph.links()[number];
    if (link.kind == LinkKind::Nvlink && graph.device(link.source).kind == DeviceKind::Gpu) {
      fine += result.links[number].fine_bytes;
    }
  }
  return fine;
}

double engine_time(const NcclMachine& machine, CollectiveKind kind, Bytes size,
                   const NcclWish& wish) {
  return microseconds(machine.run(machine.program(machine.call(kind, size), wish).program).time);
}

}  // namespace

TEST_CASE("equal blocks of symmetric kernels joined are all blocks, to the picosecond") {
  for (const nccl::SymmetricKernelSort& sort : nccl::symmetric_kernels()) {
    CAPTURE(sort.name);
    const NcclMachine machine("dgx-h100", 1, 8, nominal, with_kernel(sort.name, 12));
    // Whole cells alike for all blocks; a cell more for some; one short.
    for (const Bytes size : {6_MiB, 1_MiB, 1'000'000_B}) {
      const CollectiveCall call = machine.call(sort.collective, size);
      const RunResult once =
          machine.run(machine.program(call, windows(), ChannelsRun::Joined).program);
      const RunResult all =
          machine.run(machine.program(call, windows(), ChannelsRun::Each).program);
      CHECK(once.operations[0].time_of_rank == all.operations[0].time_of_rank);
      CHECK(bytes_sent(machine, once) == bytes_sent(machine, all));
    }
  }
}

TEST_CASE("symmetric kernels and copy engines put their bytes on the links") {
  const Bytes size = 6_MiB;
  const Bytes eighth = size / 8;
  const auto sent = [&](std::string_view kernel, CollectiveKind kind) {
    const NcclMachine machine("dgx-h100", 1, 8, nominal, with_kernel(kernel, 4));
    return bytes_sent(machine,
                      machine.run(machine.program(machine.call(kind, size), windows()).program));
  };
  using enum CollectiveKind;
  // Each of 8: its share from and to 7 others; S (1 + 1/8) through the switch; all to 7 others, twice with flags.
  CHECK(sent("AllReduce_RSxLD_AGxST", AllReduce) == to_fine(eighth * (8 * 14)));
  CHECK(sent("AllReduce_RSxLDMC_AGxSTMC", AllReduce) == to_fine(eighth * (8 * 9)));
  CHECK(sent("AllReduce_AGxLL_R", AllReduce) == to_fine(size * (2 * 8 * 7)));
  CHECK(sent("AllReduce_AGxLLMC_R", AllReduce) == to_fine(size * (2 * 8)));
  CHECK(sent("AllGather_ST", AllGather) == to_fine(eighth * (8 * 7)));
  CHECK(sent("AllGather_STMC", AllGather) == to_fine(size));
  CHECK(sent("AllGather_LL", AllGather) == to_fine(eighth * (2 * 8 * 7)));
  CHECK(sent("ReduceScatter_LD", ReduceScatter) == to_fine(eighth * (8 * 7)));
  CHECK(sent("ReduceScatter_LDMC", ReduceScatter) == to_fine(size * 8));
  CHECK(sent("ReduceScatter_LL", ReduceScatter) == to_fine(eighth * (2 * 8 * 7)));
  const NcclMachine machine("dgx-h100", 1, 8, nominal);
  for (const CollectiveKind kind : {AllGather, AllToAll}) {
    const CollectiveCall call = machine.call(kind, size);
    const auto result = machine.run(machine.program(call, copy_engines()).program);
    CHECK(bytes_sent(machine, result) == to_fine(call.block() * (8 * 7)));
  }
}

// A launch, the opening barrier, seven stores of 1/64 of the block each at the block's rate or the link's
// share, and one more hand-off.
TEST_CASE("an all-gather by stores takes launch, barrier, and its blocks or its link") {
  for (const int blocks : {1, 64}) {
    const NcclMachine machine("dgx-h100", 1, 8, nominal, with_kernel("AllGather_ST", blocks));
    const FormTerms terms(machine);
    const Bytes size = 512_MiB;
    const double sent = static_cast<double>(size.count()) * 7 / 8;
    const double bytes = blocks == 1 ? sent / terms.rate(CostItem::SymmetricBlockRate)
                                     : sent / terms.link(CostItem::ShareNvlink);
    const double expected = terms.time(CostItem::LaunchSymmetric) +
                            2 * (terms.time(CostItem::SymmetricBarrier) + terms.latency()) + bytes;
    CHECK(engine_time(machine, CollectiveKind::AllGather, size, windows()) ==
          Approx(expected).epsilon(0.001));
  }
}

// S (1 + 1/8) crosses each link each way; two blocks drive an eighth of S through the switch.
TEST_CASE("an all-reduce through the switch takes its link, or the few blocks that drive it") {
  NcclMachine machine("dgx-h100", 1, 8, nominal, with_kernel("AllReduce_RSxLDMC_AGxSTMC", 2));
  const FormTerms terms(machine);
  const Bytes size = 512_MiB;
  const auto bytes = static_cast<double>(size.count());
  const auto time = [&] {
    return engine_time(machine, CollectiveKind::AllReduce, size, windows());
  };
  CHECK(time() == Approx(bytes * 9 / 8 / terms.link(CostItem::ShareNvlinkMulticast)).epsilon(0.01));
  machine.costs().set(CostItem::SymmetricMulticastRate, {(10_GBps).units(), CostSource::Estimate});
  CHECK(time() == Approx(bytes / 8 / 2 / 10'000).epsilon(0.01));
}

TEST_CASE("copy engines take a start for each copy and have more of the link than blocks") {
  const NcclMachine machine("dgx-h100", 1, 8, nominal);
  const FormTerms terms(machine);
  const Bytes size = 512_MiB;
  const double sent = static_cast<double>(size.count()) * 7 / 8;
  const double expected = terms.time(CostItem::LaunchCopyEngine) +
                          7 * terms.time(CostItem::CopyEngineCopy) +
                          2 * (terms.time(CostItem::CopyEngineBarrier) + terms.latency()) +
                          sent / terms.link(CostItem::ShareNvlinkCopyEngine);
  CHECK(engine_time(machine, CollectiveKind::AllGather, size, copy_engines()) ==
        Approx(expected).epsilon(0.002));
}

TEST_CASE("small all-reduces of symmetric windows are quicker than rings") {
  const NcclMachine machine("dgx-h100", 1, 8, nominal);
  const auto time = [&](const NcclWish& wish) {
    return engine_time(machine, CollectiveKind::AllReduce, 8_KiB, wish);
  };
  CHECK(time(windows()) < time({}) / 2);
}
