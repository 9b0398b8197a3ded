#pragma once

// The interpreter of one lane's steps by a block of threads: what a kernel runs, one block a lane.
//
// A template over the machine: a GPU (device_machine.cuh) or threads of the host (host_machine.hpp), so that the host runs
// the very source that the GPU does. A machine gives thread(), threads(), barrier(); acquire() of a counter, fence() and publish();
// load() and store() of plain memory, load_line() and store_line() of LL's; now() in nanoseconds, relax(), claim().
//
// Simple: data, then a fence, then the count of messages; the receiver reads behind an acquire of that count. LL: every 4 bytes of
// data travel beside 4 bytes of flag, the message's number, in one 8-byte store: no fence, no count. In both, a slot is free
// again when the receiver's count of taken messages says so.
// Differs from the interpreter of processors (validate/execution/rank_run.hpp) in one point: a step waits for its messages *and*
// for room before it moves anything; programs that only the taking of messages ahead of room keeps going time out here, and say so.
// NVLink SHARP's steps are loops over what all ranks have sent. LL128's lanes run as LL.
// Sources: NCCL src/device/prims_simple.h, prims_ll.h; PTX ISA, memory consistency model.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "algorithms/collective.hpp"
#include "kernels/block_state.hpp"
#include "kernels/lane_tables.hpp"
#include "kernels/operators.hpp"

namespace collsim::kernels {

// Addresses are numbers where their alignment is asked for, and elements lie in memory that knows only bytes.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
template <class Machine>
class LaneRun {
 public:
  COLLSIM_MACHINE_CODE LaneRun(Machine& machine, const LaunchTable& launch, const BlockTable& block,
                               BlockState& state)
      : machine_(machine),
        launch_(launch),
        block_(block),
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
  [[nodiscard]] COLLSIM_MACHINE_CODE std::uint32_t flag_of(std::uint64_t position) const {
    return static_cast<std::uint32_t>(position % launch_.flags) + 1;
  }

  /// Whether to wait no longer; then the first one to give up has said what for.
  COLLSIM_MACHINE_CODE bool give_up(Wait& wait, WaitedFor what, std::uint32_t index) {
    constexpr std::uint32_t looks_between_clocks = 256;
    machine_.relax();
    if (++wait.looks % looks_between_clocks != 0) {
      return false;
    }
    if (machine_.acquire(&launch_.failure->claimed) != 0) {
      return true;
    }
    const std::uint64_t now = machine_.now();
    if (wait.since == 0) {
      wait.since = now;
    }
    if (now - wait.since < launch_.patience) {
      return false;
    }
    if (machine_.claim(&launch_.failure->claimed)) {
      launch_.failure->step = state_.step;
      launch_.failure->rank = rank_.rank;
      launch_.failure->lane = block_.lane;
      launch_.failure->what = what;
      launch_.failure->index = index;
    }
    return true;
  }

  COLLSIM_MACHINE_CODE bool reaches(const std::uint64_t* counter, std::uint64_t number,
                                    WaitedFor what, std::uint32_t index) {
    Wait wait;
    while (machine_.acquire(counter) < number) {
      if (give_up(wait, what, index)) {
        return false;
      }
    }
    return true;
  }

  /// By one thread: waits for all that the step needs, and finds its ends. False: it took too long.
  COLLSIM_MACHINE_CODE bool open(const StepTable& step) {
    for (std::uint32_t i = 0; i < step.waits; ++i) {
      const WaitTable& wait = rank_.waits[step.first_wait + i];
      const LaneTable& lane = rank_.lanes[wait.lane];
      if (!reaches(lane.done, call_ * lane.steps + wait.steps, WaitedFor::Lane, wait.lane)) {
        return false;
      }
    }
    if (!find_inputs(step) || !find_outputs(step)) {
      return false;
    }
    begin_stretch(step.bytes, 0);
    return true;
  }

