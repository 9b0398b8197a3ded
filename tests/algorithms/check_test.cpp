#include "algorithms/check.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tests/algorithms/check_helpers.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using test::call_of;
using test::exchange;
using test::input;
using test::output;
using test::require_failure;
using test::scratch;
using test::step;
using test::TableProgram;
using Kind = CheckFailure::Kind;

TEST_CASE("a correct exchange passes, and its steps and messages are counted") {
  const CheckReport report = check_program(exchange());
  CHECK(report.ok());
  CHECK(report.steps == 4);
  CHECK(report.messages == 2);
}

TEST_CASE("an output that nobody writes is missing data") {
  TableProgram program(call_of(CollectiveKind::AllGather, 2, 4));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).to(output(0_B)).send(there.send));
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).to(output(4_B)));
  program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::MissingData, 0, 0, 0,
                  "rank 0, lane 0, step 0, is the end of a rank that never writes its output "
                  "bytes 4-7");
}

TEST_CASE("a block in the wrong place is wrong data of the step that wrote it") {
  TableProgram program(call_of(CollectiveKind::Scatter, 2, 4));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).to(output(0_B)));
  program.add(Rank(0), 0, step(4_B).from(input(2_B)).send(there.send));  // should be 4
  program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::WrongData, 1, 0, 0,
                  "rank 1, lane 0, step 0, leaves bytes 2-5 of the input of rank 0 in output bytes "
                  "0-3 instead of bytes 4-7 of the input of rank 0");
}

TEST_CASE("data left from the start are wrong data of the rank") {
  // In place, rank 1's block is there already; the rest of its buffer is not what it should be.
  TableProgram program(call_of(CollectiveKind::AllReduce, 2, 4, InPlace::Yes));
  const auto there = program.connect({Rank(1), 0}, {Rank(0), 0});
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(there.send));
  program.add(Rank(0), 0, step(4_B).receive(there.receive).from(input(0_B)).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::WrongData, 1, 0, 0,
                  "rank 1, lane 0, step 0, is the end of a rank that leaves bytes 0-3 of the input "
                  "of rank 1 in output bytes 0-3 instead of bytes 0-3 of the input of ranks 0-1");
}

TEST_CASE("a read of bytes that nobody wrote is missing data, and causes no further reports") {
  TableProgram program(call_of(CollectiveKind::SendRecv, 2, 8));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program.connect({Rank(1), 0}, {Rank(0), 0});
  program.set_scratch(Rank(0), 16_B);
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).to(scratch(2_B)));
  program.add(Rank(0), 0, step(8_B).from(scratch(2_B)).send(there.send));
  program.add(Rank(1), 0, step(8_B).from(input(0_B)).send(back.send));
  program.add(Rank(0), 0, step(8_B).receive(back.receive).to(output(0_B)));
  program.add(Rank(1), 0, step(8_B).receive(there.receive).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::MissingData, 0, 0, 1,
                  "rank 0, lane 0, step 1, reads scratch byte 6, which nothing has written");
}

TEST_CASE("a contribution that is reduced twice is a duplicate") {
  TableProgram program(call_of(CollectiveKind::Reduce, 2, 4));
  const auto there = program.connect({Rank(1), 0}, {Rank(0), 0});
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(there.send));
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(there.send));
  program.add(Rank(0), 0, step(4_B).receive(there.receive).from(input(0_B)).to(output(0_B)));
  program.add(Rank(0), 0, step(4_B).receive(there.receive).from(output(0_B)).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::Duplicate, 0, 0, 1,
                  "rank 0, lane 0, step 1, reduces the contribution of rank 1 twice: byte 0 of the "
                  "input of rank 1 with that of ranks 0-1");
}

TEST_CASE("reducing one element with another is named with both") {
  TableProgram program(call_of(CollectiveKind::Reduce, 2, 8));
  const auto there = program.connect({Rank(1), 0}, {Rank(0), 0});
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(there.send));
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(there.send));  // should be 4
  program.add(Rank(0), 0, step(4_B).receive(there.receive).from(input(0_B)).to(output(0_B)));
  program.add(Rank(0), 0, step(4_B).receive(there.receive).from(input(4_B)).to(output(4_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::MixedElements, 0, 0, 1,
                  "rank 0, lane 0, step 1, reduces different elements: byte 0 of the input of rank "
                  "1 with byte 4 of the input of rank 0");
}

TEST_CASE("a message that nobody receives is named at its sender") {
  TableProgram program = exchange();
  program.add(Rank(0), 0, step(8_B).from(input(0_B)).send(0));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::UnmatchedMessage, 0, 0, 2,
                  "rank 0, lane 0, step 2, sends a message to rank 1, lane 0, which ends without "
                  "receiving it");
}

TEST_CASE("a message of another size than expected is named at its receiver") {
  TableProgram program(call_of(CollectiveKind::Broadcast, 2, 8));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(8_B).from(input(0_B)).to(output(0_B)).send(there.send));
  program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::UnmatchedMessage, 1, 0, 0,
                  "rank 1, lane 0, step 0, receives 4 bytes from rank 0, lane 0, whose step 0 "
                  "sends 8");
}

TEST_CASE("out of place the input stays as it is") {
  TableProgram program = exchange();
  program.add(Rank(1), 0, step(4_B).from(output(0_B)).to(input(2_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::BadProgram, 1, 0, 2,
                  "rank 1, lane 0, step 2, writes its input buffer, which must stay as it is");
}

TEST_CASE("a rank that has no output keeps its input even in place") {
  TableProgram program(call_of(CollectiveKind::Reduce, 2, 4, InPlace::Yes));
  const auto there = program.connect({Rank(1), 0}, {Rank(0), 0});
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).to(input(0_B)).send(there.send));
  program.add(Rank(0), 0, step(4_B).receive(there.receive).from(input(0_B)).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::BadProgram, 1, 0, 0,
                  "rank 1, lane 0, step 0, writes its input buffer, which must stay as it is");
}

