#pragma once

// The interpreter of one lane's steps by a block of threads: what a kernel runs, one block a lane.
//
// A template over the machine: a GPU (device_machine.cuh) or threads of the host (host_machine.hpp), so that the host runs
// the very source that the GPU does. A machine gives thread(), threads(), barrier(); acquire() of a counter, fence() and publish();
// load() and store() of plain memory, load_line() and store_line() of LL's, load_flagged() and store_flagged() of LL128's, whose lines
// line_threads of a team of team_threads share, which meet_team() gathers and any_of_team() asks; now() in nanoseconds, relax(), claim().
//
// Simple: data, then a fence, then the count of messages; the receiver reads behind an acquire of that count (move_packs.hpp). LL:
// and LL128: data travel beside flags, the message's number: no fence, no count (move_lines.hpp, move_wide_lines.hpp). In all, a slot is
// free again when the receiver's count of taken messages says so.
// Differs from the interpreter of processors (validate/execution/rank_run.hpp) in one point: a step waits for its messages *and*
// for room before it moves anything; programs that only the taking of messages ahead of room keeps going time out here, and say so.
// NVLink SHARP's steps are loops over what all ranks have sent.
// Sources: NCCL src/device/prims_simple.h, prims_ll.h, prims_ll128.h; PTX ISA, memory consistency model.

#include <cstddef>
#include <cstdint>

#include "algorithms/collective.hpp"
#include "kernels/block_state.hpp"
#include "kernels/lane_context.hpp"
#include "kernels/lane_tables.hpp"
#include "kernels/move_lines.hpp"
#include "kernels/move_packs.hpp"
#include "kernels/move_wide_lines.hpp"
#include "kernels/operators.hpp"

namespace collsim::kernels {

template <class Machine>
class LaneRun {
 public:
  /// Requires: all outlive it.
  COLLSIM_MACHINE_CODE LaneRun(Machine& machine, const LaunchTable& launch, const BlockTable& block,
                               BlockState& state)
      : context_{machine, launch, block, *block.rank, block.rank->lanes[block.lane], state},
        machine_(machine),
        launch_(launch),
        rank_(*block.rank),
        lane_(block.rank->lanes[block.lane]),
        state_(state) {}

  /// Runs all steps of one call.
  template <class T>
  COLLSIM_MACHINE_CODE void run() {
    const std::uint64_t begun = machine_.acquire(lane_.done);
    call_ = begun / lane_.steps;
    if (machine_.thread() == 0) {
      state_.failed = 0;
    }
    for (std::uint64_t step = 0; step < lane_.steps; ++step) {
      const StepTable& table = rank_.steps[lane_.first_step + step];
      if (machine_.thread() == 0) {
        state_.step = step;
        state_.go = open(table) ? 1 : 0;
      }
      machine_.barrier();
      if (state_.go == 0) {
        return;
      }
      move_by_operator<T>(table.bytes);
      // All have moved their part: what follows says so to others.
      machine_.barrier();
      if (state_.failed != 0) {
        return;
      }
      if (machine_.thread() == 0) {
        close(table, begun + step + 1);
      }
    }
    if (rank_.divisor > 1) {
      divide<T>();
    }
  }

 private:
  /// Of a message; 0: it has none. LL128's never recur.
  [[nodiscard]] COLLSIM_MACHINE_CODE std::uint64_t flag_of(std::uint64_t position) const {
    switch (launch_.wire) {
      case WireKind::Simple:
        break;
      case WireKind::Lines:
        return position % launch_.flags + 1;
      case WireKind::WideLines:
        return position + 1;
    }
    return 0;
  }

  /// By one thread: waits for all that the step needs, and finds its ends. False: it took too long.
  COLLSIM_MACHINE_CODE bool open(const StepTable& step) {
    for (std::uint32_t i = 0; i < step.waits; ++i) {
      const WaitTable& wait = rank_.waits[step.first_wait + i];
      const LaneTable& lane = rank_.lanes[wait.lane];
      if (!reaches(context_, lane.done, call_ * lane.steps + wait.steps, WaitedFor::Lane,
                   wait.lane)) {
        return false;
      }
    }
    if (!find_inputs(step) || !find_outputs(step)) {
      return false;
    }
    begin_stretch(state_, step.bytes, 0);
    return true;
  }

