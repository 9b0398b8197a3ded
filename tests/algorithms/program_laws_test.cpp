#include "tests/algorithms/program_laws.hpp"

#include "algorithms/table.hpp"
#include "tests/catch.hpp"

namespace collsim {
namespace {

/// Some roots: all of them for few ranks.
std::vector<Rank> roots_to_try(const CollectiveCall& call) {
  if (!has_root(call.kind)) {
    return {Rank(0)};
  }
  if (call.ranks > 9) {
    return {Rank(0), Rank(call.ranks / 3), Rank(call.ranks - 1)};
  }
  std::vector<Rank> roots;
  for (std::uint32_t r = 0; r < call.ranks; ++r) {
    roots.emplace_back(r);
  }
  return roots;
}

void check_laws(const Algorithm& algorithm, CollectiveCall call, std::uint32_t channels,
                std::uint32_t chunks) {
  for (const InPlace in_place : {InPlace::No, InPlace::Yes}) {
    if (in_place == InPlace::Yes && !allows_in_place(call.kind)) {
      continue;
    }
    for (const Rank root : roots_to_try(call)) {
      call.in_place = in_place;
      call.root = root;
      ProgramRequest request;
      request.call = call;
      request.channels = channels;
      request.chunks = chunks;
      if (algorithm.obstacle(request)) {
        continue;
      }
      // Nodes of three ranks, the last one of what is left.
      for (std::uint32_t r = 0; r < call.ranks; ++r) {
        request.node_of_rank.emplace_back(r / 3);
      }
      if (algorithm.obstacle(request)) {
        continue;
      }
      const auto program = build_program(algorithm, request);
      INFO(test::describe(*program));
      REQUIRE(test::first_breach(*program) == "");
    }
  }
}

TEST_CASE("every program's messages match, its spans fit, and it leaves inputs alone") {
  for (const Algorithm& algorithm : algorithms()) {
    for (const CollectiveKind kind : algorithm.collectives) {
      for (const std::uint32_t ranks :
           {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 11U, 13U, 16U, 17U, 24U, 31U, 32U, 33U}) {
        CollectiveCall call;
        call.kind = kind;
        call.ranks = ranks;
        for (const std::int64_t count : {1, 41}) {
          call.count = count;
          check_laws(algorithm, call, 1, 1);
          check_laws(algorithm, call, 2, 3);
        }
      }
    }
  }
}

}  // namespace
}  // namespace collsim
