#include "algorithms/program_walk.hpp"

#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "algorithms/deadlock.hpp"
#include "algorithms/fifo.hpp"
#include "algorithms/waiters.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

struct Message {
  std::uint64_t step = 0;  ///< the sender's
  Bytes bytes;
};

struct ConnectionState {
  Fifo<Message> pending;
  bool sender_waits = false;
  bool receiver_waits = false;
};

struct LaneState {
  std::uint64_t next = 0;   ///< the step to run
  std::uint64_t phase = 0;  ///< of that step
  bool taken = false;       ///< that step has its messages
};

/// Lanes of a rank that a join waits for together.
struct GroupState {
  std::map<std::uint64_t, std::uint32_t> lanes_by_phase;  ///< those that have not ended
  Waiters waiters;                                        ///< until all phases below are complete

  [[nodiscard]] std::uint64_t lowest_phase() const {
    return lanes_by_phase.empty() ? std::numeric_limits<std::uint64_t>::max()
                                  : lanes_by_phase.begin()->first;
  }
};

class Walker {
 public:
  Walker(const Program& program, StepHandler& handler);

  WalkReport run();

 private:
  void start_lanes();
  void load_phase(LaneId id);
  Walk turn(LaneId id);
  [[nodiscard]] bool ready(LaneId id, const Step& step);
  void take_messages(LaneId id, const Step& step);
  void send_messages(LaneId id, const Step& step);
  void complete(LaneId id);
  void resolve_slots(LaneId id, const Step& step);

  /// What a step waits for next, if anything.
  [[nodiscard]] std::optional<LaneId> awaited_lane(LaneId id, const Step& step) const;
  [[nodiscard]] std::optional<GroupId> awaited_group(LaneId id, const Step& step) const;
  [[nodiscard]] std::optional<ConnectionId> awaited_message() const;
  [[nodiscard]] std::optional<ConnectionId> awaited_credit() const;

  [[nodiscard]] Blockage blockage(LaneId id);
  [[nodiscard]] LaneId laggard(Rank rank, GroupId group, std::uint64_t phase) const;
  void report_deadlock();
  void report_unmatched();

  [[nodiscard]] StepPlace place(LaneId id) const {
    return {wiring_.lane(id).rank, wiring_.lane(id).lane, lanes_[id.index()].next};
  }
  [[nodiscard]] Step next_step(LaneId id) const {
    const StepPlace at = place(id);
    return program_.step(at.rank, at.lane, at.step);
  }
  [[nodiscard]] bool ended(LaneId id) const {
    return lanes_[id.index()].next == wiring_.lane(id).steps;
  }
  [[nodiscard]] GroupState& group_of(LaneId id) { return groups_[wiring_.lane(id).group.index()]; }

  const Program& program_;
  StepHandler& handler_;
  ProgramWiring wiring_;
  WalkReport report_;
  std::vector<LaneState> lanes_;
  std::vector<Waiters> step_waiters_;  ///< by lane: until it has completed so many steps
  std::vector<GroupState> groups_;
  std::vector<ConnectionState> connections_;
  std::queue<LaneId> runnable_;
  std::vector<ConnectionId> receives_;  ///< of the step at hand
  std::vector<ConnectionId> sends_;
};

Walker::Walker(const Program& program, StepHandler& handler)
    : program_(program),
      handler_(handler),
      wiring_(program),
      lanes_(wiring_.lanes().size()),
      step_waiters_(lanes_.size()),
      groups_(wiring_.groups()) {}

WalkReport Walker::run() {
  try {
    start_lanes();
    while (!runnable_.empty()) {
      const LaneId id = runnable_.front();
      runnable_.pop();
      if (turn(id) == Walk::Stop) {
        return std::move(report_);
      }
    }
    report_.finished = true;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (!ended(LaneId(i))) {
        report_.finished = false;
      }
    }
    if (!report_.finished) {
      report_deadlock();
    }
    report_unmatched();
  } catch (const BrokenProgram& broken) {
    report_.finished = false;
    report_.failures.push_back(broken.failure);
  }
  return std::move(report_);
}

