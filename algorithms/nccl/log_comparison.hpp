#pragma once
// What NCCL did in a run, from its log, against what is predicted: point by point whether it agrees.
//
// Points of the inputs (ranks, the node's devices) stand apart from those of the decisions: the first
// are what somebody described, the second what follows. A point that the log does not have is told as
// such. An entry of the tuning table that both exclude agrees, whatever latency is printed beside.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/nccl_log.hpp"

namespace collsim::nccl {

enum class LogSubject : std::uint8_t {
  Layout,  ///< ranks and nodes: an input
  Node,    ///< what NCCL found in the node: an input
  Graphs,
  Channels,
  Rings,
  Trees,
  Table,
  Choices,
};

/// "graphs", "tuning table".
[[nodiscard]] std::string_view name(LogSubject subject);
[[nodiscard]] constexpr bool is_input(LogSubject subject) {
  return subject == LogSubject::Layout || subject == LogSubject::Node;
}

enum class Agreement : std::uint8_t { Agrees, Differs, NotInLog };

/// One point of the comparison.
struct LogFinding {
  LogSubject subject{};
  std::string what{};  ///< "ring graph: channels"; unique within a comparison
  Agreement agreement{};
  std::string predicted{};
  std::string logged{};
};

/// Complexity: O(channels · ranks · log(ranks) + lines of the log).
[[nodiscard]] std::vector<LogFinding> compare_with_log(const Decisions& decisions,
                                                       const LoggedCommunicator& log);

}  // namespace collsim::nccl
