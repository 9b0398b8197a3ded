// Faults planted in correct programs: the data checker finds each and names rank, lane and step.
//
// All programs run out of place on elements of one byte, so that a position is an element.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/table.hpp"
#include "tests/algorithms/faulty_program.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using test::At;
using test::FaultyProgram;
using Kind = CheckFailure::Kind;

namespace {

ProgramRequest request_for(CollectiveKind kind, std::uint32_t ranks, std::int64_t count) {
  ProgramRequest request;
  request.call.kind = kind;
  request.call.ranks = ranks;
  request.call.count = count;
  request.call.type = DataType::Uint8;
  request.call.in_place = InPlace::No;
  return request;
}

std::unique_ptr<Program> program_of(std::string_view algorithm, CollectiveKind kind,
                                    std::uint32_t ranks, std::int64_t count) {
  return build_program(find_algorithm(algorithm), request_for(kind, ranks, count));
}

struct Expected {
  Kind kind = Kind::WrongData;
  At at;
  std::string text;
};

void require_failures(const Program& program, const std::vector<Expected>& expected) {
  const CheckReport report = check_program(program);
  REQUIRE(report.failures.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const CheckFailure& failure = report.failures[i];
    CHECK(std::string(name_of(failure.kind)) == std::string(name_of(expected[i].kind)));
    CHECK(failure.rank == Rank(expected[i].at.rank));
    CHECK(failure.lane == expected[i].at.lane);
    CHECK(failure.step == expected[i].at.step);
    CHECK(failure.text == expected[i].text);
  }
}

}  // namespace

// The ring all_gather of 4 ranks: in step 0 rank r sends its own block; in step k it receives block
// r - k, keeps it and, but for the last step, sends it on.

TEST_CASE("a dropped last step leaves a message over and a block unwritten") {
  // Step 3 of rank 2 receives block 2 - 3 = 3 (modulo 4) from step 2 of rank 1.
  FaultyProgram program(program_of("ring", CollectiveKind::AllGather, 4, 1));
  program.drop({2, 0, 3});
  require_failures(program,
                   {{Kind::UnmatchedMessage,
                     {1, 0, 2},
                     "rank 1, lane 0, step 2, sends a message to rank 2, lane 0, which ends "
                     "without receiving it"},
                    {Kind::MissingData,
                     {2, 0, 3},
                     "rank 2, lane 0, step 3, is the end of a rank that never writes its output "
                     "byte 3"}});
}

TEST_CASE("a dropped step in the middle starves the next rank and leaves a message over") {
  // Without step 2, rank 2 takes two messages of three (those of steps 0 and 1 of rank 1, in its
  // steps 1 and 3) and sends two of three (in steps 0 and 1).
  FaultyProgram program(program_of("ring", CollectiveKind::AllGather, 4, 1));
  program.drop({2, 0, 2});
  require_failures(program,
                   {{Kind::Deadlock,
                     {3, 0, 3},
                     "rank 3, lane 0, step 3, waits for a message from rank 2, lane 0, which has "
                     "ended"},
                    {Kind::UnmatchedMessage,
                     {1, 0, 2},
                     "rank 1, lane 0, step 2, sends a message to rank 2, lane 0, which ends "
                     "without receiving it"}});
}

TEST_CASE("two swapped destinations are two blocks of wrong data, each named by its writer") {
  // Rank 1 receives block 0 in step 1 and block 3 in step 2. What it sends on is the value, not what
  // it wrote, so nobody else suffers.
  FaultyProgram program(program_of("ring", CollectiveKind::AllGather, 4, 1));
  program.change({1, 0, 1}, [](Step& step) { step.destination->offset = Bytes(3); });
  program.change({1, 0, 2}, [](Step& step) { step.destination->offset = Bytes(0); });
  require_failures(program,
                   {{Kind::WrongData,
                     {1, 0, 2},
                     "rank 1, lane 0, step 2, leaves byte 0 of the input of rank 3 in output byte "
                     "0 instead of byte 0 of the input of rank 0"},
                    {Kind::WrongData,
                     {1, 0, 1},
                     "rank 1, lane 0, step 1, leaves byte 0 of the input of rank 0 in output byte "
                     "3 instead of byte 0 of the input of rank 3"}});
}

