#pragma once
// The rules of NCCL's example tuner plugin: a list of lines, of which the first that fits a call
// forces an algorithm and protocol and may set the channels.
//
// NCCL still refuses what its table excludes: a rule then changes nothing and the next choice holds.
// Source: NCCL 2.28.9, plugins/tuner/example.

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/choice.hpp"

namespace collsim::nccl {

struct TunerRule {
  Function function{};
  std::uint64_t least_bytes{0};
  std::uint64_t most_bytes{0};
  Algorithm algorithm{};
  Protocol protocol{};
  // Absent: any, or NCCL's own number of channels.
  std::optional<int> channels{};
  std::optional<int> nodes{};
  std::optional<int> ranks{};
  std::optional<int> pipelined{};
  std::optional<bool> registered{};

  bool operator==(const TunerRule&) const = default;
};

/// The first rule for a call of a communicator; null if there is none. Buffers are not registered.
[[nodiscard]] const TunerRule* matching_rule(const std::vector<TunerRule>& rules,
                                             const Communicator& communicator, const Call& call);

/// What NCCL chooses with these rules. Throws as choose().
[[nodiscard]] Contender choose_with_tuner(const TuningInput& input, const Tuning& tuning,
                                          const Call& call, const std::vector<TunerRule>& rules);

}  // namespace collsim::nccl
