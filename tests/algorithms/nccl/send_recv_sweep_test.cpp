// Every program of sends and receives gives every rank its data, moves the bytes it should and no
// more, whatever ranks, nodes, sizes and roots.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/nccl/send_recv_program.hpp"
#include "tests/algorithms/nccl/send_recv_machines.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::nccl;
using nccl::test::call_of;
using nccl::test::h100_nodes;
using nccl::test::ReferenceMachine;

namespace {

constexpr std::int64_t kib = 1024;

/// What each rank sends.
std::vector<Bytes> promised_bytes(const CollectiveCall& call) {
  const Bytes block = call.block();
  std::vector<Bytes> sent(call.ranks, block);
  switch (call.kind) {
    case CollectiveKind::AllToAll:
      sent.assign(call.ranks, block * (call.ranks - 1));
      break;
    case CollectiveKind::Scatter:
      sent.assign(call.ranks, Bytes(0));
      sent[call.root.index()] = block * (call.ranks - 1);
      break;
    case CollectiveKind::Gather:
      sent[call.root.index()] = Bytes(0);
      break;
    default:
      break;
  }
  return sent;
}

/// Bytes that each rank sends, counted once for each channel that a lane stands for.
std::vector<Bytes> weighted_bytes(const Program& program) {
  std::vector<Bytes> sent(program.call().ranks);
  for (std::uint32_t r = 0; r < program.call().ranks; ++r) {
    const Rank rank(r);
    for (std::uint32_t lane = 0; lane < program.lane_count(rank); ++lane) {
      const std::int64_t weight = program.lane(rank, lane).multiplicity;
      for (std::uint64_t index = 0; index < program.step_count(rank, lane); ++index) {
        const Step step = program.step(rank, lane, index);
        sent[r] += step.bytes * (weight * step.sends.count);
      }
    }
  }
  return sent;
}

std::string breach(const SendRecvPlan& plan) {
  const auto program = build_send_recv_program(plan, EqualChannels::Apart);
  if (auto text = collsim::test::first_breach(*program); !text.empty()) {
    return text;
  }
  const CheckReport report = check_program(*program, 1);
  if (!report.ok()) {
    return report.failures[0].text;
  }
  if (collsim::test::bytes_sent(*program) != promised_bytes(plan.call)) {
    return "other bytes than promised";
  }
  const auto joined = build_send_recv_program(plan, EqualChannels::Joined);
  if (auto text = collsim::test::first_breach(*joined); !text.empty()) {
    return "joined: " + text;
  }
  if (weighted_bytes(*joined) != promised_bytes(plan.call)) {
    return "joined: other bytes than promised";
  }
  return {};
}

/// 1 byte, a part that is not whole, empty parts (four of 12 KiB) and several chunks. In a large
/// communicator one size must do.
std::vector<std::int64_t> sizes(int ranks) {
  return ranks <= 16 ? std::vector<std::int64_t>{1, 4097, 33 * kib, 1000 * kib + 3}
                     : std::vector<std::int64_t>{300 * kib + 5};
}

std::vector<CollectiveCall> calls(int ranks, std::int64_t bytes) {
  const auto last = static_cast<std::uint32_t>(ranks) - 1;
  std::vector<CollectiveCall> all{call_of(CollectiveKind::AllToAll, ranks, bytes),
                                  call_of(CollectiveKind::SendRecv, ranks, bytes)};
  for (const CollectiveKind kind : {CollectiveKind::Gather, CollectiveKind::Scatter}) {
    for (const auto& [root, in_place] :
         {std::pair(0U, InPlace::No), std::pair(last / 2, InPlace::Yes),
          std::pair(last, InPlace::No)}) {
      CollectiveCall& call = all.emplace_back(call_of(kind, ranks, bytes));
      call.root = Rank(root);
      call.in_place = in_place;
    }
  }
  return all;
}

void sweep(const ReferenceMachine& machine) {
  const Communicator& communicator = machine.communicator;
  for (const std::int64_t bytes : sizes(communicator.ranks)) {
    for (const CollectiveCall& call : calls(communicator.ranks, bytes)) {
      const std::string text = breach(send_recv_plan(machine.input(), call));
      INFO(name_of(call.kind) << ", " << communicator.nodes << " nodes, " << call.ranks
                              << " ranks, " << bytes << " bytes, root " << call.root.value());
      CHECK(text == std::string());
    }
  }
}

void sweep_layouts(int ranks) {
  for (int gpus = 1; gpus <= 8; ++gpus) {
    if (ranks % gpus == 0) {
      sweep(h100_nodes(ranks / gpus, gpus));
    }
  }
}

}  // namespace

TEST_CASE("sends and receives: 2 to 16 ranks, 1 to 8 a node") {
  for (int ranks = 2; ranks <= 16; ++ranks) {
    sweep_layouts(ranks);
  }
}

TEST_CASE("sends and receives: 24, 32 and 64 ranks, 1 to 8 a node") {
  for (const int ranks : {24, 32, 64}) {
    sweep_layouts(ranks);
  }
}

TEST_CASE("sends and receives: large nodes, whose ranks have peers in several groups") {
  for (const std::string version : {"2.28", "2.29.7"}) {
    for (const auto& [nodes, gpus] : {std::pair(1, 16), std::pair(2, 16), std::pair(2, 12)}) {
      ReferenceMachine machine = h100_nodes(nodes, gpus);
      machine.constants = nccl::test::constants_of(version);
      sweep(machine);
    }
  }
}

TEST_CASE("sends and receives: every protocol over the network, of two versions") {
  for (const std::string version : {"2.28", "2.29.7"}) {
    for (const std::string ll : {"0", "1"}) {
      for (const int gpus : {3, 6}) {
        ReferenceMachine machine = h100_nodes(2, gpus);
        machine.constants = nccl::test::constants_of(version);
        machine.set("NCCL_ALLOC_P2P_NET_LL_BUFFERS", ll);
        sweep(machine);
      }
    }
  }
}
