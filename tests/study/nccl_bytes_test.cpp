// What NCCL's programs put on the links, whatever their channels: bytes of the algorithms, with those
// of the flags.

#include <cstdint>
#include <string>

#include "tests/catch.hpp"
#include "tests/study/nccl_machine.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

NcclMachine machine_of(std::uint32_t nodes, std::optional<int> channels = std::nullopt) {
  nccl::Configuration configuration;
  configuration.max_channels = channels;
  return NcclMachine("dgx-h100-x4", nodes, 8, closed_form_costs, configuration);
}

/// All bytes over links of a kind that begin at devices of a kind, or, by the link's other member, end there.
U128 bytes_over(const NcclMachine& machine, const RunResult& result, LinkKind over, DeviceKind kind,
                DeviceId Link::*end = &Link::source) {
  const Graph& graph = machine.cluster().graph();
  U128 fine = 0;
  for (std::uint32_t number = 0; number < graph.links().size(); ++number) {
    const Link& link = graph.links()[number];
    if (link.kind == over && graph.device(link.*end).kind == kind) {
      fine += result.links[number].fine_bytes;
    }
  }
  return fine;
}

RunResult run_of(const NcclMachine& machine, CollectiveKind kind, Bytes size,
                 std::optional<nccl::Algorithm> algorithm,
                 nccl::Protocol protocol = nccl::Protocol::Simple) {
  NcclWish wish;
  if (algorithm) {
    wish.algorithm = algorithm;
    wish.protocol = protocol;
  }
  return machine.run(machine.program(machine.call(kind, size), wish).program);
}

/// Out of all GPUs of a node together.
void check_nvlink(const NcclMachine& machine, const RunResult& result, Bytes expected) {
  const bool same =
      bytes_over(machine, result, LinkKind::Nvlink, DeviceKind::Gpu) == to_fine(expected);
  CHECK(same);
}
/// Out of all NICs together.
void check_network(const NcclMachine& machine, const RunResult& result, Bytes expected) {
  const bool same =
      bytes_over(machine, result, LinkKind::Infiniband, DeviceKind::Nic) == to_fine(expected);
  CHECK(same);
}
/// Into all NICs together.
void check_from_network(const NcclMachine& machine, const RunResult& result, Bytes expected) {
  const bool same = bytes_over(machine, result, LinkKind::Infiniband, DeviceKind::Nic,
                               &Link::target) == to_fine(expected);
  CHECK(same);
}

}  // namespace

TEST_CASE("on a node of 8 each algorithm sends its bytes, however many channels it has") {
  // S = 6 MiB and 15/16 of that, so that LL128's 16 bytes for 15 are whole.
  const auto channels = GENERATE(1, 3, 24);
  const NcclMachine machine = machine_of(1, channels);
  CAPTURE(channels);
  const Bytes size = 5760_KiB;
  const Bytes eighth = 720_KiB;
  const auto check = [&](CollectiveKind kind, nccl::Algorithm algorithm, Bytes expected) {
    CAPTURE(name_of(kind), nccl::name(algorithm));
    check_nvlink(machine, run_of(machine, kind, size, algorithm), expected);
  };
  // Ring: each of 8 ranks sends 2 S 7/8, S 7/8; in a chain all but one send S.
  check(CollectiveKind::AllReduce, nccl::Algorithm::Ring, eighth * (8 * 14));
  check(CollectiveKind::AllGather, nccl::Algorithm::Ring, eighth * (8 * 7));
  check(CollectiveKind::ReduceScatter, nccl::Algorithm::Ring, eighth * (8 * 7));
  check(CollectiveKind::Broadcast, nccl::Algorithm::Ring, size * 7);
  check(CollectiveKind::Reduce, nccl::Algorithm::Ring, size * 7);
  // Tree: a chain in a node, S up and S down each of its 7 edges.
  check(CollectiveKind::AllReduce, nccl::Algorithm::Tree, size * 14);
  // NVLS: S (1 + 1/8) up each link. All-gather writes each block once, reduce-scatter reads all.
  check(CollectiveKind::AllReduce, nccl::Algorithm::Nvls, eighth * (8 * 9));
  check(CollectiveKind::AllGather, nccl::Algorithm::Nvls, size);
  check(CollectiveKind::ReduceScatter, nccl::Algorithm::Nvls, size * 8);
  // Sends and receives: S 7/8 from each.
  check_nvlink(machine, run_of(machine, CollectiveKind::AllToAll, 16_MiB, {}), 2_MiB * (8 * 7));
  // Flags: twice the bytes, 16 for 15.
  check_nvlink(
      machine,
      run_of(machine, CollectiveKind::AllReduce, size, nccl::Algorithm::Ring, nccl::Protocol::LL),
      eighth * (2 * 8 * 14));
  check_nvlink(machine,
               run_of(machine, CollectiveKind::AllReduce, size, nccl::Algorithm::Ring,
                      nccl::Protocol::LL128),
               eighth / 15 * (16 * 8 * 14));
}