// The ring reduce_scatter of 4 ranks: in step k rank r adds its contribution to block r - k - 1 to
// what it received and sends the sum on; in the last one it keeps it.

TEST_CASE("a swapped source is a reduction of different elements") {
  // Step 1 of rank 1 has to do with block 1 - 2 = 3, and rank 0 sent its contribution to that.
  FaultyProgram program(program_of("ring", CollectiveKind::ReduceScatter, 4, 1));
  program.change({1, 0, 1}, [](Step& step) { step.source->offset = Bytes(2); });
  require_failures(program,
                   {{Kind::MixedElements,
                     {1, 0, 1},
                     "rank 1, lane 0, step 1, reduces different elements: byte 3 of the input of "
                     "rank 0 with byte 2 of the input of rank 1"}});
}

TEST_CASE("a double reduction is found where it happens") {
  SECTION("ring") {
    FaultyProgram program(program_of("ring", CollectiveKind::ReduceScatter, 4, 1));
    program.change({1, 0, 1}, [](Step& step) { step.operand = step.source; });
    require_failures(program,
                     {{Kind::Duplicate,
                       {1, 0, 1},
                       "rank 1, lane 0, step 1, reduces the contribution of rank 1 twice: byte 3 "
                       "of the input of ranks 0-1 with that of rank 1"}});
  }
  SECTION("tree") {
    // The binomial tree from rank 0: children 2 and 1; rank 3 is the child of 2.
    FaultyProgram program(program_of("tree", CollectiveKind::Reduce, 4, 1));
    program.change({2, 0, 0}, [](Step& step) { step.operand = step.source; });
    require_failures(program,
                     {{Kind::Duplicate,
                       {2, 0, 0},
                       "rank 2, lane 0, step 0, reduces the contribution of rank 2 twice: byte 0 "
                       "of the input of ranks 2-3 with that of rank 2"}});
  }
}

TEST_CASE("an unmatched send is found where it happens") {
  FaultyProgram program(program_of("ring", CollectiveKind::ReduceScatter, 4, 1));
  program.change({2, 0, 3}, [](Step& step) { step.sends = {0, 1}; });
  require_failures(program,
                   {{Kind::UnmatchedMessage,
                     {2, 0, 3},
                     "rank 2, lane 0, step 3, sends a message to rank 3, lane 0, which ends "
                     "without receiving it"}});
}

TEST_CASE("a read that waits for one block but not for another is a race") {
  // The naive all_gather of 3 ranks: lane l of rank 0 receives the block of rank l + 1 (lane 0 after
  // it has copied its own); then, after a join, it sends the whole buffer to that rank.
  FaultyProgram program(program_of("naive", CollectiveKind::AllGather, 3, 1));
  program.change({0, 0, 2}, [](Step& step) { step.join.reset(); });
  require_failures(program,
                   {{Kind::Race,
                     {0, 0, 2},
                     "rank 0, lane 0, step 2, reads output byte 2, which lane 1, step 0, writes, "
                     "and nothing orders the two"}});
}

TEST_CASE("a read before arrival is missing data and a race") {
  // The direct all_reduce of 3 ranks: lanes 0 and 1 of rank 1 send, lane 2 adds up block 1; then,
  // after a join, lanes 0 and 1 send that block.
  FaultyProgram program(program_of("direct", CollectiveKind::AllReduce, 3, 3));
  program.change({1, 0, 1}, [](Step& step) { step.join.reset(); });
  require_failures(program,
                   {{Kind::MissingData,
                     {1, 0, 1},
                     "rank 1, lane 0, step 1, reads output byte 1, which nothing has written"},
                    {Kind::Race,
                     {1, 2, 0},
                     "rank 1, lane 2, step 0, writes output byte 1, which lane 0, step 1, reads, "
                     "and nothing orders the two"}});
}

