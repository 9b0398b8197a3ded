#include "validate/cuda/lane_program.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "topology/error.hpp"
#include "validate/execution/port_pairs.hpp"

namespace collsim {

namespace {

using kernels::BlockTable;
using kernels::LaneTable;
using kernels::PortTable;
using kernels::RankTable;
using kernels::SpanTable;
using kernels::StepTable;
using kernels::WaitTable;

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + LaneProgram::alignment - 1) / LaneProgram::alignment * LaneProgram::alignment;
}

std::string step_name(Rank rank, std::uint32_t lane, std::uint64_t step) {
  return "rank " + std::to_string(rank.value()) + ", lane " + std::to_string(lane) + ", step " +
         std::to_string(step);
}

/// The messages of each port, in order.
struct Message {
  Bytes bytes;
  std::uint64_t step = 0;  ///< of the lane
};
std::vector<std::vector<Message>> messages_of(const RankScript& script, SlotRange Step::*slots,
                                              std::size_t ports) {
  std::vector<std::vector<Message>> messages(ports);
  for (const LaneScript& lane : script.lanes) {
    for (std::uint64_t i = 0; i < lane.steps; ++i) {
      const Step& step = script.steps[lane.first_step + i];
      for (std::uint32_t slot = 0; slot < (step.*slots).count; ++slot) {
        messages[(step.*slots).first + slot].push_back({step.bytes, i});
      }
    }
  }
  return messages;
}

void require_room(const RankScript& script) {
  for (std::uint32_t lane = 0; lane < script.lanes.size(); ++lane) {
    for (std::uint64_t i = 0; i < script.lanes[lane].steps; ++i) {
      const Step& step = script.steps[script.lanes[lane].first_step + i];
      constexpr std::uint32_t most = kernels::most_ends - 2;  // beside two spans
      if (step.receives.count > most || step.sends.count > most) {
        throw InputError(step_name(script.rank, lane, i) + " has " +
                             std::to_string(std::max(step.receives.count, step.sends.count)) +
                             " messages: a block of a GPU's threads keeps at most " +
                             std::to_string(most),
                         {}, "fewer ranks");
      }
    }
  }
}

/// That a message takes in a slot.
std::size_t slot_bytes_of(std::size_t message, kernels::WireKind wire) {
  switch (wire) {
    case kernels::WireKind::Simple:
      break;
    case kernels::WireKind::Lines:
      return kernels::lines_of(message) * kernels::line_bytes;
    case kernels::WireKind::WideLines:
      return kernels::wide_lines_of(message) * kernels::wide_line_bytes;
  }
  return message;
}

template <class T>
T* at(std::byte* arena, std::size_t offset) {
  return reinterpret_cast<T*>(arena + offset);  // NOLINT(*-reinterpret-cast): bytes until here
}

SpanTable span_table(const std::optional<Span>& span, std::byte* buffer) {
  if (!span) {
    return {};
  }
  const auto run = static_cast<std::uint64_t>(std::min(span->run, span->total).count());
  return {buffer + span->offset.count(), run, static_cast<std::uint64_t>(span->stride.count())};
}

template <class T>
void put(std::vector<std::byte>& image, std::size_t offset, const T& table) {
  std::memcpy(image.data() + offset, &table, sizeof(table));
}

}  // namespace

LaneProgram::Plan::Plan(const Program& program, Rank rank)
    : script(script_of(program, rank)), memory(program, rank) {
  require_room(script);
  list_waits();
}

/// Joins become waits for numbers of steps; steps that wait for the same share a list.
void LaneProgram::Plan::list_waits() {
  using Key = std::tuple<std::optional<std::uint32_t>, std::uint64_t, std::uint32_t, std::uint64_t>;
  std::map<Key, WaitRange> known;
  for (const Step& step : script.steps) {
    const Key key{step.join, step.join ? step.phase : 0, step.after ? step.after->lane : 0,
                  step.after ? step.after->index + 1 : 0};
    const auto [entry, is_new] = known.try_emplace(key);
    if (is_new) {
      entry->second.first = static_cast<std::uint32_t>(waits.size());
      if (step.after) {
        waits.push_back({step.after->index + 1, step.after->lane});
      }
      for (std::uint32_t lane = 0; step.join && lane < script.lanes.size(); ++lane) {
        const LaneScript& other = script.lanes[lane];
        const auto first = script.steps.begin() + static_cast<std::ptrdiff_t>(other.first_step);
        const auto end = first + static_cast<std::ptrdiff_t>(other.steps);
        const auto below = std::partition_point(
            first, end, [&](const Step& candidate) { return candidate.phase < step.phase; });
        if (other.group == *step.join && below != first) {
          waits.push_back({static_cast<std::uint64_t>(below - first), lane});
        }
      }
      entry->second.count = static_cast<std::uint32_t>(waits.size()) - entry->second.first;
    }
    step_waits.push_back(entry->second);
  }
}

