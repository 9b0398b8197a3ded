// NCCL's rings: every rank ends up with its data, and each link carries what theory says.

#include "algorithms/nccl/ring_program.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "algorithms/nccl/chunk_size.hpp"
#include "tests/algorithms/nccl/program_cases.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

using K = CollectiveKind;
using P = Protocol;
using test::ReferenceMachine;
using test::small_machine;

constexpr std::array collectives{K::AllReduce, K::AllGather, K::ReduceScatter, K::Broadcast,
                                 K::Reduce};

std::unique_ptr<Program> ring_on(const ReferenceMachine& machine, const CollectiveCall& call,
                                 Protocol protocol) {
  return test::program_on(machine, test::execution_on(machine, call, Algorithm::Ring, protocol));
}

/// Counts that are awkward: one element, fewer than ranks, and what is a little more than a loop of
/// all four channels.
std::vector<std::int64_t> counts(const ReferenceMachine& machine, K kind, Protocol protocol) {
  const std::int64_t slot = slot_data(machine.configuration, protocol) / 4;
  const bool blocked = kind == K::AllGather || kind == K::ReduceScatter;
  const bool long_chunks = protocol == P::Simple && (kind == K::AllReduce || blocked);
  const std::int64_t chunk = slot * (long_chunks ? 4 : 1);
  const std::int64_t loop = kind == K::AllReduce ? chunk * machine.communicator.ranks : chunk;
  return {1, std::int64_t{machine.communicator.ranks} - 1, loop * 4 + loop / 3 + 1};
}

/// Every collective, protocol and count, in and out of place, with roots at the ends and between.
void check_all(int nodes, int gpus) {
  const ReferenceMachine machine = small_machine(nodes, gpus);
  const int ranks = nodes * gpus;
  int turn = 0;
  for (const K kind : collectives) {
    for (const P protocol : protocols) {
      for (const std::int64_t count : counts(machine, kind, protocol)) {
        for (const InPlace in_place : {InPlace::No, InPlace::Yes}) {
          CollectiveCall call = test::call_on(machine, kind, count);
          call.in_place = in_place;
          call.root = Rank(has_root(kind) ? (turn++ * 3) % ranks : 0);
          test::require_right(*ring_on(machine, call, protocol));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("nccl ring: every rank gets its data, in one node") {
  for (const int gpus : {2, 3, 4, 5, 7, 8}) {
    check_all(1, gpus);
  }
}

}  // namespace collsim::nccl
