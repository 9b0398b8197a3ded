#pragma once

// How a block of threads moves a step's bytes by lines of LL: each 8 bytes of data in two halves, each half beside its flag in one
// 8-byte store, so that neither fences nor counts are needed. A thread moves a line.
// Source: NCCL src/device/prims_ll.h.

#include <cstddef>
#include <cstdint>

#include "kernels/block_state.hpp"
#include "kernels/lane_context.hpp"
#include "kernels/lane_tables.hpp"
#include "kernels/plain_words.hpp"

namespace collsim::kernels {

template <class Machine>
class LineMover {
 public:
  /// By each thread, for one step. Requires: `lane` outlives it.
  COLLSIM_MACHINE_CODE LineMover(const LaneContext<Machine>& lane, std::uint64_t bytes)
      : lane_(lane), bytes_(bytes) {}

  /// Sets the state's `failed` where a line has not come.
  template <class Operator, class T>
  COLLSIM_MACHINE_CODE void move() {
    const BlockState& state = lane_.state;
    const std::uint64_t lines = lines_of(bytes_);
    const std::uint32_t threads = lane_.machine.threads();
    for (std::uint64_t i = lane_.machine.thread(); i < lines; i += threads) {
      std::uint64_t word = word_of<T>(state.inputs[0], i);
      for (std::uint32_t k = 1; k < state.input_count; ++k) {
        word = reduced_word<Operator, T>(word, word_of<T>(state.inputs[k], i));
      }
      for (std::uint32_t k = 0; k < state.output_count; ++k) {
        put_word<T>(state.outputs[k], i, word);
      }
    }
    for (std::uint32_t k = 0; k < state.output_count; ++k) {
      const End& end = state.outputs[k];
      for (std::uint64_t i = lines + lane_.machine.thread(); i < end.clean; i += threads) {
        put_line(end, i, 0);
      }
    }
    if (gave_up_) {
      lane_.machine.claim(&lane_.state.failed);
    }
  }

 private:
  template <class T>
  COLLSIM_MACHINE_CODE std::uint64_t word_of(const End& end, std::uint64_t i) {
    return end.flag != 0 ? received_word(end, i)
                         : load_word<T>(lane_.machine, end, i * word_bytes, bytes_);
  }

  COLLSIM_MACHINE_CODE std::uint64_t received_word(const End& end, std::uint64_t i) {
    Wait wait;
    while (!gave_up_) {
      const Line line = lane_.machine.load_line(end.start + i * line_bytes);
      if (line.first >> 32U == end.flag && line.second >> 32U == end.flag) {
        return (line.first & data_half) | line.second << 32U;
      }
      gave_up_ = gives_up(lane_, wait, WaitedFor::Line, end.port);
    }
    return 0;
  }

  template <class T>
  COLLSIM_MACHINE_CODE void put_word(const End& end, std::uint64_t i, std::uint64_t word) {
    if (end.flag != 0) {
      put_line(end, i, word);
    } else {
      store_word<T>(lane_.machine, end, i * word_bytes, bytes_, word);
    }
  }

  COLLSIM_MACHINE_CODE void put_line(const End& end, std::uint64_t i, std::uint64_t word) {
    const std::uint64_t flag = end.flag << 32U;
    lane_.machine.store_line(end.start + i * line_bytes,
                             Line{(word & data_half) | flag, word >> 32U | flag});
  }

  static constexpr std::uint64_t data_half = 0xffffffffU;

  const LaneContext<Machine>& lane_;
  std::uint64_t bytes_;
  bool gave_up_ = false;  ///< this thread: then it waits for no other line either
};

}  // namespace collsim::kernels
