// What the GPU's interpreter says of programs that cannot finish, and what keeps LL's flags apart when they recur.

#include <string>
#include <tuple>

#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"
#include "tests/validate/cuda/lane_checks.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// The text of the error of building and running; empty: none.
std::string failure_of(const Program& program, LaneWire wire) {
  try {
    LaneThreadsOptions options;
    options.patience = std::chrono::milliseconds(300);
    options.wire = wire;
    LaneThreads(program, options).run(1);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TableProgram with_one_slot(std::int64_t bytes) {
  TableProgram program(exchange_of_two(bytes));
  Lane shallow;
  shallow.fifo_depth = 1;
  program.set_lanes(shallow);
  return program;
}

}  // namespace

TEST_CASE("a wait that takes too long ends the kernel, and is named") {
  TableProgram program(exchange_of_two(4));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program.connect({Rank(1), 0}, {Rank(0), 0});
  for (const auto& [rank, send, receive] : {std::tuple(Rank(0), there.send, back.receive),
                                            std::tuple(Rank(1), back.send, there.receive)}) {
    program.add(rank, 0, step(4_B).receive(receive).to(output(0_B)));
    program.add(rank, 0, step(4_B).from(input(0_B)).send(send));
  }
  const std::string limit = "no progress for 300 ms: ";
  const std::string first =
      limit + "rank 0, lane 0, step 0, waits for a message from rank 1, lane 0";
  const std::string second =
      limit + "rank 1, lane 0, step 0, waits for a message from rank 0, lane 0";
  for (const LaneWire wire : {LaneWire::Simple, LaneWire::Lines, LaneWire::WideLines}) {
    const std::string found = failure_of(program, wire);
    CAPTURE(found);
    CHECK((found == first || found == second));
  }
}

TEST_CASE("a FIFO that has no room is named") {
  TableProgram program = with_one_slot(8);
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
  program.add(Rank(0), 0, step(4_B).from(input(4_B)).send(there.send));
  // Rank 1 takes nothing before a message that never comes.
  const auto never = program.connect({Rank(0), 1}, {Rank(1), 0});
  program.add(Rank(0), 1, step(4_B).from(input(0_B)).to(output(0_B)).after(0, 1));
  program.add(Rank(0), 1, step(4_B).from(input(0_B)).send(never.send));
  program.add(Rank(1), 0, step(4_B).receive(never.receive).to(output(0_B)));
  program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(4_B)));
  const std::string found = failure_of(program, LaneWire::Simple);
  CAPTURE(found);
  // Each waits for another one of these three; the first to lose patience is named.
  CHECK((found == "no progress for 300 ms: rank 0, lane 0, step 1, waits for a free FIFO slot at "
                  "rank 1, lane 0" ||
         found == "no progress for 300 ms: rank 0, lane 1, step 0, waits for steps of lane 0" ||
         found ==
             "no progress for 300 ms: rank 1, lane 0, step 0, waits for a message from rank 0, "
             "lane 1"));
}

TEST_CASE("a step waits for its messages and for room, both: a circle that is full stands still") {
  // The executor on processors takes a message aside to get on (host_faults_test.cpp); a block of threads does not.
  TableProgram program = with_one_slot(4);
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program.connect({Rank(1), 0}, {Rank(0), 0});
  for (const auto& [rank, send, receive] : {std::tuple(Rank(0), there.send, back.receive),
                                            std::tuple(Rank(1), back.send, there.receive)}) {
    program.add(rank, 0, step(4_B).from(input(0_B)).send(send));
    program.add(rank, 0, step(4_B).receive(receive).send(send));
    program.add(rank, 0, step(4_B).receive(receive).to(output(0_B)));
  }
  const std::string found = failure_of(program, LaneWire::Lines);
  CAPTURE(found);
  CHECK((found == "no progress for 300 ms: rank 0, lane 0, step 1, waits for a free FIFO slot at "
                  "rank 1, lane 0" ||
         found == "no progress for 300 ms: rank 1, lane 0, step 1, waits for a free FIFO slot at "
                  "rank 0, lane 0"));
}

TEST_CASE("messages of two sizes are found before anything runs") {
  TableProgram program(exchange_of_two(4));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
  program.add(Rank(1), 0, step(3_B).receive(there.receive).to(output(0_B)));
  CHECK(failure_of(program, LaneWire::Simple) ==
        "rank 1, lane 0, step 0, receives 4 bytes from rank 0, lane 0 instead of 3");
}

TEST_CASE("a step with more messages than a block keeps is refused") {
  TableProgram program(exchange_of_two(4));
  for (int i = 0; i < 71; ++i) {
    program.connect({Rank(0), 0}, {Rank(1), 0});
  }
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).send(0, 71));
  program.add(Rank(1), 0, step(4_B).receive(0, 71).to(output(0_B)));
  CHECK(failure_of(program, LaneWire::Simple) ==
        "rank 0, lane 0, step 0 has 71 messages: a block of a GPU's threads keeps at most 70");
}

TEST_CASE("a flag that recurs is not taken for a message that has not come") {
  // Messages 0 and 8 are long, the others short, in two slots with flags that recur every 8 messages: behind the first 8 bytes of
  // its slot, message 8 finds what message 0 left there, with its own flag, unless the slot was written whole in between.
  TableProgram program(exchange_of_two(240));
  Lane lane;
  lane.fifo_depth = 2;
  program.set_lanes(lane);
  for (const auto& [from, to] : {std::pair(Rank(0), Rank(1)), std::pair(Rank(1), Rank(0))}) {
    const auto slots = program.connect({from, 0}, {to, 1});
    Bytes offset;
    for (int message = 0; message < 16; ++message) {
      const Bytes bytes = message % 8 == 0 ? 64_B : 8_B;
      program.add(from, 0, step(bytes).from(input(offset)).send(slots.send));
      program.add(to, 1, step(bytes).receive(slots.receive).to(output(offset)));
      offset = offset + bytes;
    }
  }
  LaneThreadsOptions options;
  options.wire = LaneWire::Lines;
  options.threads = 2;
  options.flags = 8;
  for (int run = 0; run < 10; ++run) {
    CHECK(wrong_after_lanes(program, options, 5) == "");
  }
}