  COLLSIM_MACHINE_CODE bool find_inputs(const StepTable& step) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < step.ins; ++i) {
      const PortTable& port = rank_.in[step.first_in + i];
      // Lines say for themselves that they are there.
      if (launch_.lines == 0 &&
          !reaches(port.sent, port.position + 1, WaitedFor::Message, step.first_in + i)) {
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
          !reaches(port.taken, port.position + 1 - port.slot_count, WaitedFor::Slot,
                   step.first_out + i)) {
        return false;
      }
      End end = slot_of(port, step.bytes, step.first_out + i);
      // A line that short messages leave out keeps an old flag. Twice before flags recur every slot is written whole, so that no
      // line has a flag that is as old as that. Source: NCCL's NCCL_LL_CLEAN_MASK.
      const std::uint64_t half = launch_.flags / 2;
      if (port.position % half + port.slot_count >= half) {
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
    const std::uint32_t flag = launch_.lines == 0 ? 0 : flag_of(port.position);
    return End{start, start, bytes, bytes, 0, flag, index};
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
      if (launch_.lines == 0) {
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
    if (launch_.lines != 0) {
      move_lines<Operator, T>(bytes);
      return;
    }
    if (bytes == 0) {
      return;
    }
    for (std::uint64_t moved = 0;;) {
      const std::uint64_t stretch = state_.stretch;
      move_stretch<Operator, T>(stretch);
      moved += stretch;
      if (moved == bytes) {
        return;
      }
      machine_.barrier();
      if (machine_.thread() == 0) {
        begin_stretch(bytes, moved);
      }
      machine_.barrier();
    }
  }

  /// By one thread: the stretch from `moved` bytes on.
  COLLSIM_MACHINE_CODE void begin_stretch(std::uint64_t bytes, std::uint64_t moved) {
    state_.stretch = bytes - moved;
    std::uint64_t addresses = 0;
    for (std::uint32_t i = 0; i < state_.input_count; ++i) {
      addresses |= begin_stretch(state_.inputs[i], moved);
    }
    for (std::uint32_t i = 0; i < state_.output_count; ++i) {
      addresses |= begin_stretch(state_.outputs[i], moved);
    }
    state_.packed = addresses % pack_bytes == 0 ? 1 : 0;
  }
  COLLSIM_MACHINE_CODE std::uint64_t begin_stretch(End& end, std::uint64_t moved) {
    const std::uint64_t in_run = end.run == 0 ? 0 : moved % end.run;
    const std::uint64_t runs = end.run == 0 ? 0 : moved / end.run;
    end.at = end.start + runs * end.stride + in_run;
    const std::uint64_t left = end.run - in_run;
    state_.stretch = left < state_.stretch ? left : state_.stretch;
    return reinterpret_cast<std::uintptr_t>(end.at);
  }

  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move_stretch(std::uint64_t bytes) {
    // Loads of several packs before the first store: memory answers late, and stores might change what is loaded.
    constexpr std::uint64_t at_once = 4;
    const std::uint64_t threads = machine_.threads();
    const std::uint64_t packs = state_.packed != 0 ? bytes / pack_bytes : 0;
    const std::uint64_t grouped = packs / (threads * at_once) * (threads * at_once);
    for (std::uint64_t i = machine_.thread(); i < grouped; i += threads * at_once) {
      move_words<Operator, T, Pack, at_once>(i, threads);
    }
    for (std::uint64_t i = grouped + machine_.thread(); i < packs; i += threads) {
      move_words<Operator, T, Pack, 1>(i, threads);
    }
    const std::uint64_t elements = bytes / sizeof(T);
    for (std::uint64_t i = packs * (pack_bytes / sizeof(T)) + machine_.thread(); i < elements;
         i += threads) {
      move_words<Operator, T, T, 1>(i, threads);
    }
  }

  /// Words number i, i + gap, …, `AtOnce` of them.
  template <class Operator, class T, class Word, std::uint64_t AtOnce>
  COLLSIM_MACHINE_CODE void move_words(std::uint64_t i, std::uint64_t gap) {
    Word words[AtOnce]{};  // NOLINT(*-avoid-c-arrays)
    for (std::uint64_t j = 0; j < AtOnce; ++j) {
      words[j] = machine_.template load<Word>(state_.inputs[0].at + (i + j * gap) * sizeof(Word));
    }
    for (std::uint32_t k = 1; k < state_.input_count; ++k) {
      const std::byte* const from = state_.inputs[k].at;
      for (std::uint64_t j = 0; j < AtOnce; ++j) {
        const Word word = machine_.template load<Word>(from + (i + j * gap) * sizeof(Word));
        words[j] = reduced_word<Operator, T>(words[j], word);
      }
    }
    for (std::uint32_t k = 0; k < state_.output_count; ++k) {
      std::byte* const to = state_.outputs[k].at;
      for (std::uint64_t j = 0; j < AtOnce; ++j) {
        machine_.store(to + (i + j * gap) * sizeof(Word), words[j]);
      }
    }
  }

  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move_lines(std::uint64_t bytes) {
    const std::uint64_t lines = lines_of(bytes);
    for (std::uint64_t i = machine_.thread(); i < lines; i += machine_.threads()) {
      std::uint64_t word = word_of<T>(state_.inputs[0], i, bytes);
      for (std::uint32_t k = 1; k < state_.input_count; ++k) {
        word = reduced_word<Operator, T>(word, word_of<T>(state_.inputs[k], i, bytes));
      }
      for (std::uint32_t k = 0; k < state_.output_count; ++k) {
        put_word<T>(state_.outputs[k], i, bytes, word);
      }
    }
    for (std::uint32_t k = 0; k < state_.output_count; ++k) {
      const End& end = state_.outputs[k];
      for (std::uint64_t i = lines + machine_.thread(); i < end.clean; i += machine_.threads()) {
        put_word<T>(end, i, bytes, 0);
      }
    }
    if (gave_up_) {
      machine_.claim(&state_.failed);
    }
  }

  template <class T>
  COLLSIM_MACHINE_CODE std::uint64_t word_of(const End& end, std::uint64_t i, std::uint64_t bytes) {
    if (end.flag != 0) {
      return received_word(end, i);
    }
    const std::uint64_t offset = i * line_data;
    if (is_whole(end, offset, bytes)) {
      return machine_.template load<std::uint64_t>(end.start + offset);
    }
    T elements[line_data / sizeof(T)]{};  // NOLINT(*-avoid-c-arrays)
    for (std::uint64_t j = 0; j * sizeof(T) < line_data; ++j) {
      const std::uint64_t place = offset + j * sizeof(T);
      if (place < bytes) {
        elements[j] =
            machine_.template load<T>(end.start + place / end.run * end.stride + place % end.run);
      }
    }
    std::uint64_t word = 0;
    std::memcpy(&word, elements, sizeof(word));
    return word;
  }

  COLLSIM_MACHINE_CODE std::uint64_t received_word(const End& end, std::uint64_t i) {
    constexpr std::uint64_t data = 0xffffffffU;
    Wait wait;
    while (!gave_up_) {
      const Line line = machine_.load_line(end.start + i * line_bytes);
      if (line.first >> 32U == end.flag && line.second >> 32U == end.flag) {
        return (line.first & data) | line.second << 32U;
      }
      gave_up_ = give_up(wait, WaitedFor::Line, end.port);
    }
    return 0;
  }

  template <class T>
  COLLSIM_MACHINE_CODE void put_word(const End& end, std::uint64_t i, std::uint64_t bytes,
                                     std::uint64_t word) {
    if (end.flag != 0) {
      constexpr std::uint64_t data = 0xffffffffU;
      const std::uint64_t flag = std::uint64_t{end.flag} << 32U;
      machine_.store_line(end.start + i * line_bytes,
                          Line{(word & data) | flag, word >> 32U | flag});
      return;
    }
    const std::uint64_t offset = i * line_data;
    if (is_whole(end, offset, bytes)) {
      machine_.store(end.start + offset, word);
      return;
    }
    T elements[line_data / sizeof(T)]{};  // NOLINT(*-avoid-c-arrays)
    std::memcpy(static_cast<void*>(elements), &word, sizeof(word));
    for (std::uint64_t j = 0; j * sizeof(T) < line_data; ++j) {
      const std::uint64_t place = offset + j * sizeof(T);
      if (place < bytes) {
        machine_.store(end.start + place / end.run * end.stride + place % end.run, elements[j]);
      }
    }
  }

  /// Whether 8 bytes at an offset of a span are there, in one piece and aligned.
  [[nodiscard]] COLLSIM_MACHINE_CODE static bool is_whole(const End& end, std::uint64_t offset,
                                                          std::uint64_t bytes) {
    return offset + line_data <= bytes && offset + line_data <= end.run &&
           reinterpret_cast<std::uintptr_t>(end.start + offset) % line_data == 0;
  }

  /// The division of an average, when all lanes of the rank have run: each block divides a part.
  template <class T>
  COLLSIM_MACHINE_CODE void divide() {
    if (machine_.thread() == 0) {
      state_.step = lane_.steps;
      state_.go = 1;
      for (std::uint32_t i = 0; i < rank_.lane_count && state_.go != 0; ++i) {
        const LaneTable& lane = rank_.lanes[i];
        if (!reaches(lane.done, (call_ + 1) * lane.steps, WaitedFor::LastSteps, i)) {
          state_.go = 0;
        }
      }
    }
    machine_.barrier();
    if (state_.go == 0) {
      return;
    }
    const std::uint64_t elements = rank_.output_bytes / sizeof(T);
    const std::uint64_t first = elements * block_.share / block_.shares;
    const std::uint64_t end = elements * (block_.share + 1) / block_.shares;
    divide_elements(reinterpret_cast<T*>(rank_.output) + first, rank_.divisor, end - first,
                    machine_.thread(), machine_.threads());
  }

  Machine& machine_;
  const LaunchTable& launch_;
  const BlockTable& block_;
  const RankTable& rank_;
  const LaneTable& lane_;
  BlockState& state_;
  std::uint64_t call_ = 0;  ///< calls that the lane has run before this one
  bool gave_up_ = false;    ///< this thread, on a line
};
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

}  // namespace collsim::kernels
