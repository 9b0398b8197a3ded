#include "validate/execution/rank_run.hpp"

#include <algorithm>
#include <limits>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

/// So much at a time, so that who watches sees it go on; copies of this size still stream past the caches.
constexpr std::size_t longest_stretch = std::size_t{16} << 20U;

template <class Byte>
detail::RunCursor<Byte> whole(Byte* start, std::size_t bytes) {
  return {start, bytes, bytes, 0};
}

/// `start` is that of the span's buffer.
template <class Byte>
detail::RunCursor<Byte> cursor_of(const Span& span, Byte* start) {
  const auto run = static_cast<std::size_t>(std::min(span.run, span.total).count());
  const bool several = span.run < span.total;
  const auto gap = several ? static_cast<std::size_t>((span.stride - span.run).count()) : 0;
  return {start + span.offset.count(), run, run, gap};
}

}  // namespace

RankRun::RankRun(const Program& program, const RankScript& script, RankMemory& memory, Wire& wire)
    : script_(script),
      memory_(memory),
      wire_(wire),
      copy_reduce_(program.call().type, program.call().op),
      divide_(kernels::divide_loop(program.call().type)),
      lanes_(script.lanes.size()),
      phases_(script.groups) {
  const CollectiveCall& call = program.call();
  if (reduces(call.kind) && call.op == ReductionOp::Avg) {
    divisor_ = call.ranks;
  }
}

void RankRun::restart() {
  running_.clear();
  for (auto& group : phases_) {
    group.clear();
  }
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane].next = 0;
    lanes_[lane].leaving = {};
    if (script_.lanes[lane].steps > 0) {
      running_.push_back(lane);
      ++phases_[script_.lanes[lane].group][next_step(lane).phase];
    }
  }
}

bool RankRun::advance() {
  bool moved = false;
  bool ended = false;
  for (const std::uint32_t lane : running_) {
    while (lanes_[lane].next < script_.lanes[lane].steps &&
           blockage(lane).obstacle == Obstacle::None) {
      execute(lane);
      moved = true;
    }
    ended = ended || lanes_[lane].next == script_.lanes[lane].steps;
  }
  if (ended) {
    std::erase_if(running_, [this](std::uint32_t lane) {
      return lanes_[lane].next == script_.lanes[lane].steps;
    });
  }
  return moved;
}

RankRun::Blockage RankRun::blockage(std::uint32_t lane) const {
  const Step& step = next_step(lane);
  const SlotRange& leaving = lanes_[lane].leaving;
  for (std::uint32_t i = 0; i < leaving.count; ++i) {
    if (!wire_.has_left(leaving.first + i)) {
      return {Obstacle::Leaving, leaving.first + i};
    }
  }
  if (step.after && lanes_[step.after->lane].next <= step.after->index) {
    return {Obstacle::Step};
  }
  if (step.join && lowest_phase(*step.join) < step.phase) {
    return {Obstacle::Join};
  }
  if (!lanes_[lane].taken) {
    for (std::uint32_t i = 0; i < step.receives.count; ++i) {
      if (!wire_.arrived(step.receives.first + i)) {
        return {Obstacle::Message, step.receives.first + i};
      }
    }
  }
  for (std::uint32_t i = 0; i < step.sends.count; ++i) {
    if (!wire_.has_credit(step.sends.first + i)) {
      return {Obstacle::Credit, step.sends.first + i};
    }
  }
  return {};
}

std::uint64_t RankRun::lowest_phase(std::uint32_t group) const {
  const auto& phases = phases_[group];
  return phases.empty() ? std::numeric_limits<std::uint64_t>::max() : phases.begin()->first;
}

void RankRun::add_span(const Span& span) {
  inputs_.push_back(cursor_of<const std::byte>(span, memory_.at(span.buffer)));
}

void RankRun::execute(std::uint32_t lane) {
  const Step& step = next_step(lane);
  LaneState& state = lanes_[lane];
  const auto bytes = static_cast<std::size_t>(step.bytes.count());
  inputs_.clear();
  outputs_.clear();
  for (std::uint32_t i = 0; i < step.receives.count; ++i) {
    const std::span<const std::byte> message =
        state.taken ? state.aside[i].bytes() : wire_.message(step.receives.first + i);
    check_size(lane, step.receives.first + i, message.size());
    inputs_.push_back(whole(message.data(), bytes));
  }
  for (const auto& span : {step.source, step.operand}) {
    if (span) {
      add_span(*span);
    }
  }
  for (std::uint32_t i = 0; i < step.sends.count; ++i) {
    outputs_.push_back(whole(wire_.slot(step.sends.first + i), bytes));
  }
  if (step.destination) {
    outputs_.push_back(cursor_of(*step.destination, memory_.at(step.destination->buffer)));
  }
  move_bytes(bytes);

  if (!state.taken) {
    for (std::uint32_t i = 0; i < step.receives.count; ++i) {
      wire_.release(step.receives.first + i);
    }
  }
  for (std::uint32_t i = 0; i < step.sends.count; ++i) {
    wire_.send(step.sends.first + i, bytes);
  }
  state.leaving = step.sends;
  complete(lane);
}