void LaneProgram::Plan::place(kernels::WireKind wire) {
  std::size_t end = 0;
  const auto take = [&end](std::size_t size) {
    const std::size_t start = end;
    end += padded(size);
    return start;
  };
  for (std::size_t i = 0; i < memory_at.size(); ++i) {
    memory_at[i] = take(memory.sizes[i]);
  }
  zeros_at = end;
  for (const Port& port : script.in) {
    const auto largest = static_cast<std::size_t>(port.largest.count());
    slot_bytes.push_back(padded(slot_bytes_of(largest, wire)));
    slots_at.push_back(take(static_cast<std::size_t>(port.slots()) * slot_bytes.back()));
    sent_at.push_back(take(sizeof(std::uint64_t)));
  }
  for (std::size_t i = 0; i < script.out.size(); ++i) {
    taken_at.push_back(take(sizeof(std::uint64_t)));
  }
  for (std::size_t i = 0; i < script.lanes.size(); ++i) {
    done_at.push_back(take(sizeof(std::uint64_t)));
  }
  tables_at = take(sizeof(RankTable));
  lanes_at = take(script.lanes.size() * sizeof(LaneTable));
  steps_at = take(script.steps.size() * sizeof(StepTable));
  waits_at = take(waits.size() * sizeof(WaitTable));
  in_at = take(script.in.size() * sizeof(PortTable));
  out_at = take(script.out.size() * sizeof(PortTable));
  bytes = end;
}

LaneProgram::LaneProgram(const Program& program, const LaneWireChoice& wire)
    : call_(program.call()), wire_(wire) {
  plans_.reserve(call_.ranks);
  std::vector<const RankScript*> scripts;
  scripts.reserve(call_.ranks);
  for (std::uint32_t rank = 0; rank < call_.ranks; ++rank) {
    plans_.emplace_back(program, Rank(rank));
    plans_.back().place(wire_.kind);
    scripts.push_back(&plans_.back().script);
  }
  in_of_out_ = port_pairs(scripts);
  out_of_in_.reserve(plans_.size());
  for (const Plan& plan : plans_) {
    out_of_in_.emplace_back(plan.script.in.size());
  }
  for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
    for (std::uint32_t port = 0; port < plans_[rank].script.out.size(); ++port) {
      const Port& out = plans_[rank].script.out[port];
      if (out.messages > 0) {
        out_of_in_[out.peer.peer.index()][in_of_out_[rank][port]] = port;
      }
    }
  }
  check_messages();
}

void LaneProgram::check_messages() const {
  std::vector<std::vector<std::vector<Message>>> sent;
  sent.reserve(plans_.size());
  for (const Plan& plan : plans_) {
    sent.push_back(messages_of(plan.script, &Step::sends, plan.script.out.size()));
  }
  for (const Plan& plan : plans_) {
    const RankScript& script = plan.script;
    const auto received = messages_of(script, &Step::receives, script.in.size());
    for (std::size_t port = 0; port < script.in.size(); ++port) {
      for (std::size_t i = 0; i < received[port].size(); ++i) {
        const Port& in = script.in[port];
        const Message& there = sent[in.peer.peer.index()][out_of_in_[script.rank.index()][port]][i];
        if (there.bytes != received[port][i].bytes) {
          throw SimulationError(step_name(script.rank, in.lane, received[port][i].step) +
                                ", receives " + std::to_string(there.bytes.count()) +
                                " bytes from " + script.peer_name(in) + " instead of " +
                                std::to_string(received[port][i].bytes.count()));
        }
      }
    }
  }
}

std::uint64_t LaneProgram::emulated_steps() const {
  std::uint64_t steps = 0;
  for (const Plan& plan : plans_) {
    steps += plan.script.emulated;
  }
  return steps;
}

StepTable LaneProgram::step_table(const Plan& plan, std::size_t step, std::byte* arena) const {
  const Step& from = plan.script.steps[step];
  const auto span = [&](const std::optional<Span>& place) {
    return span_table(place, place ? arena + plan.buffer_at(place->buffer) : nullptr);
  };
  StepTable table{};
  table.bytes = static_cast<std::uint64_t>(from.bytes.count());
  table.source = span(from.source);
  table.operand = span(from.operand);
  table.destination = span(from.destination);
  table.first_in = from.receives.first;
  table.ins = from.receives.count;
  table.first_out = from.sends.first;
  table.outs = from.sends.count;
  table.first_wait = plan.step_waits[step].first;
  table.waits = plan.step_waits[step].count;
  return table;
}

PortTable LaneProgram::in_table(const Plan& plan, std::size_t port,
                                std::span<std::byte* const> arenas) const {
  const Port& in = plan.script.in[port];
  if (in.messages == 0) {
    return {};
  }
  std::byte* const own = arenas[plan.script.rank.index()];
  const std::size_t peer = in.peer.peer.index();
  const std::uint32_t out = out_of_in_[plan.script.rank.index()][port];
  return {own + plan.slots_at[port],
          plan.slot_bytes[port],
          in.slots(),
          at<std::uint64_t>(own, plan.sent_at[port]),
          at<std::uint64_t>(arenas[peer], plans_[peer].taken_at[out]),
          0};
}