void Walker::start_lanes() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneId id(i);
    if (ended(id)) {
      continue;
    }
    load_phase(id);
    ++group_of(id).lanes_by_phase[lanes_[i].phase];
    runnable_.push(id);
  }
}

void Walker::load_phase(LaneId id) {
  LaneState& lane = lanes_[id.index()];
  const std::uint64_t phase = next_step(id).phase;
  if (phase < lane.phase) {
    throw BrokenProgram(CheckFailure::Kind::BadProgram, place(id),
                        "has phase " + std::to_string(phase) + " after phase " +
                            std::to_string(lane.phase) + ": the phases of a lane must not fall");
  }
  lane.phase = phase;
}

Walk Walker::turn(LaneId id) {
  const Step step = next_step(id);
  if (!ready(id, step)) {
    return Walk::GoOn;
  }
  if (handler_.execute(place(id), step, receives_, sends_) == Walk::Stop) {
    return Walk::Stop;
  }
  send_messages(id, step);
  ++report_.steps;
  complete(id);
  if (!ended(id)) {
    runnable_.push(id);
  }
  return Walk::GoOn;
}

/// Whether the step can be executed; if not, the lane is woken when what it waits for has happened.
bool Walker::ready(LaneId id, const Step& step) {
  LaneState& lane = lanes_[id.index()];
  if (!lane.taken) {
    if (const auto other = awaited_lane(id, step)) {
      step_waiters_[other->index()].add(step.after->index + 1, id);
      return false;
    }
    if (const auto group = awaited_group(id, step)) {
      groups_[group->index()].waiters.add(step.phase, id);
      return false;
    }
  }
  resolve_slots(id, step);
  if (!lane.taken) {
    if (const auto connection = awaited_message()) {
      connections_[connection->index()].receiver_waits = true;
      return false;
    }
    take_messages(id, step);
  }
  if (const auto connection = awaited_credit()) {
    connections_[connection->index()].sender_waits = true;
    return false;
  }
  return true;
}

std::optional<LaneId> Walker::awaited_lane(LaneId id, const Step& step) const {
  if (!step.after) {
    return std::nullopt;
  }
  const LaneId other = wiring_.dependency(*step.after, place(id));
  if (lanes_[other.index()].next > step.after->index) {
    return std::nullopt;
  }
  return other;
}

std::optional<GroupId> Walker::awaited_group(LaneId id, const Step& step) const {
  if (!step.join) {
    return std::nullopt;
  }
  const GroupId group = wiring_.joined_group(*step.join, place(id));
  if (groups_[group.index()].lowest_phase() >= step.phase) {
    return std::nullopt;
  }
  return group;
}

std::optional<ConnectionId> Walker::awaited_message() const {
  for (const ConnectionId id : receives_) {
    if (connections_[id.index()].pending.empty()) {
      return id;
    }
  }
  return std::nullopt;
}

std::optional<ConnectionId> Walker::awaited_credit() const {
  for (const ConnectionId id : sends_) {
    const auto depth = wiring_.connection(id).depth;
    if (depth && connections_[id.index()].pending.size() >= *depth) {
      return id;
    }
  }
  return std::nullopt;
}

void Walker::resolve_slots(LaneId id, const Step& step) {
  receives_.clear();
  sends_.clear();
  for (std::uint32_t i = 0; i < step.receives.count; ++i) {
    receives_.push_back(wiring_.receives(id, step.receives.first + i, place(id)));
  }
  for (std::uint32_t i = 0; i < step.sends.count; ++i) {
    sends_.push_back(wiring_.sends(id, step.sends.first + i, place(id)));
  }
  connections_.resize(wiring_.connections().size());
}

void Walker::take_messages(LaneId id, const Step& step) {
  for (const ConnectionId connection : receives_) {
    ConnectionState& state = connections_[connection.index()];
    const LaneId sender = wiring_.connection(connection).sender;
    const Message message = state.pending.pop();
    if (message.bytes != step.bytes) {
      throw BrokenProgram(CheckFailure::Kind::UnmatchedMessage, place(id),
                          "receives " + std::to_string(step.bytes.count()) + " bytes from " +
                              wiring_.name_of(sender) + ", whose step " +
                              std::to_string(message.step) + " sends " +
                              std::to_string(message.bytes.count()));
    }
    ++report_.messages;
    if (std::exchange(state.sender_waits, false)) {
      runnable_.push(sender);
    }
  }
  lanes_[id.index()].taken = true;
}

