#include "algorithms/nccl/tuner.hpp"

#include <algorithm>

namespace collsim::nccl {

bool fits(const TunerRule& rule, const Communicator& communicator, const Call& call) {
  return rule.function == call.function && call.bytes >= rule.least_bytes &&
         call.bytes <= rule.most_bytes &&
         rule.nodes.value_or(communicator.nodes) == communicator.nodes &&
         rule.ranks.value_or(communicator.ranks) == communicator.ranks &&
         rule.pipelined.value_or(call.pipelined) == call.pipelined &&
         !rule.registered.value_or(false);
}

TunedChoice choose_with_tuner(const TuningInput& input, const Tuning& tuning, const Call& call,
                              const std::vector<TunerRule>& rules) {
  const std::vector<Contender> all = contenders(input, tuning, call);
  for (const TunerRule& rule : rules) {
    if (!fits(rule, input.communicator, call)) {
      continue;
    }
    for (const Contender& contender : all) {
      if (contender.algorithm == rule.algorithm && contender.protocol == rule.protocol &&
          !contender.excluded) {
        return {contender, &rule};
      }
    }
  }
  return {choose(input, tuning, call), nullptr};
}

LaunchShape launch_shape(const TuningInput& input, const Channels& channels,
                         const TunedChoice& choice, std::uint64_t bytes) {
  LaunchShape shape =
      launch_shape(input, channels, choice.contender.algorithm, choice.contender.protocol, bytes);
  if (choice.rule != nullptr && choice.rule->channels) {
    const int most = std::max(static_cast<int>(channels.collective.size()), shape.channels);
    shape.channels = std::clamp(*choice.rule->channels, 1, most);
  }
  return shape;
}

std::vector<Crossover> choices_with_tuner(const TuningInput& input, const Tuning& tuning,
                                          const Call& call, const std::vector<TunerRule>& rules) {
  return scan_sizes(call, [&](const Call& sized) {
    return choose_with_tuner(input, tuning, sized, rules).contender;
  });
}

}  // namespace collsim::nccl
