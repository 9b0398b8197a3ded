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

P2pSchedule::P2pSchedule(std::uint32_t ranks, std::uint32_t group_size) : group_size_(group_size) {
  const std::uint32_t groups = ranks / group_size;
  visits_.resize(groups);
  for (const int distance : group_distances(static_cast<int>(groups))) {
    visits_[static_cast<std::size_t>(distance)] = static_cast<std::uint32_t>(distances_.size());
    distances_.push_back(static_cast<std::uint32_t>(distance));
  }
}

Rank P2pSchedule::send_to(Rank rank, std::uint32_t round) const {
  const std::uint32_t group = rank.value() / group_size_ + distances_[round / group_size_];
  const std::uint32_t local = rank.value() % group_size_ + round % group_size_;
  return Rank(group % groups() * group_size_ + local % group_size_);
}

Rank P2pSchedule::receive_from(Rank rank, std::uint32_t round) const {
  const std::uint32_t group =
      rank.value() / group_size_ + groups() - distances_[round / group_size_];
  const std::uint32_t local = rank.value() % group_size_ + group_size_ - round % group_size_;
  return Rank(group % groups() * group_size_ + local % group_size_);
}

std::uint32_t P2pSchedule::round_of(Rank sender, Rank receiver) const {
  const std::uint32_t groups_apart =
      receiver.value() / group_size_ + groups() - sender.value() / group_size_;
  const std::uint32_t ranks_apart =
      receiver.value() % group_size_ + group_size_ - sender.value() % group_size_;
  return visits_[groups_apart % groups()] * group_size_ + ranks_apart % group_size_;
}

std::vector<P2pRound> p2p_schedule(const Communicator& communicator,
                                   const Configuration& configuration, Rank rank) {
  const P2pSchedule schedule(
      static_cast<std::uint32_t>(communicator.ranks),
      static_cast<std::uint32_t>(p2p_group_size(communicator, configuration)));
  std::vector<P2pRound> rounds;
  rounds.reserve(schedule.rounds());
  for (std::uint32_t round = 0; round < schedule.rounds(); ++round) {
    rounds.push_back({schedule.send_to(rank, round), schedule.receive_from(rank, round)});
  }
  return rounds;
}

}  // namespace collsim::nccl