void Walker::send_messages(LaneId id, const Step& step) {
  for (const ConnectionId connection : sends_) {
    ConnectionState& state = connections_[connection.index()];
    state.pending.push({lanes_[id.index()].next, step.bytes});
    if (std::exchange(state.receiver_waits, false)) {
      runnable_.push(wiring_.connection(connection).receiver);
    }
  }
}

void Walker::complete(LaneId id) {
  LaneState& lane = lanes_[id.index()];
  lane.taken = false;
  ++lane.next;
  Waiters& waiters = step_waiters_[id.index()];
  while (waiters.any(lane.next)) {
    runnable_.push(waiters.take());
  }

  const std::uint64_t completed = lane.phase;
  if (!ended(id)) {
    load_phase(id);
  }
  if (!ended(id) && lane.phase == completed) {
    return;
  }
  GroupState& group = group_of(id);
  const auto entry = group.lanes_by_phase.find(completed);
  if (--entry->second == 0) {
    group.lanes_by_phase.erase(entry);
  }
  if (!ended(id)) {
    ++group.lanes_by_phase[lane.phase];
  }
  while (group.waiters.any(group.lowest_phase())) {
    runnable_.push(group.waiters.take());
  }
}

Blockage Walker::blockage(LaneId id) {
  const Step step = next_step(id);
  const StepPlace at = place(id);
  const bool taken = lanes_[id.index()].taken;
  if (!taken) {
    if (const auto other = awaited_lane(id, step)) {
      return {at,
              "waits for step " + std::to_string(step.after->index) + " of lane " +
                  std::to_string(step.after->lane),
              *other};
    }
    if (const auto group = awaited_group(id, step)) {
      const LaneId other = laggard(at.rank, *group, step.phase);
      return {at,
              "waits for lane " + std::to_string(wiring_.lane(other).lane) +
                  " to complete the phases below " + std::to_string(step.phase),
              other};
    }
  }
  resolve_slots(id, step);
  if (const auto connection = taken ? std::nullopt : awaited_message()) {
    const LaneId sender = wiring_.connection(*connection).sender;
    return {at, "waits for a message from " + wiring_.name_of(sender), sender};
  }
  const auto connection = awaited_credit();
  COLLSIM_ENSURE(connection, "a blocked lane waits for something");
  const LaneId receiver = wiring_.connection(*connection).receiver;
  return {at, "waits for a free FIFO slot at " + wiring_.name_of(receiver), receiver};
}

LaneId Walker::laggard(Rank rank, GroupId group, std::uint64_t phase) const {
  for (const LaneId id : wiring_.lanes_of(rank)) {
    if (wiring_.lane(id).group == group && !ended(id) && lanes_[id.index()].phase < phase) {
      return id;
    }
  }
  COLLSIM_ENSURE(false, "a group below a phase has a lane below it");
}

void Walker::report_deadlock() {
  std::vector<std::optional<Blockage>> blockages(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!ended(LaneId(i))) {
      blockages[i] = blockage(LaneId(i));
    }
  }
  report_.failures = describe_deadlock(blockages);
}

void Walker::report_unmatched() {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const auto& [sender, receiver, depth] = wiring_.connections()[i];
    if (connections_[i].pending.empty() || !ended(receiver)) {
      continue;
    }
    StepPlace at = place(sender);
    at.step = connections_[i].pending.front().step;
    report_.failures.push_back({CheckFailure::Kind::UnmatchedMessage, at.rank, at.lane, at.step,
                                text_of(at) + ", sends a message to " + wiring_.name_of(receiver) +
                                    ", which ends without receiving it"});
  }
}

}  // namespace

WalkReport walk_program(const Program& program, StepHandler& handler) {
  return Walker(program, handler).run();
}

}  // namespace collsim::detail
