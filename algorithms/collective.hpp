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
  broadcast,
  scatter,
  gather,
  reduce,
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  send_recv,  ///< rank r sends to r+1 and receives from r-1, modulo the ranks
};

enum class ReductionOp : std::uint8_t { sum, prod, min, max, avg };

enum class DataType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  half,
  float32,
  float64,
  bfloat16,
  fp8_e4m3,
  fp8_e5m2,
};

enum class InPlace : std::uint8_t { no, yes };

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
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  std::int64_t count = 0;
  DataType type = DataType::float32;
  ReductionOp op = ReductionOp::sum;
  Rank root;
  InPlace in_place = InPlace::yes;

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
