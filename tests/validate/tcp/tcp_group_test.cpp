// Programs over TCP: right data, and what is said when a peer is lost, late, or speaks out of turn.

#include "validate/tcp/tcp_group.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/table.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"
#include "tests/validate/tcp/group_of_threads.hpp"
#include "validate/execution/execution_error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;
using namespace std::chrono_literals;

namespace {

ExecutionRequest once() {
  ExecutionRequest request;
  request.warmup = 1;
  request.timed = 2;
  request.patience = 60s;
  return request;
}

/// All algorithms that have the collective, one after the other in the same group; by rank what was wrong.
std::vector<std::string> run_all(CollectiveKind kind, std::uint32_t ranks, std::int64_t count) {
  GroupOfThreads group(ranks);
  return group.run([&](const TcpPlace& place) {
    TcpGroup tcp(place);
    for (const Algorithm& algorithm : algorithms()) {
      ProgramRequest request;
      request.call.kind = kind;
      request.call.ranks = ranks;
      request.call.count = count;
      request.call.root = Rank(ranks - 1);
      request.call.in_place = InPlace::No;
      request.chunks = 2;
      if (!implements(algorithm, kind) || algorithm.obstacle(request)) {
        continue;
      }
      const ExecutionOutcome outcome = tcp.execute(*build_program(algorithm, request), once());
      if (!outcome.wrong.empty() || outcome.time <= Duration(0)) {
        return std::string(algorithm.name) + ": " +
               (outcome.wrong.empty() ? "no time" : outcome.wrong.front().text());
      }
    }
    return std::string("right");
  });
}

}  // namespace

TEST_CASE("every algorithm gives the right data over TCP") {
  for (const CollectiveKind kind :
       {CollectiveKind::Broadcast, CollectiveKind::Scatter, CollectiveKind::Gather,
        CollectiveKind::Reduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
        CollectiveKind::AllReduce, CollectiveKind::AllToAll, CollectiveKind::SendRecv}) {
    CHECK(run_all(kind, 4, 1001) == std::vector<std::string>(4, "right"));
  }
  CHECK(run_all(CollectiveKind::AllReduce, 3, 300'000) == std::vector<std::string>(3, "right"));
  CHECK(run_all(CollectiveKind::AllReduce, 1, 10) == std::vector<std::string>{"right"});
}

TEST_CASE("wrong data are known to all ranks") {
  GroupOfThreads group(2);
  const auto texts = group.run([](const TcpPlace& place) {
    TableProgram program(exchange_of_two());
    const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
    program.add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
    program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
    const ExecutionOutcome outcome = TcpGroup(place).execute(program, once());
    return std::to_string(outcome.wrong_elements()) + " of rank " +
           std::to_string(outcome.wrong.front().rank.value()) + ", found " +
           outcome.wrong.front().found;
  });
  // Rank 0 receives nothing: its output is what memory is poisoned with, 0xa5.
  CHECK(texts == std::vector<std::string>(2, "4 of rank 0, found 165"));
}

TEST_CASE("a peer that goes is told") {
  GroupOfThreads group(2);
  const auto texts = group.run([](const TcpPlace& place) {
    TcpGroup tcp(place);
    tcp.meet();
    if (place.rank == 0) {
      ProgramRequest request;
      request.call = exchange_of_two();
      static_cast<void>(tcp.execute(*build_program(find_algorithm("direct"), request), once()));
    }
    return std::string("gone");
  });
  CHECK(texts == std::vector<std::string>{"lost rank 1: it closed the connection", "gone"});
}

TEST_CASE("a deadlock over TCP ends, and says who waits for whom") {
  GroupOfThreads group(2);
  const auto texts = group.run([](const TcpPlace& place) {
    TableProgram program(exchange_of_two());
    const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
    const auto back = program.connect({Rank(1), 0}, {Rank(0), 0});
    program.add(Rank(0), 0, step(4_B).receive(back.receive).to(output(0_B)));
    program.add(Rank(0), 0, step(4_B).from(input(0_B)).send(there.send));
    program.add(Rank(1), 0, step(4_B).receive(there.receive).to(output(0_B)));
    program.add(Rank(1), 0, step(4_B).from(input(0_B)).send(back.send));
    ExecutionRequest request = once();
    // Rank 1 waits longer, so that the first one to give up is known.
    request.patience = place.rank == 0 ? 1500ms : 60'000ms;
    static_cast<void>(TcpGroup(place).execute(program, request));
    return std::string("done");
  });
  CHECK(texts[0] ==
        "rank 0: nothing moved for 1500 ms; rank 0, lane 0, step 0, waits for a message from rank "
        "1, lane 0");
  CHECK(texts[1] ==
        "lost rank 0: it closed the connection; rank 1, lane 0, step 0, waits for a message from "
        "rank 0, lane 0");
}

TEST_CASE("a peer that runs another program is told") {
  GroupOfThreads group(2);
  const auto texts = group.run([](const TcpPlace& place) {
    CollectiveCall call = exchange_of_two();
    call.count = place.rank == 0 ? 4 : 400;
    TableProgram program(call);
    const auto there = program.connect({Rank(1), 0}, {Rank(0), 0});
    const Bytes bytes(call.count);
    program.add(Rank(1), 0, step(bytes).from(input(0_B)).send(there.send));
    program.add(Rank(0), 0, step(bytes).receive(there.receive).to(output(0_B)));
    static_cast<void>(TcpGroup(place).execute(program, once()));
    return std::string("done");
  });
  CHECK(texts == std::vector<std::string>{
                     "rank 1 sent 400 bytes to lane 0, slot 0, which has no room for them",
                     "lost rank 0: it closed the connection"});
}
