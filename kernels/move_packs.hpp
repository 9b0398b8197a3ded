#pragma once

// How a block of threads moves a step's bytes between runs of plain memory, slots of Simple among them.
//
// Runs of the step's ends may be of different lengths: a stretch is what none of them ends in. Where all of its addresses allow,
// 16 bytes are moved at a time, several before the first is stored; the rest element by element.
// Source: NCCL src/device/common_kernel.h, reduceCopyPacks.

#include <cstddef>
#include <cstdint>

#include "kernels/block_state.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim::kernels {

// Addresses are numbers where their alignment is asked for.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
/// Where the stretch from `moved` bytes on begins in one end; shortens it to the end's run. Returns the address.
COLLSIM_MACHINE_CODE inline std::uint64_t place_end(End& end, std::uint64_t moved,
                                                    std::uint64_t& stretch) {
  const std::uint64_t in_run = end.run == 0 ? 0 : moved % end.run;
  const std::uint64_t runs = end.run == 0 ? 0 : moved / end.run;
  end.at = end.start + runs * end.stride + in_run;
  const std::uint64_t left = end.run - in_run;
  stretch = left < stretch ? left : stretch;
  return reinterpret_cast<std::uintptr_t>(end.at);
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

/// By one thread: the stretch from `moved` bytes on.
COLLSIM_MACHINE_CODE inline void begin_stretch(BlockState& state, std::uint64_t bytes,
                                               std::uint64_t moved) {
  std::uint64_t stretch = bytes - moved;
  std::uint64_t addresses = 0;
  for (std::uint32_t i = 0; i < state.input_count; ++i) {
    addresses |= place_end(state.inputs[i], moved, stretch);
  }
  for (std::uint32_t i = 0; i < state.output_count; ++i) {
    addresses |= place_end(state.outputs[i], moved, stretch);
  }
  state.stretch = stretch;
  state.packed = addresses % pack_bytes == 0 ? 1 : 0;
}

/// By each thread. Words number i, i + gap, …, `AtOnce` of them.
template <class Operator, class T, class Word, std::uint64_t AtOnce, class Machine>
COLLSIM_MACHINE_CODE inline void move_words(Machine& machine, const BlockState& state,
                                            std::uint64_t i, std::uint64_t gap) {
  Word words[AtOnce]{};  // NOLINT(*-avoid-c-arrays)
  for (std::uint64_t j = 0; j < AtOnce; ++j) {
    words[j] = machine.template load<Word>(state.inputs[0].at + (i + j * gap) * sizeof(Word));
  }
  for (std::uint32_t k = 1; k < state.input_count; ++k) {
    const std::byte* const from = state.inputs[k].at;
    for (std::uint64_t j = 0; j < AtOnce; ++j) {
      const Word word = machine.template load<Word>(from + (i + j * gap) * sizeof(Word));
      words[j] = reduced_word<Operator, T>(words[j], word);
    }
  }
  for (std::uint32_t k = 0; k < state.output_count; ++k) {
    std::byte* const to = state.outputs[k].at;
    for (std::uint64_t j = 0; j < AtOnce; ++j) {
      machine.store(to + (i + j * gap) * sizeof(Word), words[j]);
    }
  }
}

template <class Operator, class T, class Machine>
COLLSIM_MACHINE_CODE inline void move_stretch(Machine& machine, const BlockState& state,
                                              std::uint64_t bytes) {
  // Loads of several packs before the first store: memory answers late, and stores might change what is loaded.
  constexpr std::uint64_t at_once = 4;
  const std::uint64_t threads = machine.threads();
  const std::uint64_t packs = state.packed != 0 ? bytes / pack_bytes : 0;
  const std::uint64_t grouped = packs / (threads * at_once) * (threads * at_once);
  for (std::uint64_t i = machine.thread(); i < grouped; i += threads * at_once) {
    move_words<Operator, T, Pack, at_once>(machine, state, i, threads);
  }
  for (std::uint64_t i = grouped + machine.thread(); i < packs; i += threads) {
    move_words<Operator, T, Pack, 1>(machine, state, i, threads);
  }
  const std::uint64_t elements = bytes / sizeof(T);
  for (std::uint64_t i = packs * (pack_bytes / sizeof(T)) + machine.thread(); i < elements;
       i += threads) {
    move_words<Operator, T, T, 1>(machine, state, i, threads);
  }
}

/// By all threads of the block. Requires: the first stretch has begun, and all have seen it; there is an input.
template <class Operator, class T, class Machine>
COLLSIM_MACHINE_CODE inline void move_packs(Machine& machine, BlockState& state,
                                            std::uint64_t bytes) {
  for (std::uint64_t moved = 0; moved < bytes;) {
    const std::uint64_t stretch = state.stretch;
    move_stretch<Operator, T>(machine, state, stretch);
    moved += stretch;
    if (moved == bytes) {
      return;
    }
    machine.barrier();
    if (machine.thread() == 0) {
      begin_stretch(state, bytes, moved);
    }
    machine.barrier();
  }
}

}  // namespace collsim::kernels
