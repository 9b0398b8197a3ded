#pragma once
// How many channels sends and receives have, and how many of them one peer may use.
//
// Source: NCCL 2.28.9 and 2.29.7, src/graph/paths.cc.

#include "algorithms/nccl/channels.hpp"

namespace collsim::nccl {

struct P2pChannels {
  int channels{1};
  int per_peer{1};
};

/// `collective`: the communicator's collective channels. Both counts are powers of two.
[[nodiscard]] P2pChannels p2p_channels(const TuningInput& input, int collective);

}  // namespace collsim::nccl
