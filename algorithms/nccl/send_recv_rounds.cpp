#include "algorithms/nccl/send_recv_rounds.hpp"

#include <algorithm>

#include "algorithms/nccl/send_recv.hpp"

namespace collsim::nccl {

std::vector<SendRecvRound> send_recv_rounds(const TuningInput& input, const Channels& channels,
                                            std::int64_t bytes, Rank rank, std::size_t most) {
  const auto ranks_of_node = static_cast<std::uint32_t>(input.communicator.max_ranks_per_node);
  const int local = send_recv_shape(input, channels, bytes, PeerIs::Local).parts;
  const int remote = send_recv_shape(input, channels, bytes, PeerIs::Remote).parts;
  const auto with = [&](Rank peer, int round) {
    PeerChannels result{peer, {}};
    const bool same_node = peer.value() / ranks_of_node == rank.value() / ranks_of_node;
    const int parts = peer == rank ? 0 : same_node ? local : remote;
    for (int part = 0; part < parts; ++part) {
      result.channels.push_back(send_recv_channel(input, channels, round, part));
    }
    return result;
  };
  const std::vector<P2pRound> schedule =
      p2p_schedule(input.communicator, input.configuration, rank);
  std::vector<SendRecvRound> rounds;
  const std::size_t count = std::min(schedule.size(), most);
  rounds.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int round = static_cast<int>(i);
    rounds.push_back({with(schedule[i].send_to, round), with(schedule[i].receive_from, round)});
  }
  return rounds;
}

}  // namespace collsim::nccl
