#include "sim/lanes.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/charged_items.hpp"
#include "sim/memory_parts.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// GPUs of a communicator on the node that has most of them.
std::uint32_t most_on_a_node(const Cluster& cluster, const Communicator& communicator) {
  std::vector<std::uint32_t> counts(cluster.graph().nodes() + 1);
  std::uint32_t most = 1;
  for (const DeviceId gpu : communicator) {
    const std::optional<NodeId> node = cluster.graph().device(gpu).node;
    if (node) {
      most = std::max(most, ++counts[node->index()]);
    }
  }
  return most;
}

}  // namespace

std::string place_of(const OperationState& operation, std::uint32_t lane) {
  return "rank " + std::to_string(operation.lanes[lane].rank.value()) + " lane " +
         std::to_string(operation.lane_number(lane)) + " step " +
         std::to_string(operation.lanes[lane].step);
}

LaneEngine::LaneEngine(const Cluster& cluster, const Workload& workload, const RunOptions& options,
                       const FoldPlan* plan, EventQueue& queue, Network& network,
                       CriticalPaths& critical_paths, bool traced)
    : options_(&options),
      plan_(plan),
      queue_(&queue),
      network_(&network),
      critical_paths_(&critical_paths),
      layout_(cluster.graph().levels().size(),
              options.costs != nullptr ? charged_items(cluster, workload, *options.costs)
                                       : CostItemSet{}),
      width_(layout_.size() + (traced ? 1 : 0)),
      cluster_(&cluster),
      legs_(cluster.graph().gpus().size()),
      routes_(cluster, network, options.costs, plan == nullptr ? nullptr : &plan->links),
      messages_(width_),
      operations_(workload.operations.size()) {}

void LaneEngine::activate(OperationId id, const Collective& collective) {
  auto operation = std::make_unique<OperationState>();
  operation->id = id;
  operation->program = collective.program.get();
  operation->folded = plan_ == nullptr ? nullptr : plan_->programs[id.index()].get();
  operation->communicator = collective.communicator.get();
  const auto ranks = static_cast<std::uint32_t>(collective.communicator->size());
  operation->ranks.resize(ranks + 1U);
  std::uint32_t lanes = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    operation->ranks[rank].first_lane = lanes;
    lanes += operation->program->lane_count(Rank(rank));
  }
  operation->ranks[ranks].first_lane = lanes;
  operation->lanes.resize(lanes);
  routes_.expect(lanes);
  messages_.expect(lanes);

  std::uint32_t groups = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankState& state = operation->ranks[rank];
    state.first_group = groups;
    state.lanes_left = operation->lane_count(Rank(rank));
    if (options_->costs != nullptr) {
      state.memory = memory_of_lane(*operation, Rank(rank));
    }
    std::uint32_t groups_of_rank = 0;
    for (std::uint32_t number = 0; number < state.lanes_left; ++number) {
      const Lane lane = operation->program->lane(Rank(rank), number);
      LaneState& lane_state = operation->lanes[state.first_lane + number];
      lane_state.rank = Rank(rank);
      lane_state.steps = operation->program->step_count(Rank(rank), number);
      lane_state.group = lane.group;
      lane_state.fifo_depth = lane.fifo_depth.value_or(no_index);
      lane_state.multiplicity = lane.multiplicity;
      if (options_->costs != nullptr) {
        lane_state.protocol = lane.protocol;
        lane_state.kernel = lane.kernel;
        lane_state.threads = lane.threads;
        lane_state.channel = lane.channel;
      }
      groups_of_rank = std::max(groups_of_rank, lane.group + 1);
    }
    groups += groups_of_rank;
  }
  operation->channels = operation->program->channels();
  operation->proxies = std::min(
      operation->channels,
      most_on_a_node(*cluster_, operation->folded == nullptr ? *collective.communicator
                                                             : operation->folded->communicator()));
  operation->narrow = size_of(operation->program->call().type) == Bytes(1);
  operation->ranks[ranks].first_group = groups;
  operation->groups.resize(groups);
  operation->vectors.resize(lanes * width_);
  if (options_->critical_path) {
    operation->histories.resize(lanes);
  }
  operations_[id.index()] = std::move(operation);
}

Bandwidth LaneEngine::memory_of_lane(const OperationState& operation, Rank rank) const {
  const FoldedProgram* const folded = operation.folded;
  if (folded == nullptr) {
    return memory_part(*cluster_, *options_->costs, *operation.program, rank, operation.gpu(rank));
  }
  const Rank first = folded->classes()[rank.index()].first;
  return memory_part(*cluster_, *options_->costs, folded->whole(), first,
                     folded->communicator()[first.index()]);
}

