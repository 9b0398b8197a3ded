#pragma once

// Runs a program by the GPU's interpreter on threads and says what is wrong with the outcome.

#include <string>

#include "validate/cuda/lane_threads.hpp"
#include "validate/execution/test_data.hpp"

namespace collsim::test {

/// Empty: every element of every rank is right after the last of so many calls (out of place, where they are several).
inline std::string wrong_after_lanes(const Program& program, const LaneThreadsOptions& options,
                                     std::uint32_t calls = 1) {
  const CollectiveCall call = program.call();
  TestData data(call, "tests");
  LaneThreads lanes(program, options);
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    lanes.poison(Rank(rank));
    data.fill_input(Rank(rank), lanes.input(Rank(rank)));
  }
  lanes.run(calls);
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    if (const auto wrong = data.check_output(Rank(rank), lanes.output(Rank(rank)))) {
      return wrong->text();
    }
  }
  return {};
}

}  // namespace collsim::test
