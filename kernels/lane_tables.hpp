#pragma once

// A program as the interpreter on a GPU reads it: plain tables of addresses and counts, one set a rank, no ids to look up.
//
// All addresses are those of the machine that runs it. Counters only grow, over all calls: a wait is for a number, nothing is
// ever set back, and a rank may be a call ahead of its peers. Each counter has one writer.

#include <cstddef>
#include <cstdint>

#include "kernels/host_device.hpp"

namespace collsim::kernels {

/// Bytes that a thread moves at a time.
inline constexpr std::uint64_t pack_bytes = 16;
/// A line of LL: 8 bytes of data, each 4 beside 4 of flag. Source: NCCL src/include/device.h, ncclLLFifoLine.
inline constexpr std::uint64_t line_bytes = 16;
inline constexpr std::uint64_t line_data = 8;
/// A line of LL128. Source: the same, NCCL_LL128_LINESIZE and NCCL_LL128_DATAELEMS.
inline constexpr std::uint64_t wide_line_bytes = 128;
inline constexpr std::uint64_t wide_line_data = 120;
/// What lines are moved by.
inline constexpr std::uint64_t word_bytes = 8;

/// A message of no bytes is a line, too: its flag says that it was sent.
COLLSIM_HOST_DEVICE constexpr std::uint64_t lines_of(std::uint64_t bytes) {
  return bytes == 0 ? 1 : (bytes + line_data - 1) / line_data;
}
COLLSIM_HOST_DEVICE constexpr std::uint64_t wide_lines_of(std::uint64_t bytes) {
  return bytes == 0 ? 1 : (bytes + wide_line_data - 1) / wide_line_data;
}

/// How messages travel.
enum class WireKind : std::uint32_t {
  Simple,     ///< data, a fence, a count
  Lines,      ///< LL
  WideLines,  ///< LL128
};

/// Messages and spans that a step may have on either side.
inline constexpr std::uint32_t most_ends = 72;

/// A span of the rank's own memory. Absent: `start` is null.
struct SpanTable {
  std::byte* start;
  std::uint64_t run;     ///< bytes
  std::uint64_t stride;  ///< from run to run
};

/// One end of a connection: a ring of slots in the receiver's memory.
struct PortTable {
  std::byte* slots;
  std::uint64_t slot_bytes;
  std::uint64_t slot_count;
  std::uint64_t*
      sent;  ///< messages; in the receiver's memory, written by the sender; lines do without
  std::uint64_t* taken;    ///< messages; in the sender's memory, written by the receiver
  std::uint64_t position;  ///< messages that this end has sent or taken: its own copy
};

/// That lane of the rank has run so many steps of this call.
struct WaitTable {
  std::uint64_t steps;
  std::uint32_t lane;
};

struct StepTable {
  std::uint64_t bytes;
  SpanTable source;
  SpanTable operand;
  SpanTable destination;
  std::uint32_t first_in;
  std::uint32_t ins;
  std::uint32_t first_out;
  std::uint32_t outs;
  std::uint32_t first_wait;
  std::uint32_t waits;
};

struct LaneTable {
  std::uint64_t first_step;
  std::uint64_t steps;  ///< of one call
  std::uint64_t* done;  ///< steps run, over all calls
};

struct RankTable {
  LaneTable* lanes;
  StepTable* steps;
  WaitTable* waits;
  PortTable* in;
  PortTable* out;
  std::byte* output;
  std::uint64_t output_bytes;
  std::uint32_t rank;
  std::uint32_t lane_count;
  std::uint32_t
      divisor;  ///< of an average: what was summed is divided at the end of a call; else 1
};

/// What one block of threads runs.
struct BlockTable {
  RankTable* rank;
  std::uint32_t lane;
  std::uint32_t share;   ///< which part of the division is its own
  std::uint32_t shares;  ///< blocks of the rank
};

enum class WaitedFor : std::uint32_t { Lane, Message, Slot, Line, LastSteps };

/// The first wait that took too long.
struct Failure {
  std::uint64_t claimed;  ///< not 0: there is one
  std::uint64_t step;
  std::uint32_t rank;
  std::uint32_t lane;
  WaitedFor what;
  std::uint32_t index;  ///< of the port, or of the lane, that was waited for
};

struct LaunchTable {
  BlockTable* blocks;
  Failure* failure;
  const std::uint64_t* abort;  ///< not 0 there: all waits end; written by the host
  std::uint64_t patience;      ///< nanoseconds that a wait may take
  /// Flags of LL run from 1 to this number, then from 1 again; even, at least twice any number of slots.
  std::uint32_t flags;
  WireKind wire;
  std::uint32_t op;  ///< a ReductionOp
};

/// Enough that a flag recurs after days.
inline constexpr std::uint32_t all_flags = 0xfffffffeU;

}  // namespace collsim::kernels
