#include "algorithms/nccl/tuner.hpp"

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

}  // namespace collsim::nccl
