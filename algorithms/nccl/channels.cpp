#include "algorithms/nccl/channels.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "algorithms/nccl/p2p_channels.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using ChannelList = std::vector<ExecutionChannel>;

// NVLS is not set up for so few ranks of a node (src/transport/nvls.cc), and then raises nothing.
constexpr int ranks_without_nvls = 2;

/// Repeats the list from its beginning until it has `count` channels.
void copy_up_to(ChannelList& list, int count) {
  const std::size_t first = list.size();
  for (std::size_t at = first; at < static_cast<std::size_t>(std::max(count, 0)); ++at) {
    list.push_back(list[at - first]);
  }
}

int size_of(const ChannelList& list) { return static_cast<int>(list.size()); }

/// Each search channel twice: with the first tree, then with the second.
ChannelList doubled(int search, int most) {
  ChannelList list;
  for (const int tree : {0, 1}) {
    for (int channel = 0; channel < search; ++channel) {
      list.push_back({channel, tree});
    }
  }
  list.resize(static_cast<std::size_t>(std::min(size_of(list), most)));
  return list;
}

void add_for_collnet(ChannelList& list, const TuningInput& input) {
  const std::optional<Graph>& chain = input.graphs.collnet_chain;
  const Communicator& communicator = input.communicator;
  if (collnet_enabled(input) && chain && chain->bandwidth_intra > chain->bandwidth_inter &&
      communicator.ranks > communicator.nodes) {
    copy_up_to(list, std::min(input.constants.max_channels, size_of(list) + size_of(list) / 2));
  }
}

// Where a search channel is faster than a block can copy, and there is room for more blocks.
constexpr int few_channels = 16;
constexpr float fast_channel = 45.0F;

void add_for_network(ChannelList& list, const TuningInput& input) {
  const Communicator& communicator = input.communicator;
  if (communicator.nodes <= 1) {
    return;
  }
  if (communicator.min_sm >= 90 && input.graphs.ring.bandwidth_intra > fast_channel &&
      size_of(list) < few_channels) {
    copy_up_to(list, 2 * size_of(list));
  }
  if (communicator.unpacking_network && size_of(list) < few_channels) {
    copy_up_to(list, 2 * size_of(list));
  }
}

/// First the greatest number allowed, then the least asked for: copies of those that are left.
void clamp_to_configuration(ChannelList& list, const TuningInput& input) {
  const Configuration& configuration = input.configuration;
  const int most = input.constants.max_channels;
  const int greatest = std::min({size_of(list), configuration.max_channels.value_or(most),
                                 configuration.max_ctas.value_or(most), most});
  list.resize(static_cast<std::size_t>(greatest));
  const int least =
      std::max(configuration.min_channels.value_or(0), configuration.min_ctas.value_or(1));
  copy_up_to(list, std::min(least, most));
}

/// Several nodes of sm 100 and up from 2.30 on.
/// Source: NCCL 2.30.7, src/transport/nvls.cc.
NvlsSetup setup_by_nics(const TuningInput& input, NvlsSetup setup) {
  constexpr std::int64_t kib = 1024;
  constexpr float nic_400g = 48.0F;
  constexpr float nic_800g = 96.0F;
  const int ranks = input.communicator.min_ranks_per_node;
  const float nic = input.communicator.slowest_nic;
  const bool near = input.graphs.nvls->type_inter <= PathType::Pxb;
  if (nic < nic_400g) {
    return setup;
  }
  if (input.communicator.nodes == 2) {
    setup = {32, 128 * kib, 128 * kib};
    if (ranks <= 4) {
      setup = {32, 256 * kib, 256 * kib};
    } else if (ranks >= 16 || (ranks <= 8 && near && nic < nic_800g)) {
      setup.tree_chunk = 64 * kib;
    }
  } else if (nic >= nic_800g) {
    setup = ranks <= 8 ? NvlsSetup{24, 256 * kib, 256 * kib}
                       : NvlsSetup{32, 128 * kib, ranks < 32 ? 128 * kib : 64 * kib};
  } else {
    setup = {24, 128 * kib, near ? 64 * kib : 128 * kib};
  }
  return setup;
}

}  // namespace

int search_channels(const GraphSet& graphs) {
  return static_cast<int>(std::min(graphs.ring.channels.size(), graphs.tree.channels.size()));
}

bool nvls_enabled(const TuningInput& input) {
  const bool there = input.communicator.supports_nvls || input.configuration.nvls == Switch::On;
  return there && input.constants.has_nvls && input.configuration.nvls != Switch::Off &&
         input.graphs.nvls && !input.graphs.nvls->channels.empty();
}

bool collnet_enabled(const TuningInput& input) {
  return input.configuration.collnet && input.communicator.collnet &&
         input.communicator.nodes >= input.configuration.collnet_nodes;
}

NvlsSetup nvls_setup(const TuningInput& input) {
  constexpr std::int64_t usual_chunk = std::int64_t{128} * 1024;
  constexpr std::int64_t many_nodes_chunk = std::int64_t{64} * 1024;
  if (!nvls_enabled(input)) {
    return {};
  }
  const Communicator& communicator = input.communicator;
  const bool several = communicator.nodes > 1;
  const NvlsChannels& counts =
      communicator.min_sm >= 100 ? input.constants.blackwell_nvls : input.constants.hopper_nvls;
  NvlsSetup setup{several ? counts.several_nodes : counts.one_node, usual_chunk,
                  communicator.nodes >= 4 ? many_nodes_chunk : usual_chunk};
  if (several && communicator.min_sm >= 100 &&
      input.constants.nvls_network == NvlsNetwork::ByNics) {
    setup = setup_by_nics(input, setup);
  }

  const Configuration& configuration = input.configuration;
  if (configuration.nvls_chunk) {
    setup.chunk = *configuration.nvls_chunk;
    if (communicator.nodes < 4) {
      setup.tree_chunk = setup.chunk;
    }
  }
  setup.tree_chunk = configuration.nvls_tree_chunk.value_or(setup.tree_chunk);
  setup.channels = configuration.nvls_channels.value_or(setup.channels);
  setup.channels = std::max(
      configuration.min_ctas.value_or(1),
      std::min(configuration.max_ctas.value_or(input.constants.max_channels), setup.channels));
  return setup;
}

Channels execution_channels(const TuningInput& input) {
  const int search = search_channels(input.graphs);
  COLLSIM_ENSURE(search > 0, "a graph search gives at least one channel");
  Channels channels;
  channels.collective = doubled(search, input.constants.max_channels);
  add_for_collnet(channels.collective, input);
  add_for_network(channels.collective, input);
  clamp_to_configuration(channels.collective, input);
  channels.nvls = nvls_setup(input).channels;
  if (input.constants.nvls_raises_channels &&
      input.communicator.max_ranks_per_node > ranks_without_nvls) {
    copy_up_to(channels.collective, channels.nvls);
  }
  const P2pChannels p2p = p2p_channels(input, size_of(channels.collective));
  channels.p2p = p2p.channels;
  channels.per_peer = p2p.per_peer;
  return channels;
}

}  // namespace collsim::nccl