void LaneEngine::deactivate(OperationId id) {
  OperationState& operation = *operations_[id.index()];
  for (LaneState& lane : operation.lanes) {
    forget_targets(lane);
  }
  for (const auto& [lane, groups] : operation.group_paths) {
    for (const GroupPath& group : groups.paths) {
      routes_.release(group.path);
    }
  }
  for (const LaneHistory& history : operation.histories) {
    critical_paths_->release(history.stretch);
  }
  operations_[id.index()].reset();
}

void LaneEngine::start(OperationId id, Rank rank, Progress progress) {
  OperationState& operation = *operations_[id.index()];
  RankState& state = operation.ranks[rank.index()];
  const std::uint32_t end = operation.ranks[rank.index() + 1].first_lane;
  // All lanes are in their phase before the first of them asks whether a join is complete.
  for (std::uint32_t lane = state.first_lane; lane < end; ++lane) {
    LaneState& lane_state = operation.lanes[lane];
    if (lane_state.steps == 0) {
      continue;
    }
    lane_state.phase = operation.program->step(rank, operation.lane_number(lane), 0).phase;
    operation.groups[state.first_group + lane_state.group].enter(lane_state.phase);
  }
  for (std::uint32_t lane = state.first_lane; lane < end; ++lane) {
    std::copy_n(progress.vector, width_, vector_of(operation, lane));
    if (options_->critical_path) {
      critical_paths_->assign(operation.histories[lane].stretch, progress.stretch);
    }
    if (operation.lanes[lane].steps == 0) {
      end_lane(operation, lane);
    } else {
      enter_step(operation, lane);
      runnable_.push_back({id, lane});
    }
  }
  if (state.first_lane == end) {
    state.end = queue_->now();
    ended_.push_back({id, rank});
  }
  drain();
}

Progress LaneEngine::progress_of(OperationId id, Rank rank) {
  OperationState& operation = *operations_[id.index()];
  const std::uint32_t lane = operation.ranks[rank.index()].last_lane;
  if (lane == no_index) {
    return {};
  }
  return {vector_of(operation, lane),
          options_->critical_path ? operation.histories[lane].stretch : no_index};
}

void LaneEngine::drain() {
  while (!runnable_.empty()) {
    const RunnableLane next = runnable_.back();
    runnable_.pop_back();
    advance(*operations_[next.operation.index()], next.lane);
  }
}

void LaneEngine::advance(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  while (lane.stage != LaneStage::Done) {
    if (lane.stage == LaneStage::Dependencies) {
      if (lane.unmet != 0) {
        return;
      }
      begin_receives(lane);
    }
    if (lane.stage == LaneStage::Messages) {
      if (lane.missing != 0) {
        return;
      }
      look_at_messages(operation, index);
      if (lane.protocol == WireProtocol::None) {
        consume_messages(operation, index);
      }
      lane.stage = LaneStage::Credit;
    }
    if (lane.stage == LaneStage::Credit) {
      if (lane.sends.count != 0 && !has_credit(operation, index)) {
        return;
      }
      begin_step(operation, index);
    }
    if (lane.stage != LaneStage::Credit) {
      return;
    }
    complete_step(operation, index);
  }
}

void LaneEngine::enter_step(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  Step step = operation.program->step(lane.rank, operation.lane_number(index), lane.step);
  if (operation.folded != nullptr) {
    lane.steps_at_once =
        operation.folded->fold_slots(lane.rank, operation.lane_number(index), lane.step, step);
  }
  if (step.phase != lane.phase) {
    if (step.phase < lane.phase) {
      throw SimulationError(place_of(operation, index) +
                            ": its phase is below that of the step before");
    }
    const std::uint64_t left = lane.phase;
    lane.phase = step.phase;
    PhaseGroup& group =
        operation.groups[operation.ranks[lane.rank.index()].first_group + lane.group];
    group.enter(step.phase);
    if (group.leave(left, index, queue_->now())) {
      release_joiners(operation, group);
    }
  }
  lane.bytes = step.bytes;
  lane.receives = step.receives;
  lane.sends = step.sends;
  lane.movement = step.movement;
  if (lane.protocol != WireProtocol::None) {
    lane.primitive = step.primitive();
    lane.continues = step.continues;
    lane.posts_later = step.posts_later;
  }
  lane.own_reads = static_cast<std::uint8_t>((step.source ? 1U : 0U) + (step.operand ? 1U : 0U));
  lane.writes_own = step.destination.has_value();
  lane.to_scratch = step.destination && step.destination->buffer == Buffer::Scratch;
  lane.reached = queue_->now();
  lane.clock = queue_->now();
  lane.waited_lane = no_index;
  lane.stage = LaneStage::Dependencies;
  if (step.after || step.join) {
    wait_for_dependencies(operation, index, step);
  }
}

