#pragma once
// From search channels to the channels NCCL runs: blocks of its kernels.
//
// Every search channel becomes two (same ring, the two trees of the double binary tree), then rules
// add copies or cut the list, and the environment has the last word. NVLS channels and those of
// send/recv are counted separately. A communicator that shares its parent's resources is not
// modelled. Source: NCCL 2.28.9, src/graph/connect.cc, paths.cc, src/transport/nvls.cc.

#include <vector>

#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/configuration.hpp"
#include "algorithms/nccl/constants.hpp"

namespace collsim::nccl {

/// All that NCCL decides from; it outlives what is made of it.
struct TuningInput {
  const TuningConstants& constants;
  const Configuration& configuration;
  const Communicator& communicator;
  const GraphSet& graphs;
};

/// A channel that runs: which search channel gives its ring and its chain, and which of the two
/// trees it has.
struct ExecutionChannel {
  int search_channel{0};
  int tree{0};

  bool operator==(const ExecutionChannel&) const = default;
};

struct Channels {
  std::vector<ExecutionChannel> collective{};
  int nvls{0};  ///< 0: NVLS is off
  int p2p{0};   ///< a power of two
  int per_peer{0};
};

/// Search channels that ring and tree have in common.
[[nodiscard]] int search_channels(const GraphSet& graphs);

/// NVLS is there, and neither its switch nor an empty graph turns it off.
[[nodiscard]] bool nvls_enabled(const TuningInput& input);

/// A CollNet plugin is there, switched on, and there are nodes enough.
[[nodiscard]] bool collnet_enabled(const TuningInput& input);

/// Complexity: O(channels + local paths).
[[nodiscard]] Channels execution_channels(const TuningInput& input);

/// What NVLS is set up with: channels and chunks in bytes.
struct NvlsSetup {
  int channels{0};
  std::int64_t chunk{0};
  std::int64_t tree_chunk{0};
};
[[nodiscard]] NvlsSetup nvls_setup(const TuningInput& input);

}  // namespace collsim::nccl