TEST_CASE("steps that make no sense are bad programs") {
  TableProgram program = exchange();
  std::string text;
  std::uint64_t at = 2;
  SECTION("a span beyond the buffer") {
    program.add(Rank(0), 0, step(8_B).from(input(0_B)).to(output(4_B)));
    text = "output: has a span over bytes 4-11 of a buffer of 8";
  }
  SECTION("a span of another length than the messages") {
    Step bad = step(8_B).from(input(0_B)).to(output(0_B));
    bad.source->total = 4_B;
    program.add(Rank(0), 0, bad);
    text = "input: has a span of 4 bytes for messages of 8";
  }
  SECTION("runs that overlap") {
    Step bad = step(8_B).from(output(0_B)).to(output(0_B));
    bad.source->run = 4_B;
    bad.source->stride = 2_B;
    program.add(Rank(0), 0, bad);
    text = "output: has a span whose runs of 4 bytes overlap at a stride of 2";
  }
  SECTION("a value from nowhere") {
    program.add(Rank(0), 0, step(8_B).to(output(0_B)));
    text = "writes or sends a value but takes none from anywhere";
  }
  SECTION("a phase that falls") {
    program.add(Rank(0), 0, step(0_B).phase(2));
    program.add(Rank(0), 0, step(0_B).phase(1));
    text = "has phase 1 after phase 2: the phases of a lane must not fall";
    at = 3;
  }
  SECTION("a dependency on a lane that does not exist") {
    program.add(Rank(0), 0, step(0_B).after(1, 0));
    text = "comes after step 0 of lane 1, which does not exist";
  }
  SECTION("a dependency on a step that does not exist") {
    program.add(Rank(0), 0, step(0_B).after(0, 7));
    text = "comes after step 7 of lane 0, which does not exist";
  }
  SECTION("a join of nobody") {
    program.add(Rank(0), 0, step(0_B).join(4));
    text = "joins group 4, which has no lane";
  }
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::BadProgram, 0, 0, at,
                  "rank 0, lane 0, step " + std::to_string(at) + ", " + text);
}

TEST_CASE("connections whose ends contradict each other are bad programs") {
  TableProgram program(call_of(CollectiveKind::Broadcast, 3, 4));
  const auto slots = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).send(slots.send));
  program.add(Rank(1), 0, step(4_B).receive(slots.receive).to(output(0_B)));
  std::string text;
  SECTION("the receiver listens to another slot") {
    program.receives(Rank(1), 0)[0].slot = 3;
    text = "sends to slot 0 of rank 1, lane 0, which receives from slot 3 of rank 0, lane 0";
  }
  SECTION("the peer does not exist") {
    program.sends(Rank(0), 0)[0].lane = 5;
    text = "is connected to slot 0 of rank 1, lane 5, which does not exist";
  }
  SECTION("the peer is the rank itself") {
    program.sends(Rank(0), 0)[0].peer = Rank(0);
    text = "is connected to slot 0 of rank 0, lane 0, which is its own rank";
  }
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::BadProgram, 0, 0, 0, "rank 0, lane 0, step 0, " + text);
}

TEST_CASE("no more failures than asked for are reported") {
  TableProgram program(call_of(CollectiveKind::AllGather, 4, 4));
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    program.add(Rank(rank), 0, step(0_B));
  }
  CHECK(check_program(program, 3).failures.size() == 3);
  // Each rank misses all four blocks: one range a rank.
  CHECK(check_program(program).failures.size() == 4);
}

TEST_CASE("numbers move as the program says") {
  // Strided spans: rank 0 sends elements 0, 2, 4, 6; rank 1 puts them at 1, 3, 5, 7, and its own
  // elements 0, 2, 4, 6 between them.
  TableProgram program(call_of(CollectiveKind::Broadcast, 2, 8));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  Step send = step(4_B).from(input(0_B)).send(there.send);
  send.source->run = 1_B;
  send.source->stride = 2_B;
  Step receive = step(4_B).receive(there.receive).to(output(1_B));
  receive.destination->run = 1_B;
  receive.destination->stride = 2_B;
  program.add(Rank(0), 0, send);
  program.add(Rank(1), 0, receive);
  using Outputs = std::vector<std::vector<std::optional<double>>>;
  const std::optional<double> absent;
  const Outputs outputs = interpret_program(program, {{10, 11, 12, 13, 14, 15, 16, 17}, {}});
  CHECK(outputs[1] ==
        std::vector<std::optional<double>>{absent, 10, absent, 12, absent, 14, absent, 16});
}

TEST_CASE("interpreting a program that cannot finish throws who waits for whom") {
  TableProgram program = exchange();
  program.add(Rank(1), 0, step(8_B).receive(0).to(output(0_B)));
  const std::vector<std::vector<double>> inputs(2, std::vector<double>(8, 1));
  CHECK_THROWS_WITH(interpret_program(program, inputs),
                    "rank 1, lane 0, step 2, waits for a message from rank 0, lane 0, which has "
                    "ended");
  CHECK_THROWS_AS(interpret_program(program, inputs), SimulationError);
}

TEST_CASE("inputs of the wrong shape are the caller's fault") {
  CHECK_THROWS_WITH(interpret_program(exchange(), {{1}}), "expected the inputs of 2 ranks, got 1");
  CHECK_THROWS_WITH(interpret_program(exchange(), {{1, 2, 3, 4, 5, 6, 7, 8}, {1}}),
                    "expected 8 elements in the input of rank 1, got 1");
}
