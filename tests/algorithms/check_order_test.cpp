// What the data checker finds about who comes before whom: deadlocks, FIFOs, races.

#include "algorithms/check.hpp"
#include "tests/algorithms/check_helpers.hpp"

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

TEST_CASE("a cycle of waits is told step by step, then those who wait for it") {
  // Ranks 0 and 1 both receive first; rank 2 waits for rank 1.
  TableProgram program(call_of(CollectiveKind::SendRecv, 3, 8));
  const auto from_0 = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto from_1 = program.connect({Rank(1), 0}, {Rank(0), 0});
  const auto to_2 = program.connect({Rank(1), 0}, {Rank(2), 0});
  program.add(Rank(0), 0, step(8_B).receive(from_1.receive).to(output(0_B)));
  program.add(Rank(0), 0, step(8_B).from(input(0_B)).send(from_0.send));
  program.add(Rank(1), 0, step(8_B).receive(from_0.receive).to(output(0_B)));
  program.add(Rank(1), 0, step(8_B).from(input(0_B)).send(from_1.send));
  program.add(Rank(1), 0, step(8_B).from(input(0_B)).send(to_2.send));
  program.add(Rank(2), 0, step(8_B).receive(to_2.receive).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 2);
  require_failure(report.failures[0], Kind::Deadlock, 0, 0, 0,
                  "a cycle of waits: rank 0, lane 0, step 0, waits for a message from rank 1, lane "
                  "0; rank 1, lane 0, step 0, waits for a message from rank 0, lane 0");
  require_failure(report.failures[1], Kind::Deadlock, 2, 0, 0,
                  "rank 2, lane 0, step 0, waits for a message from rank 1, lane 0, which is "
                  "blocked at step 0");
}

TEST_CASE("a lane that waits for one that has ended is named as the cause") {
  TableProgram program = exchange();
  program.add(Rank(1), 0, step(8_B).receive(0).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::Deadlock, 1, 0, 2,
                  "rank 1, lane 0, step 2, waits for a message from rank 0, lane 0, which has "
                  "ended");
}

TEST_CASE("a step that waits for itself is a cycle of one") {
  TableProgram program = exchange();
  program.add(Rank(0), 0, step(0_B).after(0, 2));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::Deadlock, 0, 0, 2,
                  "a cycle of waits: rank 0, lane 0, step 2, waits for step 2 of lane 0");
}

TEST_CASE("joins wait for all lanes of the group, and a lane that cannot get there is named") {
  TableProgram program = exchange();
  program.add(Rank(0), 1, step(0_B).after(0, 1).phase(0));
  program.add(Rank(0), 2, step(0_B).join(0).phase(1));
  CHECK(check_program(program).ok());

  SECTION("lane 1 waits for lane 2, which joins it") {
    TableProgram circular = exchange();
    circular.add(Rank(0), 1, step(0_B).after(2, 0).phase(0));
    circular.add(Rank(0), 2, step(0_B).join(0).phase(1));
    const CheckReport report = check_program(circular);
    REQUIRE(report.failures.size() == 1);
    require_failure(report.failures[0], Kind::Deadlock, 0, 1, 0,
                    "a cycle of waits: rank 0, lane 1, step 0, waits for step 0 of lane 2; rank 0, "
                    "lane 2, step 0, waits for lane 1 to complete the phases below 1");
  }
}

TEST_CASE("a finite FIFO holds back the sender") {
  // Both ranks send two messages before they receive any: fine with two slots, a cycle with one.
  const std::uint32_t depth = GENERATE(1U, 2U);
  TableProgram program(call_of(CollectiveKind::SendRecv, 2, 8));
  for (const std::uint32_t rank : {0U, 1U}) {
    program.connect({Rank(rank), 0}, {Rank(1 - rank), 0});
    program.set_lane(Rank(rank), 0, Lane{0, 0, depth});
    for (const Bytes offset : {0_B, 4_B}) {
      program.add(Rank(rank), 0, step(4_B).from(input(offset)).send(0));
    }
    for (const Bytes offset : {0_B, 4_B}) {
      program.add(Rank(rank), 0, step(4_B).receive(0).to(output(offset)));
    }
  }
  const CheckReport report = check_program(program);
  if (depth == 2) {
    CHECK(report.ok());
    return;
  }
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::Deadlock, 0, 0, 1,
                  "a cycle of waits: rank 0, lane 0, step 1, waits for a free FIFO slot at rank 1, "
                  "lane 0; rank 1, lane 0, step 1, waits for a free FIFO slot at rank 0, lane 0");
}