TEST_CASE("a pipeline that does not wait for its data is found") {
  // The tree all_reduce of 2 ranks in 2 chunks: lane 0 of rank 0 reduces a chunk a step, lane 1
  // broadcasts it after a join.
  ProgramRequest request = request_for(CollectiveKind::AllReduce, 2, 2);
  request.chunks = 2;
  FaultyProgram program(build_program(find_algorithm("tree"), request));
  program.change({0, 1, 1}, [](Step& step) { step.join.reset(); });
  const CheckReport report = check_program(program);
  REQUIRE_FALSE(report.ok());
  // Whichever of the two steps the walk runs first, the other one completes the race.
  bool found = false;
  for (const CheckFailure& failure : report.failures) {
    found = found || (failure.kind == Kind::Race && failure.rank == Rank(0) && failure.step == 1 &&
                      failure.lane <= 1);
  }
  CHECK(found);
}

TEST_CASE("a cycle of waits through all ranks is told in order") {
  // The ring broadcast from rank 0, where the root waits for the last rank before it sends.
  FaultyProgram program(program_of("ring", CollectiveKind::Broadcast, 4, 1));
  program.change({0, 0, 0}, [](Step& step) { step.receives = {0, 1}; });
  require_failures(program,
                   {{Kind::Deadlock,
                     {0, 0, 0},
                     "a cycle of waits: rank 0, lane 0, step 0, waits for a message from rank 3, "
                     "lane 0; rank 3, lane 0, step 0, waits for a message from rank 2, lane 0; "
                     "rank 2, lane 0, step 0, waits for a message from rank 1, lane 0; rank 1, "
                     "lane 0, step 0, waits for a message from rank 0, lane 0"}});
}

TEST_CASE("a cycle of waits between the lanes of one rank is told") {
  // The direct all_gather of 3 ranks: lane 0 of rank 1 copies, sends, receives; lane 1 sends,
  // receives. Ranks 0 and 2 wait for what lanes 0 and 1 would have sent.
  FaultyProgram program(program_of("direct", CollectiveKind::AllGather, 3, 1));
  program.change({1, 0, 1}, [](Step& step) { step.after = StepRef{1, 0}; });
  program.change({1, 1, 0}, [](Step& step) { step.after = StepRef{0, 1}; });
  require_failures(program,
                   {{Kind::Deadlock,
                     {1, 0, 1},
                     "a cycle of waits: rank 1, lane 0, step 1, waits for step 0 of lane 1; rank "
                     "1, lane 1, step 0, waits for step 1 of lane 0"},
                    {Kind::Deadlock,
                     {0, 1, 1},
                     "rank 0, lane 1, step 1, waits for a message from rank 1, lane 1, which is "
                     "blocked at step 0"},
                    {Kind::Deadlock,
                     {2, 0, 2},
                     "rank 2, lane 0, step 2, waits for a message from rank 1, lane 0, which is "
                     "blocked at step 1"}});
}

namespace {

/// Calls visit(place, step) for all steps of a program that move data. (Uneven nodes leave steps of
/// 0 bytes, which may do what they like.)
void for_each_step(const Program& program, const std::function<void(At, const Step&)>& visit) {
  for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < program.lane_count(Rank(rank)); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(Rank(rank), lane); ++index) {
        const Step step = program.step(Rank(rank), lane, index);
        if (step.bytes > Bytes(0)) {
          visit({rank, lane, index}, step);
        }
      }
    }
  }
}

