#pragma once
// What NCCL chooses for one call, when the choice changes with size, and why.
//
// The least time wins, the first of equal ones in NCCL's order (algorithms, then protocols). What a
// tuner plugin says comes last and may overrule all of it (see tuner.hpp).
// Source: NCCL 2.28.9, src/enqueue.cc, src/graph/tuning.cc.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/collective.hpp"
#include "algorithms/nccl/tuning.hpp"

namespace collsim::nccl {

/// One collective call, or several of a kind that NCCL takes together.
struct Call {
  Function function{Function::AllReduce};
  /// The larger of what a rank sends and receives: of AllGather and ReduceScatter the whole.
  std::uint64_t bytes{0};
  DataType type{DataType::Float32};
  ReductionOp op{ReductionOp::Sum};
  /// Collectives of the group that share a channel: ceil(collectives / channels).
  int pipelined{1};
};

/// One call alone in its group. Requires: a collective that NCCL has algorithms for.
[[nodiscard]] Call call_of(const CollectiveCall& call);

/// One algorithm and protocol for a call: its time and the parts of it, or the rule that excludes it.
struct Contender {
  Algorithm algorithm{};
  Protocol protocol{};
  float time{0};       ///< us
  float latency{0};    ///< us, with all factors
  float bandwidth{0};  ///< GB/s, with all factors
  std::optional<Exclusion> excluded{};
};

/// All of them, in NCCL's order. Complexity: O(1).
[[nodiscard]] std::vector<Contender> contenders(const TuningInput& input, const Tuning& tuning,
                                                const Call& call);

/// The one that wins; nothing if NCCL_ALGO and NCCL_PROTO leave none.
[[nodiscard]] std::optional<Contender> winner(const std::vector<Contender>& contenders);

/// The one that wins. Throws: InputError if there is none.
[[nodiscard]] Contender choose(const TuningInput& input, const Tuning& tuning, const Call& call);

/// From this size on (of those scanned) the choice is this.
struct Crossover {
  std::uint64_t from_bytes{0};
  Algorithm algorithm{};
  Protocol protocol{};

  bool operator==(const Crossover&) const = default;
};

inline constexpr std::uint64_t least_scanned = 1024;
inline constexpr std::uint64_t greatest_scanned = std::uint64_t{8} << 30;

/// Scans the powers of two from 1 KiB to 8 GiB, one call at a time; `call.bytes` is not read.
[[nodiscard]] std::vector<Crossover> scan_sizes(
    Call call, const std::function<Contender(const Call&)>& choose_for);

/// What choose() says for these sizes.
[[nodiscard]] std::vector<Crossover> choices(const TuningInput& input, const Tuning& tuning,
                                             Call call);

}  // namespace collsim::nccl
