#pragma once

// Runs a program on threads with test data and says what is wrong with the outcome.

#include <memory>
#include <string>
#include <utility>

#include "validate/execution/test_data.hpp"
#include "validate/host/host_execution.hpp"

namespace collsim::test {

/// Empty: every element of every rank is right. `calls` back to back; only out of place do all have the same outcome.
inline std::string wrong_after_run(std::shared_ptr<const Program> program,
                                   std::uint32_t calls = 1) {
  const CollectiveCall call = program->call();
  TestData data(call, "tests");
  HostExecution host(std::move(program), {});
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    host.memory(Rank(rank)).poison();
    data.fill_input(Rank(rank), host.memory(Rank(rank)).input());
  }
  host.run(calls);
  for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
    if (const auto wrong = data.check_output(Rank(rank), host.memory(Rank(rank)).output())) {
      return wrong->text();
    }
  }
  return {};
}

}  // namespace collsim::test
