#pragma once

// What a block of threads shares while it runs a step, and the words that its threads move.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/lane_tables.hpp"
#include "kernels/operators.hpp"

// The interpreter is compiled for the device alone by nvcc, and for the host alone by others: a machine has one kind of code.
#if defined(__CUDACC__)
#define COLLSIM_MACHINE_CODE __device__
#else
#define COLLSIM_MACHINE_CODE
#endif

namespace collsim::kernels {

struct alignas(pack_bytes) Pack {
  std::uint64_t first;
  std::uint64_t second;
};
/// Of LL: two pairs of data (low half) and flag (high half). Of LL128: two words.
struct alignas(line_bytes) Line {
  std::uint64_t first;
  std::uint64_t second;
};

/// What a step reads or writes: runs of bytes, or the lines of a slot.
struct End {
  std::byte* start;
  std::byte* at;  ///< of the stretch at hand (Simple)
  std::uint64_t run;
  std::uint64_t stride;
  std::uint64_t clean;  ///< lines to be written, whatever the message needs (LL)
  std::uint64_t flag;   ///< 0: no lines
  std::uint32_t port;
};

/// What the threads of a block share.
struct BlockState {
  End inputs[most_ends];   // NOLINT(*-avoid-c-arrays): std::array's functions are none of a GPU's
  End outputs[most_ends];  // NOLINT(*-avoid-c-arrays)
  std::uint64_t stretch;   ///< bytes in which no run ends
  std::uint64_t step;      ///< of the lane
  std::uint64_t failed;    ///< not 0: a thread has waited too long for a line
  std::uint32_t input_count;
  std::uint32_t output_count;
  std::uint32_t packed;  ///< the stretch may be moved pack by pack
  std::uint32_t go;      ///< 0: a wait took too long
};

/// How long a thread has been looking.
struct Wait {
  std::uint64_t since = 0;
  std::uint32_t looks = 0;
};

/// The reduction of all elements in two words of any size.
template <class Operator, class T, class Word>
COLLSIM_MACHINE_CODE inline Word reduced_word(Word a, Word b) {
  constexpr std::size_t elements = sizeof(Word) / sizeof(T);  // NOLINT(bugprone-sizeof-expression)
  T x[elements]{};                                            // NOLINT(*-avoid-c-arrays)
  T y[elements]{};                                            // NOLINT(*-avoid-c-arrays)
  std::memcpy(static_cast<void*>(x), &a, sizeof(Word));
  std::memcpy(static_cast<void*>(y), &b, sizeof(Word));
  for (std::size_t i = 0; i < elements; ++i) {
    x[i] = reduced<Operator>(x[i], y[i]);
  }
  std::memcpy(&a, x, sizeof(Word));
  return a;
}

}  // namespace collsim::kernels
