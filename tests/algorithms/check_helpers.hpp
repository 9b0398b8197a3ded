#pragma once

// What the tests of the data checker share: a small correct program, and how a failure must read.

#include <cstdint>
#include <string>

#include "algorithms/check.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/catch.hpp"

namespace collsim::test {

inline CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes,
                              InPlace in_place = InPlace::No) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = ranks;
  call.count = bytes;
  call.type = DataType::Uint8;
  call.in_place = in_place;
  return call;
}

/// Two ranks swap 8 bytes: lane 0 of each sends, then receives.
inline TableProgram exchange() {
  using namespace collsim::literals;
  TableProgram program(call_of(CollectiveKind::SendRecv, 2, 8));
  const auto there = program.connect({Rank(0), 0}, {Rank(1), 0});
  const auto back = program.connect({Rank(1), 0}, {Rank(0), 0});
  program.add(Rank(0), 0, step(8_B).from(input(0_B)).send(there.send));
  program.add(Rank(1), 0, step(8_B).from(input(0_B)).send(back.send));
  program.add(Rank(0), 0, step(8_B).receive(back.receive).to(output(0_B)));
  program.add(Rank(1), 0, step(8_B).receive(there.receive).to(output(0_B)));
  return program;
}

inline void require_failure(const CheckFailure& failure, CheckFailure::Kind kind,
                            std::uint32_t rank, std::uint32_t lane, std::uint64_t step_index,
                            const std::string& text) {
  CHECK(std::string(name_of(failure.kind)) == std::string(name_of(kind)));
  CHECK(failure.rank == Rank(rank));
  CHECK(failure.lane == lane);
  CHECK(failure.step == step_index);
  CHECK(failure.text == text);
}

}  // namespace collsim::test
