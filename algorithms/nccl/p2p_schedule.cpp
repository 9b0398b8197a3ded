#include "algorithms/nccl/p2p_schedule.hpp"

#include <bit>
#include <cstddef>
#include <numeric>

namespace collsim::nccl {

namespace {

// As many as one block serves at a time.
constexpr int usual_group = 8;

}  // namespace

int p2p_group_size(const Communicator& communicator, const Configuration& configuration) {
  const int local = communicator.max_ranks_per_node;
  const int wanted =
      communicator.nodes > 1 ? configuration.schedule_group.value_or(usual_group) : local;
  return local % wanted == 0 ? wanted : std::gcd(wanted, local);
}

std::vector<int> group_distances(int groups) {
  std::vector<int> distances;
  distances.reserve(static_cast<std::size_t>(groups));
  const auto modulus = std::bit_ceil(static_cast<unsigned>(groups));
  unsigned distance = 0;
  for (unsigned step = 1; step <= modulus; ++step) {
    if (distance < static_cast<unsigned>(groups)) {
      distances.push_back(static_cast<int>(distance));
    }
    distance = (distance + step) % modulus;
  }
  return distances;
}

std::vector<P2pRound> p2p_schedule(const Communicator& communicator,
                                   const Configuration& configuration, Rank rank) {
  const int size = p2p_group_size(communicator, configuration);
  const int groups = communicator.ranks / size;
  const int group = static_cast<int>(rank.value()) / size;
  const int local = static_cast<int>(rank.value()) % size;
  std::vector<P2pRound> rounds;
  rounds.reserve(static_cast<std::size_t>(communicator.ranks));
  for (const int distance : group_distances(groups)) {
    const int send_group = (group + distance) % groups;
    const int receive_group = (group - distance + groups) % groups;
    for (int delta = 0; delta < size; ++delta) {
      rounds.push_back({Rank(send_group * size + (local + delta) % size),
                        Rank(receive_group * size + (local - delta + size) % size)});
    }
  }
  return rounds;
}

}  // namespace collsim::nccl
