#pragma once

// What is to be achieved, not how: the nine collectives, data types, reductions, and the sizes and
// bandwidths of nccl-tests (v2.19.6, one source file a collective; doc/PERFORMANCE.md).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim {

enum class CollectiveKind : std::uint8_t {
  Broadcast,
  Scatter,
  Gather,
  Reduce,
  AllGather,
  ReduceScatter,
  AllReduce,
  AllToAll,
  SendRecv,  ///< rank r sends to r+1 and receives from r-1, modulo the ranks
};

enum class ReductionOp : std::uint8_t { Sum, Prod, Min, Max, Avg };

enum class DataType : std::uint8_t {
  Int8,
  Uint8,
  Int32,
  Uint32,
  Int64,
  Uint64,
  Half,
  Float32,
  Float64,
  Bfloat16,
  Fp8E4m3,
  Fp8E5m2,
};

enum class InPlace : std::uint8_t { No, Yes };

/// Names of the measurement schema: "all_reduce", "send_recv"; of NCCL: "sum"; of nccl-tests:
/// "float".
[[nodiscard]] std::string_view name_of(CollectiveKind kind);
[[nodiscard]] std::string_view name_of(ReductionOp op);
[[nodiscard]] std::string_view name_of(DataType type);

/// Accepts any case, with '-', '_' or nothing between words ("AllReduce", "alltoall").
[[nodiscard]] std::optional<CollectiveKind> parse_collective(std::string_view text);
[[nodiscard]] std::optional<ReductionOp> parse_reduction(std::string_view text);
/// nccl-tests' names and NCCL's ("float", "float32", "fp16", "half", "bf16", …), any case.
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view text);
/// All names that output uses, for messages.
[[nodiscard]] std::vector<std::string> collective_names();
[[nodiscard]] std::vector<std::string> reduction_names();
[[nodiscard]] std::vector<std::string> data_type_names();

[[nodiscard]] Bytes size_of(DataType type);
[[nodiscard]] bool has_root(CollectiveKind kind);
[[nodiscard]] bool reduces(CollectiveKind kind);
/// Whether the collective can run in place: not all_to_all and send_recv, whose blocks would be
/// overwritten before they are sent.
[[nodiscard]] bool allows_in_place(CollectiveKind kind);

/// One call of a collective by all ranks of a communicator.
///
/// `count` is nccl-tests' count column: elements of the whole buffer for all_reduce, broadcast,
/// reduce and send_recv; elements of one rank's block for the others. `block` below is that count
/// in bytes.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::uint32_t ranks = 1;
  std::int64_t count = 0;
  DataType type = DataType::Float32;
  ReductionOp op = ReductionOp::Sum;
  Rank root;
  InPlace in_place = InPlace::Yes;

  /// count in bytes: the whole buffer or one rank's block.
  [[nodiscard]] Bytes block() const;
  /// Whether the data fall into one equal block a rank (all but AR, B, R and send_recv).
  [[nodiscard]] bool blocked() const;
  /// nccl-tests' size column: `ranks` blocks where blocked(), else the buffer.
  [[nodiscard]] Bytes size() const;
  /// Size of each rank's input and output buffer. A buffer that a rank does not use (a non-root's
  /// output of gather) has size 0.
  [[nodiscard]] Bytes input_bytes(Rank rank) const;
  [[nodiscard]] Bytes output_bytes(Rank rank) const;
};

/// The call nccl-tests would make for a requested size: rounded down to whole elements, and for the
/// blocked collectives to equal blocks of whole 16-byte units. In place where the collective allows
/// it. Throws: InputError if `ranks` is 0 or the size is negative.
/// Source: nccl-tests v2.19.6, …GetCollByteCount in src/{all_gather,alltoall,gather,…}.cu.
[[nodiscard]] CollectiveCall call_for_size(CollectiveKind kind, std::uint32_t ranks,
                                           Bytes requested, DataType type);

/// algbw = size / time; busbw = algbw · factor, in GB/s (10^9). 0 where time is 0.
[[nodiscard]] double algorithm_bandwidth_GBps(Bytes size, Duration time);
[[nodiscard]] double bus_bandwidth_GBps(CollectiveKind kind, std::uint32_t ranks, Bytes size,
                                        Duration time);

}  // namespace collsim
