#pragma once
// A collective that NCCL makes of sends and receives (all_to_all, gather, scatter, send_recv), as one
// group of them: in which rounds a rank serves which peer, and how what goes to a peer is cut.
//
// What goes from one rank to another is the same number of bytes for every pair, so there are two
// shapes: for peers of the own node and for others. The call is alone in its group. Buffers that the
// user registered are not modelled. Source: NCCL 2.28.9, src/enqueue.cc, src/collectives.cc.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/collective.hpp"
#include "algorithms/nccl/p2p_schedule.hpp"
#include "algorithms/nccl/send_recv.hpp"
#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim::nccl {

struct SendRecvPlan {
  CollectiveCall call{};
  P2pSchedule schedule{1, 1};
  std::uint32_t ranks_per_node{1};
  std::uint32_t channels{1};  ///< a power of two
  /// By round: the channel of part 0; the others follow, modulo the channels.
  std::vector<std::uint32_t> first_channel{};
  /// By channel: those with the same number have the same transports; empty: all have.
  std::vector<std::size_t> transports{};
  SendRecvBatches batches{SendRecvBatches::AnyRounds};
  SendRecvShape local{};   ///< to ranks of the own node, and to itself
  SendRecvShape remote{};  ///< to ranks of other nodes; the same as `local` on one node

  [[nodiscard]] const SendRecvShape& shape(Rank rank, Rank peer) const {
    return rank.value() / ranks_per_node == peer.value() / ranks_per_node ? local : remote;
  }
  [[nodiscard]] std::uint32_t channel(std::uint32_t round, std::uint32_t part) const {
    return (first_channel[round] + part) & (channels - 1);
  }
  /// The last parts may be shorter than the others, or empty.
  [[nodiscard]] Bytes part_bytes(const SendRecvShape& shape, std::uint32_t part) const;
  /// Primitives that move a part: an empty one is one message, too.
  [[nodiscard]] std::uint64_t part_chunks(const SendRecvShape& shape, std::uint32_t part) const;
};

/// Whether the collective is made of sends and receives.
[[nodiscard]] bool made_of_sends(CollectiveKind kind);

/// Requires: a collective made of sends, count > 0, as many ranks as the communicator, at least 2.
/// Complexity: O(ranks).
[[nodiscard]] SendRecvPlan send_recv_plan(const TuningInput& input, const CollectiveCall& call);

/// What a rank does in a round.
struct RoundWork {
  std::uint32_t round{0};
  bool sends{false};
  bool receives{false};

  bool operator==(const RoundWork&) const = default;
};

/// The rounds in which a rank has anything to do, ascending. In round 0 it is its own peer: a local
/// copy, left out where input and output are the same memory.
[[nodiscard]] std::vector<RoundWork> rounds_of(const SendRecvPlan& plan, Rank rank);

}  // namespace collsim::nccl
