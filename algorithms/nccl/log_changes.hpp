#pragma once
// Which inputs may have been other ones in the run that a log is of: each a change of one input, to be
// tried. Some the log states (its version, its variables, its ranks, the bandwidths of its system
// tree); the others are settings that it may leave out (a limit of channels, NVLS off, …).

#include <functional>
#include <string>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/log_comparison.hpp"
#include "algorithms/nccl/nccl_log.hpp"

namespace collsim::nccl {

/// The constants of a version that may be tried.
struct KnownVersion {
  std::string versions{};  ///< as an option takes it: "2.27"
  TuningConstants constants{};
  bool of_log{false};  ///< the one that the log is of
};

/// The prediction, and what it can be made from in other ways.
struct LogQuestion {
  DecisionInput input{};
  std::vector<LoggedVariable> variables{};  ///< those in `input`
  std::vector<KnownVersion> versions{};     ///< other than `input`'s
};

struct InputChange {
  std::string text{};   ///< "--env NCCL_NVLS_ENABLE=0"
  std::string input{};  ///< what it changes: of two for one input only one can hold
  bool stated{false};   ///< by the log
  std::function<void(DecisionInput&)> apply{};
};

/// Of the inputs that are tried: each takes time for every rank.
inline constexpr int most_ranks_tried = 1 << 18;

/// Whether the log tells of other nodes than the decisions have, and of too many to be tried.
[[nodiscard]] bool too_many_nodes(const LoggedCommunicator& communicator,
                                  const Decisions& decisions);

/// Stated ones first; they live no longer than the question. `decisions` are those of the question's input.
[[nodiscard]] std::vector<InputChange> possible_changes(const LogQuestion& question,
                                                        const Decisions& decisions,
                                                        const NcclLog& log,
                                                        const LoggedCommunicator& communicator);

/// The variables that the log says were set, and how they stand to those given here.
struct VariableFinding {
  enum class State : std::uint8_t {
    Same,       ///< given with this value
    Other,      ///< given with another value
    NotGiven,   ///< and it would change what is predicted
    Unmodelled  ///< or its value is none that is known
  };
  std::string name{};
  std::string logged{};  ///< empty where it is not modelled: it may be private
  std::string given{};
  State state{State::Unmodelled};
};
[[nodiscard]] std::vector<VariableFinding> compare_variables(
    const std::vector<LoggedVariable>& given, const NcclLog& log);

}  // namespace collsim::nccl
