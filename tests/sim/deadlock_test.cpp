#include "tests/catch.hpp"
#include "tests/sim/programs.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string error_of(TableProgram program, std::uint32_t ranks) {
  try {
    run_on_all(Cluster(mesh(ranks)), std::move(program));
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a deadlock names who waits for whom, and the cycle") {
  // Everyone receives before sending.
  TableProgram program = program_for(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    program.connect({Rank(rank), 0}, {Rank((rank + 1) % 3), 0});
    program.add(Rank(rank), 0, step(1_B).receive(0));
    program.add(Rank(rank), 0, step(1_B).send(0));
  }
  CHECK(error_of(std::move(program), 3) ==
        "deadlock at 0 ps: 3 lanes cannot go on\n"
        "  rank 0 lane 0 step 0 waits for a message from rank 2 lane 0\n"
        "  rank 1 lane 0 step 0 waits for a message from rank 0 lane 0\n"
        "  rank 2 lane 0 step 0 waits for a message from rank 1 lane 0\n"
        "they wait for each other: rank 0 lane 0 -> rank 2 lane 0 -> rank 1 lane 0 -> rank 0 lane "
        "0");
}

TEST_CASE("a message that nobody sends is named, with who should have sent it") {
  TableProgram program = program_for(3);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.connect({Rank(1), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(100_B).send(0));
  program.add(Rank(1), 0, step(100_B).receive(0));
  program.add(Rank(1), 0, step(100_B).receive(0).send(0));
  program.add(Rank(2), 0, step(100_B).receive(0));
  // The first message arrives after 100 bytes (2000 ps) and a latency.
  CHECK(error_of(std::move(program), 3) ==
        "deadlock at 1002000 ps: 2 lanes cannot go on\n"
        "  rank 1 lane 0 step 1 waits for a message from rank 0 lane 0\n"
        "  rank 2 lane 0 step 0 waits for a message from rank 1 lane 0\n"
        "they wait in the end for rank 0 lane 0, which has no step left");
}

TEST_CASE("a deadlock counts the messages that are missing") {
  TableProgram program = program_for(4);
  for (std::uint32_t rank = 1; rank < 4; ++rank) {
    program.connect({Rank(rank), 0}, {Rank(0), 0});
    if (rank == 2) {
      program.add(Rank(rank), 0, step(1_B).send(0));
    }
  }
  program.add(Rank(0), 0, step(1_B).receive(0, 3));
  CHECK_THAT(error_of(std::move(program), 4),
             ContainsSubstring("rank 0 lane 0 step 0 waits for a message from rank 1 lane 0 and 1 "
                               "more\n"));
}

TEST_CASE("lanes of a rank that wait for each other's steps are named") {
  TableProgram program = program_for(2);
  program.add(Rank(1), 0, step(0_B).after(1, 0));
  program.add(Rank(1), 1, step(0_B).after(0, 0));
  CHECK(error_of(std::move(program), 2) ==
        "deadlock at 0 ps: 2 lanes cannot go on\n"
        "  rank 1 lane 0 step 0 waits for step 0 of its rank's lane 1\n"
        "  rank 1 lane 1 step 0 waits for step 0 of its rank's lane 0\n"
        "they wait for each other: rank 1 lane 0 -> rank 1 lane 1 -> rank 1 lane 0");
}

TEST_CASE("a join that cannot end is named, with the lane it waits for") {
  TableProgram program = program_for(2);
  program.connect({Rank(1), 0}, {Rank(0), 1});
  program.add(Rank(0), 0, step(0_B).phase(1).join(0));
  program.add(Rank(0), 1, step(8_B).receive(0));
  CHECK(error_of(std::move(program), 2) ==
        "deadlock at 0 ps: 2 lanes cannot go on\n"
        "  rank 0 lane 0 step 0 waits for its rank's lanes of group 0 to complete all steps of "
        "phases below 1\n"
        "  rank 0 lane 1 step 0 waits for a message from rank 1 lane 0\n"
        "they wait in the end for rank 1 lane 0, which has no step left");
}

TEST_CASE("a send without credit is named") {
  // Rank 1 takes one message only after it has received another from rank 0's lane 0, which waits.
  TableProgram program = program_for(2);
  program.set_lane(Rank(0), 0, Lane{0, 0, 1});
  program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto other = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(8_B).send(0));
  program.add(Rank(0), 0, step(8_B).send(0));
  program.add(Rank(0), 0, step(8_B).send(other.send));
  program.add(Rank(1), 0, step(8_B).receive(other.receive));
  program.add(Rank(1), 0, step(8_B).receive(0));
  program.add(Rank(1), 0, step(8_B).receive(0));
  CHECK_THAT(error_of(std::move(program), 2),
             ContainsSubstring("rank 0 lane 0 step 1 waits for credit: none of the 1 FIFO slots at "
                               "rank 1 lane 0 is free\n") &&
                 ContainsSubstring("they wait for each other: rank 0 lane 0 -> rank 1 lane 0 -> "
                                   "rank 0 lane 0"));
}

TEST_CASE("only the first ten blocked lanes are named, and ten of a cycle") {
  TableProgram program = program_for(25);
  for (std::uint32_t rank = 0; rank < 25; ++rank) {
    program.connect({Rank(rank), 0}, {Rank((rank + 1) % 25), 0});
    program.add(Rank(rank), 0, step(1_B).receive(0));
    program.add(Rank(rank), 0, step(1_B).send(0));
  }
  const std::string error = error_of(std::move(program), 25);
  CHECK_THAT(error, ContainsSubstring("deadlock at 0 ps: 25 lanes cannot go on\n"));
  CHECK_THAT(error, ContainsSubstring("\n  rank 9 lane 0 step 0 "));
  CHECK_THAT(error, !ContainsSubstring("\n  rank 10 lane 0 step 0 "));
  CHECK_THAT(error, ContainsSubstring("\n  and 15 more\n"));
  CHECK_THAT(error, ContainsSubstring("rank 16 lane 0 -> \u2026 (25 in all) -> rank 0 lane 0"));
}

TEST_CASE("a rank that never starts is named with what keeps its GPU") {
  // GPU 1 is stuck in the first operation, so rank 1 of the second never sends.
  const Cluster cluster(mesh(3));
  TableProgram stuck = program_for(2);
  stuck.connect({Rank(0), 0}, {Rank(1), 0});
  stuck.add(Rank(1), 0, step(8_B).receive(0));
  TableProgram next = program_for(2);
  next.connect({Rank(1), 0}, {Rank(0), 0});
  next.add(Rank(0), 0, step(8_B).receive(0));
  next.add(Rank(1), 0, step(8_B).send(0));
  CHECK_THROWS_WITH(
      run(cluster, {collective(std::move(stuck), gpus(cluster, {0, 1})),
                    collective(std::move(next), gpus(cluster, {2, 1}))}),
      "deadlock at 0 ps: 2 lanes cannot go on\n"
      "  rank 1 lane 0 of operation 0 step 0 waits for a message from rank 0 lane 0\n"
      "  rank 0 lane 0 of operation 1 step 0 waits for a message from rank 1 lane 0\n"
      "they wait in the end for rank 0 lane 0 of operation 0, which has no step left");
}

TEST_CASE("messages that nobody received are named") {
  TableProgram program = program_for(2);
  program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(100_B).send(0));
  program.add(Rank(0), 0, step(200_B).send(0));
  program.add(Rank(1), 0, step(100_B).receive(0));
  CHECK(error_of(std::move(program), 2) ==
        "operation 0: nobody received 1 message\n"
        "  200 bytes from rank 0 lane 0 to rank 1 lane 0 slot 0");
}