void LaneEngine::begin_receives(LaneState& lane) {
  lane.stage = LaneStage::Messages;
  lane.missing = 0;
  for (std::uint32_t slot = 0; slot < lane.receives.count; ++slot) {
    if (!lane.mailbox.has(messages_, lane.receives.first + slot)) {
      ++lane.missing;
    }
  }
}

void LaneEngine::check_message(const OperationState& operation, std::uint32_t index,
                               const Message& message) const {
  if (message.bytes == operation.lanes[index].bytes) {
    return;
  }
  throw SimulationError(place_of(operation, index) + " receives " +
                        std::to_string(operation.lanes[index].bytes.count()) +
                        " bytes, but the message from rank " +
                        std::to_string(operation.lanes[message.from_lane].rank.value()) + " has " +
                        std::to_string(message.bytes.count()));
}

// The message that arrived last (the lowest slot of equals) is what the lane goes on from, unless
// the lane itself or one of its dependencies was as late.
void LaneEngine::look_at_messages(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  for (std::uint32_t slot = 0; slot < lane.receives.count; ++slot) {
    const std::uint32_t id = lane.mailbox.first(messages_, lane.receives.first + slot);
    const Message& message = messages_[id];
    check_message(operation, index, message);
    if (message.arrival > lane.clock) {
      lane.clock = message.arrival;
      follow(operation, index, messages_.vector(id));
      if (options_->critical_path) {
        LaneHistory& history = operation.histories[index];
        critical_paths_->assign(history.stretch, message.stretch);
        history.from = operation.lanes[message.from_lane].rank;
        history.waited = true;
      }
    }
  }
}

// Frees the messages' places and gives the credits back.
void LaneEngine::consume_messages(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  for (std::uint32_t slot = 0; slot < lane.receives.count; ++slot) {
    const std::uint32_t id = lane.mailbox.take(messages_, lane.receives.first + slot);
    const Message& message = messages_[id];
    if (options_->observer != nullptr) {
      record_transfer(operation, message);
    }
    return_credit(operation, message);
    critical_paths_->release(message.stretch);
    messages_.give_back(id);
    --operation.messages;
  }
}

void LaneEngine::follow(OperationState& operation, std::uint32_t lane, const std::int64_t* vector) {
  std::copy_n(vector, width_, vector_of(operation, lane));
}

void LaneEngine::complete_step(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  if (lane.protocol != WireProtocol::None) {
    consume_messages(operation, index);
  }
  if (options_->observer != nullptr) {
    record_step(operation, index);
  }
  if (options_->critical_path) {
    remember_step(operation, index);
  }
  lane.step += lane.steps_at_once;
  if (lane.first_dependent != no_index) {
    release_dependents(operation, index);
  }
  if (lane.step == lane.steps) {
    end_lane(operation, index);
  } else {
    enter_step(operation, index);
  }
}

void LaneEngine::end_lane(OperationState& operation, std::uint32_t index) {
  LaneState& lane = operation.lanes[index];
  lane.stage = LaneStage::Done;
  forget_targets(lane);
  RankState& rank = operation.ranks[lane.rank.index()];
  if (lane.steps != 0) {
    PhaseGroup& group = operation.groups[rank.first_group + lane.group];
    if (group.leave(lane.phase, index, queue_->now())) {
      release_joiners(operation, group);
    }
  }
  if (rank.last_lane == no_index || queue_->now() > rank.end || index < rank.last_lane) {
    rank.last_lane = index;
  }
  rank.end = queue_->now();
  if (--rank.lanes_left == 0) {
    ended_.push_back({operation.id, lane.rank});
  }
}

void LaneEngine::arrived(std::uint32_t id) {
  const Message& message = messages_[id];
  OperationState& operation = *operations_[message.operation.index()];
  LaneState& lane = operation.lanes[message.to_lane];
  const std::uint32_t slot = message.receive_slot;
  const bool awaited = lane.stage == LaneStage::Messages && slot >= lane.receives.first &&
                       slot - lane.receives.first < lane.receives.count;
  const bool first_of_slot = lane.mailbox.add(messages_, id);
  if (awaited && first_of_slot && --lane.missing == 0) {
    advance(operation, message.to_lane);
    drain();
  }
}

void LaneEngine::check_finished() {
  COLLSIM_ENSURE(network_->transfers_under_way() == 0, "transfers are under way after the end");
  COLLSIM_ENSURE(messages_.used() == 0, "messages are under way after the end");
  routes_.check_links();
}

}  // namespace collsim::detail
