#pragma once

// How a block of threads moves a step's bytes by lines of LL128: 120 bytes of data, then 8 of flag. On a GPU eight threads of a warp
// write a line by one store of 16 bytes each, and read it so; the others learn of the flag from the one that has read it.
//
// That a line arrives whole is no promise of PTX's memory model. NCCL relies on it over NVLink; within a GPU a line is one request to
// the cache that all share. Elsewhere LL128 must not be used. Threads of the host write the flag last and read it first.
// Source: NCCL src/device/prims_ll128.h; src/graph/tuning.cc, where LL128 is enabled.

#include <cstddef>
#include <cstdint>

#include "kernels/block_state.hpp"
#include "kernels/lane_context.hpp"
#include "kernels/lane_tables.hpp"
#include "kernels/plain_words.hpp"

namespace collsim::kernels {

template <class Machine>
class WideLineMover {
 public:
  /// By each thread, for one step. Requires: `lane` outlives it; teams are whole.
  COLLSIM_MACHINE_CODE WideLineMover(const LaneContext<Machine>& lane, std::uint64_t bytes)
      : lane_(lane), bytes_(bytes), part_(lane.machine.thread() % Machine::line_threads) {}

  /// Sets the state's `failed` where a line has not come.
  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move() {
    // A team goes through the loop together, also where there is no line for all of its threads.
    constexpr std::uint32_t lines_of_team = Machine::team_threads / Machine::line_threads;
    const std::uint64_t lines = wide_lines_of(bytes_);
    const std::uint64_t step =
        std::uint64_t{lane_.machine.threads() / Machine::team_threads} * lines_of_team;
    const std::uint32_t thread = lane_.machine.thread();
    const std::uint64_t team = thread / Machine::team_threads;
    const std::uint32_t in_team = thread % Machine::team_threads / Machine::line_threads;
    for (std::uint64_t begin = team * lines_of_team; begin < lines; begin += step) {
      line_ = begin + in_team;
      active_ = line_ < lines;
      move_line<Operator, T>();
    }
    if (gave_up_) {
      lane_.machine.claim(&lane_.state.failed);
    }
  }

 private:
  /// What a thread has of a line: pairs of words.
  static constexpr std::uint32_t pairs = wide_line_bytes / line_bytes / Machine::line_threads;
  static constexpr std::uint32_t words = 2 * pairs;

  struct Part {
    std::uint64_t word[words];  // NOLINT(*-avoid-c-arrays)
  };

  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move_line() {
    const BlockState& state = lane_.state;
    Part value = part_of<T>(state.inputs[0]);
    for (std::uint32_t k = 1; k < state.input_count; ++k) {
      const Part more = part_of<T>(state.inputs[k]);
      for (std::uint32_t w = 0; w < words; ++w) {
        value.word[w] = reduced_word<Operator, T>(value.word[w], more.word[w]);
      }
    }
    for (std::uint32_t k = 0; k < state.output_count; ++k) {
      // What branches have parted: the threads of a line store it by one instruction.
      lane_.machine.meet_team();
      if (active_) {
        put_part<T>(state.outputs[k], value);
      }
    }
  }

  template <class T>
  COLLSIM_MACHINE_CODE Part part_of(const End& end) {
    if (end.flag != 0) {
      return received_part(end);
    }
    Part part{};
    for (std::uint32_t w = 0; w < words && active_; ++w) {
      if (!is_flag(w)) {
        part.word[w] = load_word<T>(lane_.machine, end, offset_of(w), bytes_);
      }
    }
    return part;
  }

  COLLSIM_MACHINE_CODE Part received_part(const End& end) {
    Part part{};
    Wait wait;
    while (!gave_up_) {
      bool missing = false;
      lane_.machine.meet_team();
      if (active_) {
        const std::byte* const from = end.start + line_ * wide_line_bytes + place_of_part();
        for (std::uint32_t pair = pairs; pair-- > 0;) {
          const Line line = lane_.machine.load_flagged(from + pair * line_bytes);
          part.word[2 * pair] = line.first;
          part.word[2 * pair + 1] = line.second;
        }
        missing = is_flag(words - 1) && part.word[words - 1] != end.flag;
      }
      if (!lane_.machine.any_of_team(missing)) {
        return part;
      }
      gave_up_ = lane_.machine.any_of_team(gives_up(lane_, wait, WaitedFor::Line, end.port));
    }
    return part;
  }

  template <class T>
  COLLSIM_MACHINE_CODE void put_part(const End& end, const Part& part) {
    if (end.flag == 0) {
      for (std::uint32_t w = 0; w < words; ++w) {
        if (!is_flag(w)) {
          store_word<T>(lane_.machine, end, offset_of(w), bytes_, part.word[w]);
        }
      }
      return;
    }
    std::byte* const to = end.start + line_ * wide_line_bytes + place_of_part();
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      const std::uint64_t second = is_flag(2 * pair + 1) ? end.flag : part.word[2 * pair + 1];
      lane_.machine.store_flagged(to + pair * line_bytes, Line{part.word[2 * pair], second});
    }
  }

  [[nodiscard]] COLLSIM_MACHINE_CODE std::uint64_t place_of_part() const {
    return std::uint64_t{part_} * words * word_bytes;
  }
  [[nodiscard]] COLLSIM_MACHINE_CODE bool is_flag(std::uint32_t word) const {
    return part_ * words + word == wide_line_data / word_bytes;
  }
  /// Of one of this thread's words in the message.
  [[nodiscard]] COLLSIM_MACHINE_CODE std::uint64_t offset_of(std::uint32_t word) const {
    return line_ * wide_line_data + place_of_part() + word * word_bytes;
  }

  const LaneContext<Machine>& lane_;
  std::uint64_t bytes_;
  std::uint32_t part_;  ///< of a line, that this thread moves
  std::uint64_t line_ = 0;
  bool active_ = false;   ///< whether there is that line
  bool gave_up_ = false;  ///< this team: then it waits for no other line either
};

}  // namespace collsim::kernels
