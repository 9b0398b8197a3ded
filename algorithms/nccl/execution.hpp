#pragma once

// One call as NCCL's kernel executes it: which channels run, which part of the data each of them
// does, and in which chunks and slices. Between the decisions (what NCCL chooses) and the programs
// (what the ranks do).
//
// The call is alone in its group. Buffers that the user registered are not modelled. Source: NCCL
// 2.28.9, src/enqueue.cc, src/device/all_reduce.h and its like, src/device/prims_simple.h.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/collective.hpp"
#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "algorithms/nccl/vocabulary.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// What one channel does, or several equal ones. In elements of the call's type.
struct ChannelWork {
  std::uint32_t channel{0};
  /// Channels that this stands for: with the same ring or tree, part size and chunk.
  std::uint32_t multiplicity{1};
  std::int64_t first{
      0};  ///< of the part in the buffer; of AllGather and ReduceScatter in each block
  std::int64_t count{0};  ///< of the part: of AllGather and ReduceScatter in each block
  std::int64_t chunk{0};  ///< what a primitive moves at most

  bool operator==(const ChannelWork&) const = default;
};

struct Execution {
  CollectiveCall call{};
  Algorithm algorithm{Algorithm::Ring};
  Protocol protocol{Protocol::Simple};
  /// Of a block. Of Ring those that move data; other algorithms split a block into groups, each
  /// with threads that only synchronise.
  int threads{0};
  int slices{1};  ///< of a chunk: synchronisations of a primitive
  int fifo{8};    ///< slices that fit the buffer of a connection
  /// A slice has at least so many elements, where the chunk has them: what is left makes the next
  /// slices shorter, or empty.
  std::int64_t least_slice{0};
  /// Larger slices are whole multiples of so many elements, but for the last.
  std::int64_t slice_grain{16};
  /// Every channel has the whole as its part and takes each channels-th loop (CollNet, NVLS over
  /// several nodes).
  bool interleaved{false};
  std::vector<ChannelWork> work{};  ///< in order of channels
};

/// How NCCL executes a call by what was chosen for it.
/// Requires: a collective that NCCL has algorithms for, call.count > 0, at least 2 ranks.
[[nodiscard]] Execution execution_of(const Decisions& decisions, const CollectiveCall& call,
                                     const TunedChoice& choice);
[[nodiscard]] Execution execution_of(const TuningInput& input, const Tuning& tuning,
                                     const CollectiveCall& call, const TunedChoice& choice);

/// Joins channels whose lanes do the same on the same ranks: equal parts and chunks, and ring, trees
/// or heads alike, on the same transports. Time is the same where routes between the same devices do not depend on the channel.
/// Of channels that interleave, also what they have of each loop.
[[nodiscard]] Execution joined_channels(const Decisions& decisions, Execution execution);
/// The same, where channels have equal connections if they have equal numbers in `wiring`.
/// Shapes: wiring[channel].
[[nodiscard]] Execution joined_channels(Execution execution, std::span<const std::size_t> wiring);

/// The program of an execution. Requires: as execution_of().
/// Throws: InputError where an algorithm's heads are not what the collective needs.
[[nodiscard]] std::unique_ptr<Program> build_program(const Decisions& decisions,
                                                     const Execution& execution);

}  // namespace collsim::nccl
