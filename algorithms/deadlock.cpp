#include "algorithms/deadlock.hpp"

#include <algorithm>
#include <utility>

namespace collsim::detail {

namespace {

using Blockages = std::vector<std::optional<Blockage>>;

CheckFailure failure_at(const StepPlace& place, std::string text) {
  return {CheckFailure::Kind::Deadlock, place.rank, place.lane, place.step, std::move(text)};
}

/// The lanes of the first cycle, from the lowest on; empty if there is none.
std::vector<LaneId> find_cycle(const Blockages& blockages) {
  std::vector<std::optional<std::size_t>> seen_from(blockages.size());
  for (std::size_t start = 0; start < blockages.size(); ++start) {
    std::size_t at = start;
    while (blockages[at] && !seen_from[at]) {
      seen_from[at] = start;
      at = blockages[at]->culprit.index();
    }
    if (!blockages[at] || seen_from[at] != start) {
      continue;
    }
    std::vector<LaneId> cycle;
    LaneId next(at);
    do {
      cycle.push_back(next);
      next = blockages[next.index()]->culprit;
    } while (next.index() != at);
    std::ranges::rotate(cycle, std::ranges::min_element(cycle));
    return cycle;
  }
  return {};
}

CheckFailure describe_cycle(const std::vector<LaneId>& cycle, const Blockages& blockages) {
  std::string text = "a cycle of waits: ";
  for (const LaneId id : cycle) {
    const Blockage& blockage = *blockages[id.index()];
    text += text_of(blockage.place) + ", " + blockage.what + "; ";
  }
  text.resize(text.size() - 2);
  return failure_at(blockages[cycle.front().index()]->place, std::move(text));
}

}  // namespace

std::vector<CheckFailure> describe_deadlock(const Blockages& blockages) {
  std::vector<CheckFailure> causes;
  std::vector<CheckFailure> followers;
  std::vector<bool> in_cycle(blockages.size(), false);
  const std::vector<LaneId> cycle = find_cycle(blockages);
  if (!cycle.empty()) {
    causes.push_back(describe_cycle(cycle, blockages));
  }
  for (const LaneId id : cycle) {
    in_cycle[id.index()] = true;
  }

  for (std::size_t i = 0; i < blockages.size(); ++i) {
    if (!blockages[i] || in_cycle[i]) {
      continue;
    }
    const auto& [place, what, culprit] = *blockages[i];
    const auto& blocked = blockages[culprit.index()];
    const std::string text = text_of(place) + ", " + what;
    if (blocked) {
      followers.push_back(failure_at(
          place, text + ", which is blocked at step " + std::to_string(blocked->place.step)));
    } else {
      causes.push_back(failure_at(place, text + ", which has ended"));
    }
  }
  causes.insert(causes.end(), followers.begin(), followers.end());
  return causes;
}

}  // namespace collsim::detail
