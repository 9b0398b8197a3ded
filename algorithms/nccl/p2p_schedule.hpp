#pragma once
// In which order a rank serves its peers: a round names one rank to send to and one to receive from.
//
// Ranks are cut into groups of equal size; a rank visits the groups at distances that follow
// k(k+1)/2 modulo a power of two, and in each group the ranks by their distance. Round 0 is the rank
// itself. Source: NCCL 2.28.9, src/init.cc.

#include <cstdint>
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

/// The rounds of all ranks, as many as there are ranks, without a table of them. Each member:
/// complexity O(1).
class P2pSchedule {
 public:
  /// Requires: group_size divides ranks.
  P2pSchedule(std::uint32_t ranks, std::uint32_t group_size);

  [[nodiscard]] std::uint32_t rounds() const { return groups() * group_size_; }
  [[nodiscard]] std::uint32_t group_size() const { return group_size_; }
  [[nodiscard]] Rank send_to(Rank rank, std::uint32_t round) const;
  [[nodiscard]] Rank receive_from(Rank rank, std::uint32_t round) const;
  /// The round in which one rank sends to the other.
  [[nodiscard]] std::uint32_t round_of(Rank sender, Rank receiver) const;

 private:
  [[nodiscard]] std::uint32_t groups() const {
    return static_cast<std::uint32_t>(distances_.size());
  }

  std::uint32_t group_size_;
  std::vector<std::uint32_t> distances_;  ///< of the groups, in the order of visits
  std::vector<std::uint32_t> visits_;     ///< by distance: which visit it is
};

/// The rounds of a rank, as many as there are ranks. Complexity: O(ranks).
[[nodiscard]] std::vector<P2pRound> p2p_schedule(const Communicator& communicator,
                                                 const Configuration& configuration, Rank rank);

}  // namespace collsim::nccl
