#pragma once
// In which order a rank serves its peers: a round names one rank to send to and one to receive from.
//
// Ranks are cut into groups of equal size; a rank visits the groups at distances that follow
// k(k+1)/2 modulo a power of two, and in each group the ranks by their distance. Round 0 is the rank
// itself. Source: NCCL 2.28.9, src/init.cc.

#include <vector>

#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/configuration.hpp"
#include "topology/ids.hpp"

namespace collsim::nccl {

struct P2pRound {
  Rank send_to;
  Rank receive_from;

  bool operator==(const P2pRound&) const = default;
};

/// Ranks in a group: all of a node, or 8 (NCCL_P2P_SCHEDULE_GROUP_SIZE) cut to what divides a node.
[[nodiscard]] int p2p_group_size(const Communicator& communicator,
                                 const Configuration& configuration);

/// The distances at which groups are visited. Shapes: each of 0 … groups-1 once.
[[nodiscard]] std::vector<int> group_distances(int groups);

/// The rounds of a rank, as many as there are ranks. Complexity: O(ranks).
[[nodiscard]] std::vector<P2pRound> p2p_schedule(const Communicator& communicator,
                                                 const Configuration& configuration, Rank rank);

}  // namespace collsim::nccl