  COLLSIM_MACHINE_CODE bool find_inputs(const StepTable& step) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < step.ins; ++i) {
      const PortTable& port = rank_.in[step.first_in + i];
      // Lines say for themselves that they are there.
      if (launch_.wire == WireKind::Simple &&
          !reaches(context_, port.sent, port.position + 1, WaitedFor::Message, step.first_in + i)) {
        return false;
      }
      state_.inputs[count++] = slot_of(port, step.bytes, step.first_in + i);
    }
    if (step.source.start != nullptr) {
      state_.inputs[count++] = end_of(step.source);
    }
    if (step.operand.start != nullptr) {
      state_.inputs[count++] = end_of(step.operand);
    }
    state_.input_count = count;
    return true;
  }

  COLLSIM_MACHINE_CODE bool find_outputs(const StepTable& step) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < step.outs; ++i) {
      const PortTable& port = rank_.out[step.first_out + i];
      if (port.position >= port.slot_count &&
          !reaches(context_, port.taken, port.position + 1 - port.slot_count, WaitedFor::Slot,
                   step.first_out + i)) {
        return false;
      }
      End end = slot_of(port, step.bytes, step.first_out + i);
      // A line that short messages leave out keeps an old flag. Twice before flags recur every slot is written whole, so that no
      // line has a flag that is as old as that. Source: NCCL's NCCL_LL_CLEAN_MASK.
      const std::uint64_t half = launch_.flags / 2;
      if (launch_.wire == WireKind::Lines && port.position % half + port.slot_count >= half) {
        end.clean = port.slot_bytes / line_bytes;
      }
      state_.outputs[count++] = end;
    }
    if (step.destination.start != nullptr) {
      state_.outputs[count++] = end_of(step.destination);
    }
    state_.output_count = count;
    return true;
  }

  [[nodiscard]] COLLSIM_MACHINE_CODE End slot_of(const PortTable& port, std::uint64_t bytes,
                                                 std::uint32_t index) const {
    std::byte* const start = port.slots + port.position % port.slot_count * port.slot_bytes;
    return End{start, start, bytes, bytes, 0, flag_of(port.position), index};
  }
  [[nodiscard]] COLLSIM_MACHINE_CODE static End end_of(const SpanTable& span) {
    return End{span.start, span.start, span.run, span.stride, 0, 0, 0};
  }

  /// By one thread.
  COLLSIM_MACHINE_CODE void close(const StepTable& step, std::uint64_t done) {
    machine_.fence();
    for (std::uint32_t i = 0; i < step.outs; ++i) {
      PortTable& port = rank_.out[step.first_out + i];
      ++port.position;
      if (launch_.wire == WireKind::Simple) {
        machine_.publish(port.sent, port.position);
      }
    }
    for (std::uint32_t i = 0; i < step.ins; ++i) {
      PortTable& port = rank_.in[step.first_in + i];
      ++port.position;
      machine_.publish(port.taken, port.position);
    }
    machine_.publish(lane_.done, done);
  }

  template <class T>
  COLLSIM_MACHINE_CODE void move_by_operator(std::uint64_t bytes) {
    switch (static_cast<ReductionOp>(launch_.op)) {
      case ReductionOp::Sum:
      case ReductionOp::Avg:
        return move<Sum, T>(bytes);
      case ReductionOp::Prod:
        return move<Prod, T>(bytes);
      case ReductionOp::Min:
        return move<Min, T>(bytes);
      case ReductionOp::Max:
        return move<Max, T>(bytes);
    }
  }

  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move(std::uint64_t bytes) {
    if (state_.input_count == 0) {
      return;
    }
    switch (launch_.wire) {
      case WireKind::Simple:
        return move_packs<Operator, T>(machine_, state_, bytes);
      case WireKind::Lines:
        return LineMover<Machine>(context_, bytes).template move<Operator, T>();
      case WireKind::WideLines:
        return WideLineMover<Machine>(context_, bytes).template move<Operator, T>();
    }
  }

  /// The division of an average, when all lanes of the rank have run: each block divides a part.
  template <class T>
  COLLSIM_MACHINE_CODE void divide() {
    if (machine_.thread() == 0) {
      state_.step = lane_.steps;
      state_.go = 1;
      for (std::uint32_t i = 0; i < rank_.lane_count && state_.go != 0; ++i) {
        const LaneTable& lane = rank_.lanes[i];
        if (!reaches(context_, lane.done, (call_ + 1) * lane.steps, WaitedFor::LastSteps, i)) {
          state_.go = 0;
        }
      }
    }
    machine_.barrier();
    if (state_.go == 0) {
      return;
    }
    const std::uint64_t elements = rank_.output_bytes / sizeof(T);
    const std::uint64_t first = elements * context_.block.share / context_.block.shares;
    const std::uint64_t end = elements * (context_.block.share + 1) / context_.block.shares;
    // NOLINTNEXTLINE(*-reinterpret-cast): elements lie in memory that knows only bytes
    divide_elements(reinterpret_cast<T*>(rank_.output) + first, rank_.divisor, end - first,
                    machine_.thread(), machine_.threads());
  }

  LaneContext<Machine> context_;
  Machine& machine_;
  const LaunchTable& launch_;
  const RankTable& rank_;
  const LaneTable& lane_;
  BlockState& state_;
  std::uint64_t call_ = 0;  ///< calls that the lane has run before this one
};

}  // namespace collsim::kernels
