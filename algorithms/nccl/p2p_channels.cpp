#include "algorithms/nccl/p2p_channels.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/nccl/divided_up.hpp"

namespace collsim::nccl {

namespace {

// Sends and receives that one block serves at a time.
constexpr int works_per_batch = 8;

int power_of_two(int count) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)));
}

/// Two a parallel NVLink, else two. From 2.29 on NVLink through another GPU counts, too.
int local_channels(const LocalPath& path, const TuningConstants& constants) {
  const bool through = constants.remote_channels == RemoteChannels::Bandwidth;
  const bool nvlink =
      (path.type == PathType::Nvl || (through && path.type == PathType::Nvb)) && path.nvlink > 0;
  return 2 * (nvlink ? std::max(1, static_cast<int>(path.bandwidth / path.nvlink)) : 1);
}

/// Up to 2.28: two; one in communicators so large that blocks would serve too many peers.
int remote_by_nics(const LocalNics& nics, int ranks, int p2p) {
  int channels = 2;
  while (channels * ranks > p2p * 4 && channels > 1) {
    channels /= 2;
  }
  return std::max(nics.count, channels);
}

/// From 2.29 on: as many as it takes to fill the NICs.
int remote_by_bandwidth(const LocalNics& nics, double channel_bandwidth) {
  return nics.count > 0 ? std::max(nics.count, divided_up(static_cast<int>(nics.bandwidth),
                                                          static_cast<int>(channel_bandwidth)))
                        : 2;
}

/// The least over a rank's peers, and over the GPUs of the node.
int least_per_peer(const TuningInput& input, int start, int p2p) {
  int least = start;
  for (const LocalPath& path : input.communicator.local_paths) {
    least = std::min(least, local_channels(path, input.constants));
  }
  if (input.communicator.nodes <= 1) {
    return least;
  }
  if (input.configuration.channels_per_net_peer) {
    return std::min(least, *input.configuration.channels_per_net_peer);
  }
  const bool by_nics = input.constants.remote_channels == RemoteChannels::Nics;
  for (const LocalNics& nics : input.communicator.nics) {
    least = std::min(least,
                     by_nics ? remote_by_nics(nics, input.communicator.ranks, p2p)
                             : remote_by_bandwidth(nics, input.constants.remote_channel_bandwidth));
  }
  return least;
}

}  // namespace

P2pChannels p2p_channels(const TuningInput& input, int collective) {
  const Configuration& configuration = input.configuration;
  const int most = input.constants.max_channels;
  const int wanted = std::max(std::min(collective, configuration.max_p2p_channels.value_or(most)),
                              configuration.min_p2p_channels.value_or(1));
  P2pChannels result;
  result.channels = std::min(power_of_two(wanted), most);
  if (input.constants.remote_channels == RemoteChannels::Nics) {
    result.per_peer =
        std::min(power_of_two(least_per_peer(input, wanted, wanted)), result.channels);
    return result;
  }

  result.per_peer = power_of_two(least_per_peer(input, most, wanted));
  if (input.communicator.nodes > 1 && !configuration.channels_per_net_peer) {
    // All peers in one round of blocks.
    const int batches = divided_up(input.communicator.ranks, works_per_batch);
    while (result.per_peer * batches > result.channels && result.per_peer > 1) {
      result.per_peer /= 2;
    }
  } else {
    result.per_peer = std::min(result.per_peer, result.channels);
  }
  return result;
}

}  // namespace collsim::nccl