/// Calls visit(program) for every algorithm and collective on 5 ranks, whole and in parts.
void for_each_program(const std::function<void(const Program&)>& visit) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const CollectiveKind kind : algorithm.collectives) {
      ProgramRequest request = request_for(kind, 5, 20);
      request.call.root = has_root(kind) ? Rank(1) : Rank(0);
      for (const std::uint32_t node : {0U, 0U, 1U, 1U, 1U}) {
        request.node_of_rank.emplace_back(node);
      }
      for (const std::uint32_t parts : {1U, 2U}) {
        request.channels = parts;
        request.chunks = parts;
        if (algorithm.obstacle(request)) {
          continue;
        }
        const auto program = build_program(algorithm, request);
        CAPTURE(algorithm.name, name_of(kind), parts);
        REQUIRE(check_program(*program).ok());
        visit(*program);
      }
    }
  }
}

/// The change must be found, wherever the fault shows.
void require_found(const Program& program, At at, const FaultyProgram::Change& change,
                   std::uint64_t& planted) {
  FaultyProgram faulty(program);
  faulty.change(at, change);
  ++planted;
  const CheckReport report = check_program(faulty, 1);
  if (!report.ok()) {
    return;
  }
  CAPTURE(at.rank, at.lane, at.step);
  CHECK_FALSE(report.ok());
}

}  // namespace

TEST_CASE("no step that moves data can be dropped from any program unnoticed") {
  std::uint64_t planted = 0;
  for_each_program([&](const Program& program) {
    for_each_step(program, [&](At at, const Step&) {
      FaultyProgram faulty(program);
      faulty.drop(at);
      ++planted;
      const CheckReport report = check_program(faulty, 1);
      CAPTURE(at.rank, at.lane, at.step);
      if (report.ok()) {
        CHECK_FALSE(report.ok());
      }
    });
  });
  CHECK(planted > 1000);
}

TEST_CASE("no destination or send can be left out of any step unnoticed") {
  std::uint64_t planted = 0;
  for_each_program([&](const Program& program) {
    for_each_step(program, [&](At at, const Step& step) {
      // A copy in scratch of what is sent anyway may be one that nobody reads.
      const bool spare =
          step.sends.count > 0 && step.destination && step.destination->buffer == Buffer::Scratch;
      if (step.destination && !spare) {
        require_found(
            program, at, [](Step& changed) { changed.destination.reset(); }, planted);
      }
      if (step.sends.count > 0) {
        require_found(
            program, at, [](Step& changed) { changed.sends.count -= 1; }, planted);
      }
    });
  });
  CHECK(planted > 1000);
}

TEST_CASE("no source can be moved by one element unnoticed") {
  std::uint64_t planted = 0;
  for_each_program([&](const Program& program) {
    for_each_step(program, [&](At at, const Step& step) {
      if (!step.source) {
        return;
      }
      for (const Bytes shift : {Bytes(1), Bytes(-1)}) {
        require_found(
            program, at, [&](Step& changed) { changed.source->offset += shift; }, planted);
      }
    });
  });
  CHECK(planted > 1000);
}

TEST_CASE("every contribution that is reduced twice is found in the step that does it") {
  std::uint64_t planted = 0;
  for_each_program([&](const Program& program) {
    if (!reduces(program.call().kind)) {
      return;
    }
    for_each_step(program, [&](At at, const Step& step) {
      if (!step.source || step.operand) {
        return;
      }
      FaultyProgram faulty(program);
      faulty.change(at, [](Step& changed) { changed.operand = changed.source; });
      ++planted;
      const CheckReport report = check_program(faulty, 1);
      CAPTURE(at.rank, at.lane, at.step);
      REQUIRE(report.failures.size() == 1);
      const CheckFailure& failure = report.failures[0];
      const bool named = failure.kind == Kind::Duplicate && failure.rank == Rank(at.rank) &&
                         failure.lane == at.lane && failure.step == at.step;
      if (!named) {
        CHECK(failure.text.empty());
      }
    });
  });
  CHECK(planted > 100);
}
