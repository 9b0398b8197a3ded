#pragma once
// The schedule of sends and receives with the channels that they run on: what a rank would do round by
// round, if it had as many bytes for every other. A call that is no all-to-all does the rounds of its
// peers. Rounds of one channel run together, eight at a time.
//
// Not told: the channels of a rank's copy to itself.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/nccl/channels.hpp"
#include "algorithms/nccl/p2p_schedule.hpp"

namespace collsim::nccl {

/// One direction of a round.
struct PeerChannels {
  Rank peer{};
  std::vector<int> channels{};  ///< one a part, in their order; none for the rank itself
};

struct SendRecvRound {
  PeerChannels send_to{};
  PeerChannels receive_from{};
};

/// The first rounds of a rank, `most` at most. Complexity: O(ranks).
[[nodiscard]] std::vector<SendRecvRound> send_recv_rounds(const TuningInput& input,
                                                          const Channels& channels,
                                                          std::int64_t bytes, Rank rank,
                                                          std::size_t most);

}  // namespace collsim::nccl