TEST_CASE("between two nodes a ring sends 2 S (n - 1) / n each way, a tree S") {
  const NcclMachine machine = machine_of(2);
  const Bytes size = 6_MiB;
  const auto check = [&](CollectiveKind kind, nccl::Algorithm algorithm, Bytes expected) {
    CAPTURE(name_of(kind), nccl::name(algorithm));
    check_network(machine, run_of(machine, kind, size, algorithm), expected);
  };
  const Bytes sixteenth = 384_KiB;
  check(CollectiveKind::AllReduce, nccl::Algorithm::Ring, sixteenth * (2 * 2 * 15));
  check(CollectiveKind::AllGather, nccl::Algorithm::Ring, sixteenth * (2 * 15));
  check(CollectiveKind::AllReduce, nccl::Algorithm::Tree, size * 2);
  check(CollectiveKind::AllReduce, nccl::Algorithm::NvlsTree, size * 2);
  // Sends and receives: 8 of a rank's 16 blocks leave the node, from 16 ranks.
  check_network(machine, run_of(machine, CollectiveKind::AllToAll, 16_MiB, {}), 1_MiB * (16 * 8));
}

// Each of 8 N ranks gives the fabric its block, or has it from there, and the fabric copies it to N - 1 others of
// the rail, or reduces theirs.
TEST_CASE("over a fabric that reduces an all-gather sends S and receives (N - 1) S") {
  const auto nodes = GENERATE(2U, 3U, 4U);
  const NcclMachine machine = sharp_machine(nodes, 8);
  const auto others = static_cast<std::int64_t>(nodes) - 1;
  for (const nccl::Algorithm algorithm : {nccl::Algorithm::Nvls, nccl::Algorithm::CollNetDirect}) {
    CAPTURE(nodes, nccl::name(algorithm));
    // Blocks of 12,500 elements: windows of every length.
    const Bytes size = 50'000_B * (8 * (others + 1));
    const RunResult gathered = run_of(machine, CollectiveKind::AllGather, size, algorithm);
    check_network(machine, gathered, size);
    check_from_network(machine, gathered, size * others);
    const RunResult scattered = run_of(machine, CollectiveKind::ReduceScatter, size, algorithm);
    check_network(machine, scattered, size * others);
    check_from_network(machine, scattered, size);
  }
}

TEST_CASE(
    "over several nodes NVLS writes a rail's blocks once to a node, or reads all of a node's "
    "data") {
  const NcclMachine machine = sharp_machine(3, 8);
  const Bytes size = 50'000_B * 24;
  // 24 ranks write three blocks of 24, or all of theirs is read.
  check_nvlink(machine, run_of(machine, CollectiveKind::AllGather, size, nccl::Algorithm::Nvls),
               size * 3);
  check_nvlink(machine, run_of(machine, CollectiveKind::ReduceScatter, size, nccl::Algorithm::Nvls),
               size * 24);
}