PortTable LaneProgram::out_table(const Plan& plan, std::size_t port,
                                 std::span<std::byte* const> arenas) const {
  const Port& out = plan.script.out[port];
  if (out.messages == 0) {
    return {};
  }
  const Plan& peer = plans_[out.peer.peer.index()];
  return in_table(peer, in_of_out_[plan.script.rank.index()][port], arenas);
}

std::vector<std::byte> LaneProgram::tables(Rank rank, std::span<std::byte* const> arenas) const {
  const Plan& own = plan(rank);
  const RankScript& script = own.script;
  std::byte* const arena = arenas[rank.index()];
  std::vector<std::byte> image(own.bytes - own.tables_at);
  RankTable table{};
  table.lanes = at<LaneTable>(arena, own.lanes_at);
  table.steps = at<StepTable>(arena, own.steps_at);
  table.waits = at<WaitTable>(arena, own.waits_at);
  table.in = at<PortTable>(arena, own.in_at);
  table.out = at<PortTable>(arena, own.out_at);
  table.output = arena + output_at(rank);
  table.output_bytes = output_bytes(rank);
  table.rank = rank.value();
  table.lane_count = static_cast<std::uint32_t>(script.lanes.size());
  table.divisor = reduces(call_.kind) && call_.op == ReductionOp::Avg ? call_.ranks : 1;
  put(image, 0, table);
  const auto put_at = [&](std::size_t array, std::size_t i, const auto& entry) {
    put(image, array - own.tables_at + i * sizeof(entry), entry);
  };
  for (std::size_t i = 0; i < script.lanes.size(); ++i) {
    put_at(own.lanes_at, i,
           LaneTable{script.lanes[i].first_step, script.lanes[i].steps,
                     at<std::uint64_t>(arena, own.done_at[i])});
  }
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    put_at(own.steps_at, i, step_table(own, i, arena));
  }
  for (std::size_t i = 0; i < own.waits.size(); ++i) {
    put_at(own.waits_at, i, own.waits[i]);
  }
  for (std::size_t i = 0; i < script.in.size(); ++i) {
    put_at(own.in_at, i, in_table(own, i, arenas));
  }
  for (std::size_t i = 0; i < script.out.size(); ++i) {
    put_at(own.out_at, i, out_table(own, i, arenas));
  }
  return image;
}

std::vector<BlockTable> LaneProgram::blocks(Rank rank, std::byte* arena) const {
  std::vector<BlockTable> blocks;
  const RankScript& script = plan(rank).script;
  for (std::uint32_t lane = 0; lane < script.lanes.size(); ++lane) {
    if (script.lanes[lane].steps > 0) {
      const auto share = static_cast<std::uint32_t>(blocks.size());
      blocks.push_back({at<RankTable>(arena, tables_at(rank)), lane, share, 0});
    }
  }
  for (BlockTable& block : blocks) {
    block.shares = static_cast<std::uint32_t>(blocks.size());
  }
  return blocks;
}

kernels::LaunchTable LaneProgram::launch(BlockTable* blocks, kernels::Failure* failure,
                                         const std::uint64_t* abort,
                                         std::chrono::nanoseconds patience) const {
  return {blocks,
          failure,
          abort,
          static_cast<std::uint64_t>(patience.count()),
          kernels::all_flags,
          wire_.kind,
          static_cast<std::uint32_t>(call_.op)};
}

std::string LaneProgram::text_of(const kernels::Failure& failure) const {
  const RankScript& script = plan(Rank(failure.rank)).script;
  const std::string step = step_name(script.rank, failure.lane, failure.step) + ", waits for ";
  switch (failure.what) {
    case kernels::WaitedFor::Lane:
      return step + "steps of lane " + std::to_string(failure.index);
    case kernels::WaitedFor::Message:
    case kernels::WaitedFor::Line:
      return step + "a message from " + script.peer_name(script.in[failure.index]);
    case kernels::WaitedFor::Slot:
      return step + "a free FIFO slot at " + script.peer_name(script.out[failure.index]);
    case kernels::WaitedFor::LastSteps:
      break;
  }
  return "rank " + std::to_string(failure.rank) + ", lane " + std::to_string(failure.lane) +
         ", has run its steps and waits for those of lane " + std::to_string(failure.index);
}

void describe_lanes(const LaneProgram& program, ExecutionOutcome& outcome) {
  outcome.emulated_steps = program.emulated_steps();
  outcome.replaced_lanes = program.wire().replaced_lanes;
  outcome.wire = name_of(program.wire().kind);
}

}  // namespace collsim
