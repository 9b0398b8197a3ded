// Programs by the GPU's interpreter in several processes, with files in memory in place of a GPU's: right data, and what is said
// where a process is lost.

#include "validate/cuda/lane_group.hpp"

#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "algorithms/table.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"
#include "tests/validate/cuda/group_of_processes.hpp"
#include "topology/error.hpp"
#include "validate/cuda/host_lane_machine.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t room_enough = 1000;

ExecutionRequest twice() {
  ExecutionRequest request;
  request.timed = 2;
  request.patience = 60s;
  return request;
}

/// All algorithms that have the collective over all wires, one after the other in the same group.
std::string wrong_in_group(const ProgramRequest& request, ProcessGroup& group) {
  int programs = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!implements(algorithm, request.call.kind) || algorithm.obstacle(request)) {
      continue;
    }
    const auto program = build_program(algorithm, request);
    for (const LaneWire wire : {LaneWire::Simple, LaneWire::Lines, LaneWire::WideLines}) {
      HostLaneMachine machine(room_enough);
      const ExecutionOutcome outcome = execute_in_group(*program, twice(), wire, group, machine);
      if (!outcome.wrong.empty() || outcome.time <= Duration(0)) {
        return std::string(algorithm.name) + ": " +
               (outcome.wrong.empty() ? "no time" : outcome.wrong.front().text());
      }
      ++programs;
    }
  }
  return programs > 0 ? "right" : "nothing ran";
}

ProgramRequest request_for(CollectiveKind kind, std::uint32_t ranks) {
  ProgramRequest request;
  request.call.kind = kind;
  request.call.ranks = ranks;
  request.call.count = 103;
  request.call.type = DataType::Int32;
  request.call.root = Rank(ranks - 1);
  request.call.in_place = InPlace::No;
  request.chunks = 2;
  return request;
}

/// A program in which each of two ranks sends the other 4 bytes.
TableProgram swap_of_two() {
  TableProgram program(exchange_of_two());
  for (const auto& [from, to] : {std::pair(Rank(0), Rank(1)), std::pair(Rank(1), Rank(0))}) {
    const auto slots = program.connect({from, 0}, {to, 1});
    program.add(from, 0, step(4_B).from(input(0_B)).send(slots.send));
    program.add(to, 1, step(4_B).receive(slots.receive).to(output(0_B)));
  }
  return program;
}

/// Its process ends where its lanes should begin.
class Quitter final : public HostLaneMachine {
 public:
  Quitter() : HostLaneMachine(room_enough) {}
  Duration run(std::uint32_t /*calls*/, const std::function<void()>& /*watch*/) override {
    _exit(0);
  }
};

}  // namespace

TEST_CASE("every algorithm gives the right data in several processes") {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    for (const CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::AllToAll, CollectiveKind::Scatter}) {
      CAPTURE(ranks, name_of(kind));
      CHECK(in_processes(ranks, [&](ProcessGroup& group) {
              return wrong_in_group(request_for(kind, ranks), group);
            }) == std::vector<std::string>(ranks, "right"));
    }
  }
}

TEST_CASE("averages of half floats in several processes") {
  ProgramRequest request = request_for(CollectiveKind::AllReduce, 3);
  request.call.type = DataType::Half;
  request.call.op = ReductionOp::Avg;
  CHECK(in_processes(3, [&](ProcessGroup& group) { return wrong_in_group(request, group); }) ==
        std::vector<std::string>(3, "right"));
}

TEST_CASE("lanes that wait for a process that has gone are told to end") {
  // Without the order to end they would wait for a minute, and say so in other words.
  const std::vector<std::string> texts = in_processes(2, [](ProcessGroup& group) {
    const TableProgram program = swap_of_two();
    if (group.rank() == 1) {
      Quitter machine;
      return execute_in_group(program, twice(), LaneWire::Simple, group, machine).wire;
    }
    HostLaneMachine machine(room_enough);
    return execute_in_group(program, twice(), LaneWire::Simple, group, machine).wire;
  });
  CHECK(texts == std::vector<std::string>{"lost rank 1: it closed the connection", ""});
}

TEST_CASE("lanes of processes that share a device must fit on it together") {
  // Two lanes a rank.
  const std::vector<std::string> texts = in_processes(2, [](ProcessGroup& group) {
    HostLaneMachine machine(3);
    return execute_in_group(swap_of_two(), twice(), LaneWire::Simple, group, machine).wire;
  });
  CHECK(texts == std::vector<std::string>(
                     2,
                     "the 2 ranks of this host have 4 lanes, of which it can run 3 at once: the "
                     "rest would be waited for without end"));
}

TEST_CASE("memory is mapped within one machine") {
  CHECK_NOTHROW(require_one_host({"a", "a"}));
  try {
    require_one_host({"a", "a", "b"});
    FAIL("two machines were taken for one");
  } catch (const InputError& error) {
    CHECK(error.message() ==
          "rank 0 is on a, rank 2 on b: kernels reach GPUs of their own machine only");
  }
}
