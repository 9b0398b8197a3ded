#pragma once
// Which input explains what a log shows otherwise than predicted. An input is named only if deciding
// again with it alone changed makes differences go away and brings none: nothing is guessed.
//
// Where no one input explains all, several are put together: those that the log states, as far as they
// matter, and others one after the other, each time the one that leaves the fewest differences. Inputs
// that the log does not state are put together only if nothing is left then.

#include <cstddef>
#include <string>
#include <vector>

#include "algorithms/nccl/log_changes.hpp"
#include "algorithms/nccl/log_comparison.hpp"

namespace collsim::nccl {

/// What is left when one or several inputs are changed.
struct LogExplanation {
  std::vector<std::string> changes{};  ///< "--nccl 2.27"
  bool stated{false};                  ///< the log says all of them
  std::size_t explained{0};            ///< differences that are gone
  std::vector<std::string> left{};     ///< `what` of those that are not, and of new ones
};

struct LogReport {
  std::vector<VariableFinding> variables{};
  std::vector<LogFinding> findings{};
  std::size_t agreeing{0};     ///< of decisions
  std::size_t differing{0};    ///< of decisions
  std::size_t tried{0};        ///< changes
  bool too_many_nodes{false};  ///< in the log: that number was not tried
  /// One input each; those that explain most first.
  std::vector<LogExplanation> single{};
  /// Several inputs, where no one explains all and these explain more; else without changes.
  LogExplanation together{};
};

/// Throws: InputError as Decisions does for the question's own input.
/// Complexity: some 40 times that of the decisions, up to 8 times that where several inputs differ.
[[nodiscard]] LogReport explain_log(const LogQuestion& question, const NcclLog& log,
                                    const LoggedCommunicator& communicator);

}  // namespace collsim::nccl