/// Stretch by stretch in which no run ends.
void RankRun::move_bytes(std::size_t bytes) {
  while (bytes > 0) {
    std::size_t stretch = std::min(bytes, longest_stretch);
    input_starts_.clear();
    output_starts_.clear();
    for (const auto& input : inputs_) {
      stretch = std::min(stretch, input.left_in_run);
      input_starts_.push_back(input.at);
    }
    for (const auto& output : outputs_) {
      stretch = std::min(stretch, output.left_in_run);
      output_starts_.push_back(output.at);
    }
    copy_reduce_(input_starts_, output_starts_, stretch);
    note_work();
    bytes -= stretch;
    for (auto& input : inputs_) {
      input.advance(stretch);
    }
    for (auto& output : outputs_) {
      output.advance(stretch);
    }
  }
}

void RankRun::complete(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const std::uint64_t completed = next_step(lane).phase;
  state.taken = false;
  ++state.next;
  note_work();
  const bool ended = state.next == script_.lanes[lane].steps;
  if (!ended && next_step(lane).phase == completed) {
    return;
  }
  auto& phases = phases_[script_.lanes[lane].group];
  const auto entry = phases.find(completed);
  if (--entry->second == 0) {
    phases.erase(entry);
  }
  if (!ended) {
    ++phases[next_step(lane).phase];
  }
}

void RankRun::check_size(std::uint32_t lane, std::uint32_t port, std::size_t found) const {
  const auto expected = static_cast<std::size_t>(next_step(lane).bytes.count());
  if (found != expected) {
    throw ExecutionError("rank " + std::to_string(script_.rank.value()) + ", lane " +
                         std::to_string(lane) + ", step " + std::to_string(lanes_[lane].next) +
                         ", receives " + std::to_string(found) + " bytes from " +
                         script_.peer_name(script_.in[port]) + " instead of " +
                         std::to_string(expected));
  }
}

bool RankRun::take_messages() {
  bool took = false;
  for (const std::uint32_t lane : running_) {
    const Step& step = next_step(lane);
    if (lanes_[lane].taken || step.receives.count == 0 ||
        blockage(lane).obstacle != Obstacle::Credit) {
      continue;
    }
    LaneState& state = lanes_[lane];
    state.aside.clear();
    for (std::uint32_t i = 0; i < step.receives.count; ++i) {
      const std::span<const std::byte> message = wire_.message(step.receives.first + i);
      state.aside.emplace_back(message.size());
      std::ranges::copy(message, state.aside.back().data());
      wire_.release(step.receives.first + i);
    }
    state.taken = true;
    took = true;
  }
  return took;
}

void RankRun::finish_output() {
  if (divisor_ > 1) {
    std::span<std::byte> output = memory_.output();
    while (!output.empty()) {
      const std::size_t stretch = std::min(output.size(), longest_stretch);
      divide_(output.data(), divisor_, stretch / copy_reduce_.element_bytes);
      output = output.subspan(stretch);
      note_work();
    }
  }
}

std::string RankRun::wait_of(std::uint32_t lane) const {
  const Blockage blocked = blockage(lane);
  const Step& step = next_step(lane);
  switch (blocked.obstacle) {
    case Obstacle::Leaving:
      return "waits for its message to " + script_.peer_name(script_.out[blocked.port]) +
             " to leave";
    case Obstacle::Step:
      return "waits for step " + std::to_string(step.after->index) + " of lane " +
             std::to_string(step.after->lane);
    case Obstacle::Join:
      return "waits for its other lanes to complete the phases below " + std::to_string(step.phase);
    case Obstacle::Message:
      return "waits for a message from " + script_.peer_name(script_.in[blocked.port]);
    case Obstacle::Credit:
      return "waits for a free FIFO slot at " + script_.peer_name(script_.out[blocked.port]);
    case Obstacle::None:
      break;
  }
  return "is about to run";
}

std::vector<std::string> RankRun::waits() const {
  std::vector<std::string> waits;
  waits.reserve(running_.size());
  for (const std::uint32_t lane : running_) {
    waits.push_back("rank " + std::to_string(script_.rank.value()) + ", lane " +
                    std::to_string(lane) + ", step " + std::to_string(lanes_[lane].next) + ", " +
                    wait_of(lane));
  }
  return waits;
}

}  // namespace collsim
