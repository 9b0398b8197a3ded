// What the interpreter of a rank's steps tells whoever watches it.

#include "validate/execution/rank_run.hpp"

#include <cstring>
#include <memory>

#include "algorithms/table.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"
#include "tests/validate/host/executed.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

/// Of a rank that talks to nobody.
class NoWire final : public Wire {
 public:
  bool arrived(std::uint32_t /*in_port*/) override { return false; }
  bool has_credit(std::uint32_t /*out_port*/) override { return false; }
  std::span<const std::byte> message(std::uint32_t /*in_port*/) override { return {}; }
  void release(std::uint32_t /*in_port*/) override {}
  std::byte* slot(std::uint32_t /*out_port*/) override { return nullptr; }
  void send(std::uint32_t /*out_port*/, std::size_t /*bytes*/) override {}
};

}  // namespace

TEST_CASE("a long step is seen to go on") {
  constexpr Bytes size = 40_MiB;
  CollectiveCall call;
  call.kind = CollectiveKind::Broadcast;
  call.ranks = 1;
  call.count = size.count();
  call.type = DataType::Uint8;
  call.in_place = InPlace::No;
  TableProgram program(call);
  program.add(Rank(0), 0, step(size).from(input(0_B)).to(output(0_B)));
  const RankScript script = script_of(program, Rank(0));
  RankMemory memory(program, Rank(0));
  std::memset(memory.input().data(), 1, memory.input().size());
  memory.poison();
  NoWire wire;
  RankRun run(program, script, memory, wire);
  run.restart();
  CHECK(run.work_done() == 0);
  CHECK(run.advance());
  CHECK(run.finished());
  // Stretches of 16, 16 and 8 MiB, and the step.
  CHECK(run.work_done() == 3 + 1);
  CHECK(std::memcmp(memory.input().data(), memory.output().data(), memory.output().size()) == 0);
}

TEST_CASE("averages longer than a stretch are right to their last element") {
  ProgramRequest request;
  request.call.kind = CollectiveKind::AllReduce;
  request.call.ranks = 2;
  request.call.count = (16_MiB).count() / 4 + 3;
  request.call.type = DataType::Float32;
  request.call.op = ReductionOp::Avg;
  request.call.in_place = InPlace::No;
  CHECK(wrong_after_run(build_program(find_algorithm("naive"), request)).empty());
}
