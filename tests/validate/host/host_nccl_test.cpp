// NCCL's own programs on threads: what its kernels would do with the data.

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/nccl/vocabulary.hpp"
#include "tests/catch.hpp"
#include "tests/study/nccl_machine.hpp"
#include "tests/validate/host/executed.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

constexpr std::array kinds{
    CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
    CollectiveKind::Broadcast, CollectiveKind::Reduce,    CollectiveKind::AllToAll,
    CollectiveKind::Gather,    CollectiveKind::Scatter,   CollectiveKind::SendRecv};

/// Absent: NCCL does not run this.
std::optional<NcclProgram> program_if_any(const NcclMachine& machine, const CollectiveCall& call,
                                          const NcclWish& wish) {
  try {
    return machine.program(call, wish, ChannelsRun::Each);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Those that a call may name: sends and receives have theirs by size.
std::vector<std::optional<nccl::Protocol>> protocols_of(CollectiveKind kind) {
  using enum nccl::Protocol;
  if (!nccl::function_of(kind)) {
    return {std::nullopt};
  }
  return {LL, LL128, Simple};
}

/// Runs all that NCCL has there; the names of what ran.
std::set<std::string> run_all(const NcclMachine& machine, Bytes size) {
  std::set<std::string> names;
  for (const CollectiveKind kind : kinds) {
    for (const NcclAlgorithm& algorithm : nccl_algorithms()) {
      if (!implements(algorithm, kind)) {
        continue;
      }
      for (const std::optional<nccl::Protocol> protocol : protocols_of(kind)) {
        CollectiveCall call = machine.call(kind, size);
        call.root = Rank(machine.ranks() - 1);
        const auto program = program_if_any(machine, call, {algorithm.algorithm, protocol});
        if (!program) {
          continue;
        }
        names.insert(program->algorithm);
        CAPTURE(program->algorithm, program->protocol, name_of(kind));
        CHECK(wrong_after_run(program->program).empty());
      }
    }
  }
  return names;
}

}  // namespace

TEST_CASE("NCCL's programs of one node give the right data") {
  const NcclMachine machine("dgx-h100", 1, 4, closed_form_costs);
  CHECK(run_all(machine, 100'000_B) ==
        std::set<std::string>{"nccl-p2p", "nccl-ring", "nccl-tree", "nvls"});
}

TEST_CASE("NCCL's programs of several nodes give the right data") {
  const NcclMachine two("dgx-h100-x4", 2, 4, closed_form_costs);
  CHECK(run_all(two, 100'000_B) ==
        std::set<std::string>{"nccl-p2p", "nccl-ring", "nccl-tree", "nvls-tree"});
  const NcclMachine one_gpu_each("dgx-h100-x4", 4, 1, closed_form_costs);
  CHECK(run_all(one_gpu_each, 50'000_B).contains("pat"));
}

TEST_CASE("what NVLink's switch would reduce is emulated, and counted") {
  const NcclMachine machine("dgx-h100", 1, 4, closed_form_costs);
  NcclWish wish;
  wish.algorithm = nccl::Algorithm::Nvls;
  const auto call = machine.call(CollectiveKind::AllReduce, 1_MiB);
  CHECK(HostExecution(machine.program(call, wish, ChannelsRun::Each).program, {}).emulated_steps() >
        0);
  wish.algorithm = nccl::Algorithm::Ring;
  CHECK(
      HostExecution(machine.program(call, wish, ChannelsRun::Each).program, {}).emulated_steps() ==
      0);
}

TEST_CASE("channels that were joined are no program for a real machine") {
  const NcclMachine machine("dgx-h100", 1, 4, closed_form_costs);
  const auto program = machine.program(machine.call(CollectiveKind::AllReduce, 64_MiB)).program;
  CHECK_THROWS_AS(HostExecution(program, {}), InputError);
}
