#pragma once

// What lanes do that only send, and receive, one message after the other: their steps in short, for
// unshared.hpp. Internal to the executor.

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/program.hpp"
#include "sim/messages.hpp"

namespace collsim::detail {

/// Thrown where a run does more than is covered.
struct NotCovered {};

struct PlainStep {
  std::int64_t bytes = 0;
  std::uint32_t receive_slot = no_index;
  std::uint32_t send_slot = no_index;
};

/// What all lanes of a shape do.
struct StepList {
  std::vector<PlainStep> steps;
  std::vector<std::uint32_t> received_before;     ///< by step: messages of its receive slot
  std::vector<std::vector<std::uint32_t>> sends;  ///< by send slot: steps that use it
  std::uint32_t receive_slots = 0;
};

/// Throws: NotCovered where a step sends or receives several messages, or waits for other lanes.
[[nodiscard]] std::unique_ptr<const StepList> plain_steps(const Program& program, Rank rank,
                                                          std::uint32_t lane);

}  // namespace collsim::detail
