// What the executor on threads says of programs that cannot finish or give wrong data.

#include <memory>

#include "algorithms/table.hpp"
#include "tests/algorithms/faulty_program.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"
#include "tests/validate/host/executed.hpp"
#include "validate/execution/execution_error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// The text of the error of building and running; empty: none.
std::string failure_of(std::shared_ptr<const Program> program) {
  try {
    HostOptions options;
    options.patience = std::chrono::milliseconds(1500);
    HostExecution(std::move(program), options).run(1);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Both ranks send their input and receive the output, in one lane; `sends_first` by rank.
std::shared_ptr<TableProgram> exchange(bool first_sends_first, bool second_sends_first) {
  auto program = std::make_shared<TableProgram>(exchange_of_two());
  const auto there = program->connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program->connect({Rank(1), 0}, {Rank(0), 0});
  const auto add = [&](Rank rank, bool sends_first, std::uint32_t send, std::uint32_t receive) {
    const Step sending = step(4_B).from(input(0_B)).send(send);
    const Step receiving = step(4_B).receive(receive).to(output(0_B));
    program->add(rank, 0, sends_first ? sending : receiving);
    program->add(rank, 0, sends_first ? receiving : sending);
  };
  add(Rank(0), first_sends_first, there.send, back.receive);
  add(Rank(1), second_sends_first, back.send, there.receive);
  return program;
}

}  // namespace

TEST_CASE("a deadlock ends, and says who waits for whom") {
  CHECK(failure_of(exchange(true, false)).empty());
  CHECK(
      failure_of(exchange(false, false)) ==
      "nothing moved for 1500 ms; rank 0, lane 0, step 0, waits for a message from rank 1, lane 0; "
      "rank 1, lane 0, step 0, waits for a message from rank 0, lane 0");
}

TEST_CASE("a FIFO without room holds the sender, and is said to") {
  // Rank 0 sends two messages before it receives; rank 1 does the same: with one slot each both wait for room.
  auto program = std::make_shared<TableProgram>(exchange_of_two());
  Lane shallow;
  shallow.fifo_depth = 1;
  program->set_lanes(shallow);
  const auto there = program->connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program->connect({Rank(1), 0}, {Rank(0), 0});
  for (const auto& [rank, send, receive] : {std::tuple(Rank(0), there.send, back.receive),
                                            std::tuple(Rank(1), back.send, there.receive)}) {
    program->add(rank, 0, step(2_B).from(input(0_B)).send(send));
    program->add(rank, 0, step(2_B).from(input(2_B)).send(send));
    program->add(rank, 0, step(2_B).receive(receive).to(output(0_B)));
    program->add(rank, 0, step(2_B).receive(receive).to(output(2_B)));
  }
  CHECK(failure_of(program) ==
        "nothing moved for 1500 ms; rank 0, lane 0, step 1, waits for a free FIFO slot at rank 1, "
        "lane 0; "
        "rank 1, lane 0, step 1, waits for a free FIFO slot at rank 0, lane 0");
}

TEST_CASE("a step takes its messages before it waits for room, as the data checker lets it") {
  // A circle of two that both forward what they receive: FIFOs of one slot that are full on both sides move on only if
  // a rank takes its message before there is room for the next.
  auto program = std::make_shared<TableProgram>(exchange_of_two());
  Lane shallow;
  shallow.fifo_depth = 1;
  program->set_lanes(shallow);
  const auto there = program->connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program->connect({Rank(1), 0}, {Rank(0), 0});
  for (const auto& [rank, send, receive] : {std::tuple(Rank(0), there.send, back.receive),
                                            std::tuple(Rank(1), back.send, there.receive)}) {
    program->add(rank, 0, step(4_B).from(input(0_B)).send(send));
    program->add(rank, 0, step(4_B).receive(receive).send(send));
    program->add(rank, 0, step(4_B).receive(receive).send(send));
    program->add(rank, 0, step(4_B).receive(receive).to(output(0_B)));
  }
  CHECK(failure_of(program).empty());
  // Three hops on a circle of two: each rank ends with the other's input, as send_recv promises.
  CHECK(wrong_after_run(program).empty());
}

TEST_CASE("a message of the wrong size is told") {
  auto program = std::make_shared<TableProgram>(exchange_of_two());
  const auto there = program->connect({Rank(0), 0}, {Rank(1), 0});
  program->add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
  program->add(Rank(1), 0, step(3_B).receive(there.receive).to(output(0_B)));
  CHECK(failure_of(program) ==
        "rank 1, lane 0, step 0, receives 4 bytes from rank 0, lane 0 instead of 3");
}

TEST_CASE("ends of a connection that do not match are refused before anything runs") {
  ProgramRequest request;
  request.call.ranks = 3;
  request.call.count = 6;
  FaultyProgram faulty(build_program(find_algorithm("ring"), request));
  faulty.drop({1, 0, 1});
  const auto shared = std::shared_ptr<const Program>(&faulty, [](const Program*) {});
  // The reduce-scatter of 3 ranks sends 2 messages on each connection; one step of rank 1 is gone, which received one.
  CHECK(failure_of(shared) ==
        "rank 0, lane 0, sends 2 messages to rank 1, lane 0, which receives 1");
}

TEST_CASE("wrong data are found, with rank, element and both values") {
  auto program = std::make_shared<TableProgram>(exchange_of_two());
  const auto there = program->connect({Rank(0), 0}, {Rank(1), 0});
  program->add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
  program->add(Rank(0), 1,
               step(4_B).from(input(0_B)).to(output(0_B)));  // its own instead of the other's
  program->add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  const std::string wrong = wrong_after_run(program);
  CAPTURE(wrong);
  CHECK(wrong.starts_with("rank 0, element 0: expected "));
  CHECK(wrong.ends_with(" (and 3 more)"));
}

TEST_CASE("an output that nobody writes is poison, not what was there before") {
  auto program = std::make_shared<TableProgram>(exchange_of_two());
  const auto there = program->connect({Rank(0), 0}, {Rank(1), 0});
  program->add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
  program->add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
  // 0xa5 = 165 is what memory is poisoned with.
  const std::string wrong = wrong_after_run(program);
  CAPTURE(wrong);
  CHECK(wrong.starts_with("rank 0, element 0: expected "));
  CHECK(wrong.ends_with(", found 165 (and 3 more)"));
}