TEST_CASE("a step frees the slots of its messages before it waits for one of its own") {
  // A ring of forwarders, each with one slot under way: only because a forwarder takes its message
  // first does anybody find a free slot.
  TableProgram program(call_of(CollectiveKind::AllGather, 3, 4));
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    program.connect({Rank(rank), 0}, {Rank((rank + 1) % 3), 0});
    program.set_lane(Rank(rank), 0, Lane{0, 0, 1});
  }
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    auto block = [&](std::uint32_t back) { return output(4_B * ((rank + 3 - back) % 3)); };
    program.add(Rank(rank), 0, step(4_B).from(input(0_B)).to(block(0)).send(0));
    program.add(Rank(rank), 0, step(4_B).receive(0).to(block(1)).send(0));
    program.add(Rank(rank), 0, step(4_B).receive(0).to(block(2)));
  }
  CHECK(check_program(program).ok());
}

TEST_CASE("two lanes that touch the same bytes without an order race") {
  // Lane 0 receives into the output, lane 1 copies it on to scratch.
  TableProgram program(call_of(CollectiveKind::Broadcast, 2, 8));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  program.set_scratch(Rank(1), 8_B);
  program.add(Rank(0), 0, step(8_B).from(input(0_B)).to(output(0_B)).send(there.send));
  program.add(Rank(1), 0, step(8_B).receive(there.receive).to(output(0_B)));

  SECTION("ordered by after") {
    program.add(Rank(1), 1, step(8_B).after(0, 0).from(output(0_B)).to(scratch(0_B)));
    CHECK(check_program(program).ok());
  }
  SECTION("ordered by a join") {
    program.add(Rank(1), 1, step(8_B).phase(1).join(0).from(output(0_B)).to(scratch(0_B)));
    CHECK(check_program(program).ok());
  }
  SECTION("not ordered: a write that comes late") {
    program.add(Rank(1), 0, step(4_B).from(output(0_B)).to(output(4_B)));
    program.add(Rank(1), 1, step(8_B).after(0, 0).from(output(0_B)).to(scratch(0_B)));
    const CheckReport report = check_program(program);
    // The walk runs lane 1 first; the same race is found either way. What the late step leaves in
    // the output is wrong besides.
    REQUIRE(report.failures.size() == 2);
    require_failure(report.failures[0], Kind::Race, 1, 0, 1,
                    "rank 1, lane 0, step 1, writes output bytes 4-7, which lane 1, step 0, reads, "
                    "and nothing orders the two");
  }
  SECTION("not ordered, but read after the data arrive") {
    program.add(Rank(1), 1, step(8_B).from(output(0_B)).to(scratch(0_B)));
    const CheckReport report = check_program(program);
    REQUIRE(report.failures.size() == 1);
    require_failure(report.failures[0], Kind::Race, 1, 1, 0,
                    "rank 1, lane 1, step 0, reads output bytes 0-7, which lane 0, step 0, writes, "
                    "and nothing orders the two");
  }
  SECTION("not ordered, and read before the data arrive") {
    // The sender has a step more, so that the reader comes first.
    TableProgram late(call_of(CollectiveKind::Broadcast, 2, 8));
    const auto slots = late.connect({Rank(0), 0}, {Rank(1), 0});
    late.set_scratch(Rank(1), 8_B);
    late.add(Rank(0), 0, step(8_B).from(input(0_B)).to(output(0_B)));
    late.add(Rank(0), 0, step(8_B).from(input(0_B)).send(slots.send));
    late.add(Rank(1), 0, step(8_B).receive(slots.receive).to(output(0_B)));
    late.add(Rank(1), 1, step(8_B).from(output(0_B)).to(scratch(0_B)));
    const CheckReport report = check_program(late);
    REQUIRE(report.failures.size() == 2);
    require_failure(report.failures[0], Kind::MissingData, 1, 1, 0,
                    "rank 1, lane 1, step 0, reads output byte 0, which nothing has written");
    require_failure(report.failures[1], Kind::Race, 1, 0, 0,
                    "rank 1, lane 0, step 0, writes output bytes 0-7, which lane 1, step 0, reads, "
                    "and nothing orders the two");
  }
}

TEST_CASE("an order that only another rank's messages ensure counts as a race") {
  // Rank 0, lane 0 reads its scratch and sends it to rank 1; the answer arrives in lane 1, which
  // overwrites the scratch.
  TableProgram program(call_of(CollectiveKind::SendRecv, 2, 4));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program.connect({Rank(1), 0}, {Rank(0), 1});
  program.set_scratch(Rank(0), 4_B);
  program.add(Rank(0), 0, step(4_B).from(input(0_B)).to(scratch(0_B)));
  program.add(Rank(0), 0, step(4_B).from(scratch(0_B)).send(there.send));
  program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(back.send));
  program.add(Rank(0), 1, step(4_B).receive(back.receive).to(scratch(0_B)));
  program.add(Rank(0), 1, step(4_B).from(scratch(0_B)).to(output(0_B)));
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == 1);
  require_failure(report.failures[0], Kind::Race, 0, 1, 0,
                  "rank 0, lane 1, step 0, writes scratch bytes 0-3, which lane 0, step 0, writes, "
                  "and nothing orders the two");
}
