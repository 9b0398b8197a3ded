#pragma once

// Eight bytes at a time of memory that is no line: whole where they lie so, else element by element; behind the message's end, zeros.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/block_state.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim::kernels {

// Addresses are numbers where their alignment is asked for.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
/// Whether 8 bytes at an offset of a span are there, in one piece and aligned.
COLLSIM_MACHINE_CODE inline bool is_whole_word(const End& end, std::uint64_t offset,
                                               std::uint64_t bytes) {
  return offset + word_bytes <= bytes && offset + word_bytes <= end.run &&
         reinterpret_cast<std::uintptr_t>(end.start + offset) % word_bytes == 0;
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

COLLSIM_MACHINE_CODE inline std::byte* address_of(const End& end, std::uint64_t place) {
  return end.start + place / end.run * end.stride + place % end.run;
}

/// `bytes`: of the message.
template <class T, class Machine>
COLLSIM_MACHINE_CODE inline std::uint64_t load_word(const Machine& machine, const End& end,
                                                    std::uint64_t offset, std::uint64_t bytes) {
  if (is_whole_word(end, offset, bytes)) {
    return machine.template load<std::uint64_t>(end.start + offset);
  }
  T elements[word_bytes / sizeof(T)]{};  // NOLINT(*-avoid-c-arrays)
  for (std::uint64_t j = 0; j * sizeof(T) < word_bytes; ++j) {
    const std::uint64_t place = offset + j * sizeof(T);
    if (place < bytes) {
      elements[j] = machine.template load<T>(address_of(end, place));
    }
  }
  std::uint64_t word = 0;
  std::memcpy(&word, elements, sizeof(word));
  return word;
}

template <class T, class Machine>
COLLSIM_MACHINE_CODE inline void store_word(const Machine& machine, const End& end,
                                            std::uint64_t offset, std::uint64_t bytes,
                                            std::uint64_t word) {
  if (is_whole_word(end, offset, bytes)) {
    machine.store(end.start + offset, word);
    return;
  }
  T elements[word_bytes / sizeof(T)]{};  // NOLINT(*-avoid-c-arrays)
  std::memcpy(static_cast<void*>(elements), &word, sizeof(word));
  for (std::uint64_t j = 0; j * sizeof(T) < word_bytes; ++j) {
    const std::uint64_t place = offset + j * sizeof(T);
    if (place < bytes) {
      machine.store(address_of(end, place), elements[j]);
    }
  }
}

}  // namespace collsim::kernels
