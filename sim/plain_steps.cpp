#include "sim/plain_steps.hpp"

namespace collsim::detail {

namespace {

/// Slots are few, and numbered in a row.
constexpr std::uint32_t most_slots = std::uint32_t{1} << 16U;

PlainStep plain_step(const Step& step) {
  if (step.sends.count > 1 || step.receives.count > 1 || step.join || step.after ||
      step.movement != Movement::Route) {
    throw NotCovered{};
  }
  PlainStep plain;
  plain.bytes = step.bytes.count();
  if (step.receives.count == 1) {
    plain.receive_slot = step.receives.first;
  }
  if (step.sends.count == 1) {
    plain.send_slot = step.sends.first;
  }
  return plain;
}

}  // namespace

std::unique_ptr<const StepList> plain_steps(const Program& program, Rank rank, std::uint32_t lane) {
  auto list = std::make_unique<StepList>();
  const std::uint64_t steps = program.step_count(rank, lane);
  list->steps.reserve(steps);
  std::vector<std::uint32_t> received;
  for (std::uint64_t index = 0; index < steps; ++index) {
    const PlainStep step = list->steps.emplace_back(plain_step(program.step(rank, lane, index)));
    if ((step.send_slot != no_index && step.send_slot >= most_slots) ||
        (step.receive_slot != no_index && step.receive_slot >= most_slots)) {
      throw NotCovered{};
    }
    if (step.receive_slot != no_index && step.receive_slot >= received.size()) {
      received.resize(std::size_t{step.receive_slot} + 1);
    }
    list->received_before.push_back(step.receive_slot == no_index ? 0
                                                                  : received[step.receive_slot]++);
    if (step.send_slot != no_index) {
      if (step.send_slot >= list->sends.size()) {
        list->sends.resize(std::size_t{step.send_slot} + 1);
      }
      list->sends[step.send_slot].push_back(static_cast<std::uint32_t>(index));
    }
  }
  list->receive_slots = static_cast<std::uint32_t>(received.size());
  return list;
}

}  // namespace collsim::detail
