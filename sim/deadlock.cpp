#include "sim/deadlock.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace collsim::detail {

namespace {

/// Names and cycles are cut off here; what is left is counted.
constexpr std::size_t shown = 10;

struct LaneRef {
  const OperationState* operation = nullptr;
  std::uint32_t lane = 0;

  [[nodiscard]] const LaneState& state() const { return operation->lanes[lane]; }
  [[nodiscard]] Rank rank() const { return state().rank; }
  [[nodiscard]] std::uint32_t number() const { return operation->lane_number(lane); }
  bool operator<(const LaneRef& other) const {
    return std::pair(operation->id, lane) < std::pair(other.operation->id, other.lane);
  }
};

/// What a lane waits for: in words, and whose move it is (absent: nobody's).
struct Need {
  std::string text;
  std::optional<LaneRef> whose;
};

std::string name_of(Rank rank, std::uint32_t lane) {
  return "rank " + std::to_string(rank.value()) + " lane " + std::to_string(lane);
}

class Report {
 public:
  explicit Report(const Standstill& standstill) : standstill_(&standstill) {
    for (const OperationState* operation : standstill.active) {
      for (std::uint32_t lane = 0; lane < operation->lanes.size(); ++lane) {
        const LaneStage stage = operation->lanes[lane].stage;
        if (stage == LaneStage::Idle || stage == LaneStage::Done) {
          continue;
        }
        blocked_.push_back({operation, lane});
      }
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text = "deadlock at " +
                       std::to_string(standstill_->now.time_since_epoch().count()) +
                       " ps: " + std::to_string(blocked_.size()) +
                       (blocked_.size() == 1 ? " lane" : " lanes") + " cannot go on";
    for (std::size_t number = 0; number < std::min(shown, blocked_.size()); ++number) {
      text += "\n  " + name(blocked_[number]) + " step " +
              std::to_string(blocked_[number].state().step) + " waits for " +
              need(blocked_[number]).text;
    }
    if (blocked_.size() > shown) {
      text += "\n  and " + std::to_string(blocked_.size() - shown) + " more";
    }
    return text + "\n" + cause();
  }

 private:
  /// The operation is named where there is a choice.
  [[nodiscard]] std::string name(const LaneRef& ref) const {
    std::string text = name_of(ref.rank(), ref.number());
    if (standstill_->active.size() > 1) {
      text += " of operation " + std::to_string(ref.operation->id.value());
    }
    return text;
  }

  [[nodiscard]] Need need(const LaneRef& ref) const {
    switch (ref.state().stage) {
      case LaneStage::Dependencies:
        return dependency(ref);
      case LaneStage::Messages:
        return message(ref);
      case LaneStage::Credit:
        return credit(ref);
      default:
        return {"its bytes to leave", std::nullopt};
    }
  }

  [[nodiscard]] static Need dependency(const LaneRef& ref) {
    const OperationState& operation = *ref.operation;
    const LaneState& lane = ref.state();
    const RankState& rank = operation.ranks[lane.rank.index()];
    const Step step = operation.program->step(lane.rank, ref.number(), lane.step);
    if (step.after) {
      const std::uint32_t other = rank.first_lane + step.after->lane;
      if (operation.lanes[other].step <= step.after->index) {
        return {"step " + std::to_string(step.after->index) + " of its rank's lane " +
                    std::to_string(step.after->lane),
                LaneRef{&operation, other}};
      }
    }
    const std::string text = "its rank's lanes of group " + std::to_string(step.join.value_or(0)) +
                             " to complete all steps of phases below " + std::to_string(step.phase);
    for (std::uint32_t number = 0; number < operation.lane_count(lane.rank); ++number) {
      const LaneState& other = operation.lanes[rank.first_lane + number];
      const bool behind = other.stage != LaneStage::Done && other.phase < step.phase;
      if (behind && other.group == step.join) {
        return {text, LaneRef{&operation, rank.first_lane + number}};
      }
    }
    return {text, std::nullopt};
  }

  /// The lane at the other end of a connection, if there is such a lane.
  [[nodiscard]] static std::optional<LaneRef> peer_lane(const OperationState& operation,
                                                        const Connection& to) {
    const bool exists =
        to.peer.index() < operation.communicator->size() && to.lane < operation.lane_count(to.peer);
    if (!exists) {
      return std::nullopt;
    }
    return LaneRef{&operation, operation.ranks[to.peer.index()].first_lane + to.lane};
  }

  [[nodiscard]] Need message(const LaneRef& ref) const {
    const LaneState& lane = ref.state();
    Need need;
    std::size_t more = 0;
    for (std::uint32_t number = 0; number < lane.receives.count; ++number) {
      const std::uint32_t slot = lane.receives.first + number;
      if (lane.mailbox.has(*standstill_->messages, slot)) {
        continue;
      }
      if (!need.text.empty()) {
        ++more;
        continue;
      }
      const Connection from = ref.operation->program->receive_from(lane.rank, ref.number(), slot);
      need.text = "a message from " + name_of(from.peer, from.lane);
      need.whose = peer_lane(*ref.operation, from);
    }
    if (more != 0) {
      need.text += " and " + std::to_string(more) + " more";
    }
    return need;
  }

  [[nodiscard]] static Need credit(const LaneRef& ref) {
    const LaneState& lane = ref.state();
    for (std::uint32_t number = 0; number < lane.sends.count; ++number) {
      const std::uint32_t slot = lane.sends.first + number;
      if (ref.operation->fifo_used.used(ref.lane, slot) < lane.fifo_depth) {
        continue;
      }
      const Connection to = ref.operation->program->send_to(lane.rank, ref.number(), slot);
      return {"credit: none of the " + std::to_string(lane.fifo_depth) + " FIFO slots at " +
                  name_of(to.peer, to.lane) + " is free",
              peer_lane(*ref.operation, to)};
    }
    return {"credit", std::nullopt};
  }

  /// Whose move it is while a rank has not started: a lane of the operation that its GPU is in.
  [[nodiscard]] std::optional<LaneRef> keeper(const LaneRef& ref) const {
    const auto operation = standstill_->kept_by(*ref.operation, ref.rank());
    if (!operation) {
      return std::nullopt;
    }
    for (const OperationState* other : standstill_->active) {
      if (other->id != *operation) {
        continue;
      }
      const DeviceId gpu = ref.operation->gpu(ref.rank());
      for (std::uint32_t lane = 0; lane < other->lanes.size(); ++lane) {
        const LaneState& state = other->lanes[lane];
        if (other->gpu(state.rank) == gpu && state.stage != LaneStage::Done) {
          return LaneRef{other, lane};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<LaneRef> next(const LaneRef& ref) const {
    if (ref.state().stage == LaneStage::Done) {
      return std::nullopt;
    }
    return ref.state().stage == LaneStage::Idle ? keeper(ref) : need(ref).whose;
  }

  /// The cycle of waits, else how the first chain of waits ends. Follows what each lane waits for
  /// first, so every lane is looked at once.
  [[nodiscard]] std::string cause() const {
    std::map<LaneRef, std::size_t> chain_of;
    for (std::size_t chain = 0; chain < blocked_.size(); ++chain) {
      std::vector<LaneRef> lanes;
      for (std::optional<LaneRef> at = blocked_[chain]; at; at = next(*at)) {
        const auto [place, is_new] = chain_of.try_emplace(*at, chain);
        if (!is_new && place->second == chain) {
          return cycle(lanes, *at);
        }
        if (!is_new) {
          break;
        }
        lanes.push_back(*at);
      }
    }
    LaneRef last = blocked_.front();
    while (const std::optional<LaneRef> after = next(last)) {
      last = *after;
    }
    return "they wait in the end for " + name(last) + ", which " + end_of_chain(last);
  }

  [[nodiscard]] std::string end_of_chain(const LaneRef& ref) const {
    if (ref.state().stage == LaneStage::Done) {
      return "has no step left";
    }
    if (ref.state().stage == LaneStage::Idle) {
      return "has not started operation " + std::to_string(ref.operation->id.value());
    }
    return "waits for " + need(ref).text;
  }

  [[nodiscard]] std::string cycle(const std::vector<LaneRef>& lanes, const LaneRef& first) const {
    const auto same = [&](const LaneRef& ref) { return !(ref < first) && !(first < ref); };
    auto at = std::find_if(lanes.begin(), lanes.end(), same);
    const auto length = static_cast<std::size_t>(lanes.end() - at);
    std::string text = "they wait for each other: " + name(*at);
    for (std::size_t number = 1; number < std::min(shown, length); ++number) {
      ++at;
      text += " -> " + name(*at) + started_note(*at);
    }
    if (length > shown) {
      text += " -> … (" + std::to_string(length) + " in all)";
    }
    return text + " -> " + name(first);
  }

  [[nodiscard]] static std::string started_note(const LaneRef& ref) {
    return ref.state().stage == LaneStage::Idle ? " (not started)" : "";
  }

  const Standstill* standstill_;
  std::vector<LaneRef> blocked_;
};

}  // namespace

std::string describe_deadlock(const Standstill& standstill) { return Report(standstill).text(); }

std::string describe_leftovers(const OperationState& operation, const MessagePool& messages) {
  std::vector<std::string> lines;
  for (std::uint32_t id = 0; id < messages.capacity(); ++id) {
    const Message& message = messages[id];
    if (!message.in_use || message.operation != operation.id) {
      continue;
    }
    if (lines.size() < shown) {
      lines.push_back(
          "\n  " + std::to_string(message.bytes.count()) + " bytes from " +
          name_of(operation.lanes[message.from_lane].rank,
                  operation.lane_number(message.from_lane)) +
          " to " +
          name_of(operation.lanes[message.to_lane].rank, operation.lane_number(message.to_lane)) +
          " slot " + std::to_string(message.receive_slot));
    }
  }
  const std::uint64_t count = operation.messages;
  std::string text = "operation " + std::to_string(operation.id.value()) + ": nobody received " +
                     std::to_string(count) + (count == 1 ? " message" : " messages");
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) {
    text += line;
  }
  if (count > lines.size()) {
    text += "\n  and " + std::to_string(count - lines.size()) + " more";
  }
  return text;
}

}  // namespace collsim::detail
