#pragma once
// The rules of NCCL's example tuner plugin: a list of lines, of which the first that fits a call and
// asks for what is available forces an algorithm and protocol and may set the channels.
//
// Source: NCCL 2.28.9, plugins/tuner/example.

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/nccl/choice.hpp"
#include "algorithms/nccl/launch_shape.hpp"

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

/// Whether a rule is about such a call of a communicator. Buffers are not registered.
[[nodiscard]] bool fits(const TunerRule& rule, const Communicator& communicator, const Call& call);

/// A choice, and the rule that made it; null where NCCL chose itself.
struct TunedChoice {
  Contender contender{};
  const TunerRule* rule{nullptr};
};

/// What NCCL chooses with these rules, which must outlive the result. Throws as choose().
/// Complexity: O(rules).
[[nodiscard]] TunedChoice choose_with_tuner(const TuningInput& input, const Tuning& tuning,
                                            const Call& call, const std::vector<TunerRule>& rules);

/// Channels and threads of a choice: a rule may say how many channels, at most as many as there are.
[[nodiscard]] LaunchShape launch_shape(const TuningInput& input, const Channels& channels,
                                       const TunedChoice& choice, std::uint64_t bytes);

/// Crossovers as choices() gives them, with these rules.
[[nodiscard]] std::vector<Crossover> choices_with_tuner(const TuningInput& input,
                                                        const Tuning& tuning, const Call& call,
                                                        const std::vector<TunerRule>& rules);

}  // namespace collsim::nccl
