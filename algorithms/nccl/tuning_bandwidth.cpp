#include <algorithm>
#include <limits>

#include "algorithms/nccl/tuning_terms.hpp"

namespace collsim::nccl {

namespace {

// Shares and factors of NCCL's model, which gives no further reason for them.
constexpr double tree_share = 0.92;
constexpr double tree_ll_divisor = 3.8;
constexpr double tree_ll128_share_one_node = 7.0 / 9.0;
constexpr double tree_ll128_share = 120.0 / 128.0;
constexpr double one_gpu_tree_share = 0.85;
constexpr double pat_share = 0.75;
constexpr double hopper_collnet_share = 0.85;
constexpr float network_share = 0.9F;
constexpr double graph_nvls_share = 5.0 / 6.0;

/// The caps that hold for this communicator.
struct Caps {
  double ll;
  double ring_ll128;
  double tree_ll128;
  double tree;
  double nvls_tree;
};

Caps caps_of(const TuningInput& input) {
  const Communicator& communicator = input.communicator;
  const Generation generation = generation_of(communicator.min_sm);
  const Scale scale = scale_of(communicator.nodes);
  const TuningConstants& constants = input.constants;
  const bool amd =
      communicator.cpu_vendor == HostVendor::Amd || communicator.cpu_vendor == HostVendor::Mixed;
  // Inside a node the GPU limits LL, over the network the CPU: its rows are named for GPUs all the same.
  const Generation ll_row =
      communicator.nodes == 1 ? generation : (amd ? Generation::Ampere : Generation::Volta);
  return {constants.ll_cap[ll_row][scale], constants.ring_ll128_cap[generation][scale],
          constants.tree_ll128_cap[generation][scale], constants.tree_cap[generation][scale],
          constants.nvls_tree_cap[generation][scale]};
}

float ranks_per_node(const Communicator& communicator) {
  return static_cast<float>(communicator.ranks) / static_cast<float>(communicator.nodes);
}

/// A search channel's bandwidth with NVLS from 2.28 on: what the switch reaches inside a node, what
/// the graph gives outside.
float nvls_by_efficiency(const TuningInput& input, TableKey key, const Graph& graph) {
  const Communicator& communicator = input.communicator;
  const auto channels = static_cast<float>(channels_of(input.graphs, key.algorithm));
  const auto efficiency =
      static_cast<float>(input.constants.nvls_efficiency[generation_of(communicator.min_sm)]);
  float inside = graph.bandwidth_intra * efficiency * (channels - 1) / channels;
  if (key.function == Function::AllReduce) {
    inside *= 2.0F;  // its two phases overlap
  } else {
    const float ranks = ranks_per_node(communicator);
    inside *= (ranks - 1) / ranks;
  }
  if (key.algorithm == Algorithm::Nvls) {
    return std::min(inside, graph.bandwidth_inter);
  }
  const float outside = graph.bandwidth_inter * (communicator.nodes <= 2 ? 2.0F : 1.0F);
  return std::min({inside, outside, static_cast<float>(caps_of(input).nvls_tree)});
}

/// The same up to 2.27.
float nvls_by_graph(const TuningInput& input, TableKey key, const Graph& graph) {
  if (key.algorithm == Algorithm::NvlsTree) {
    return std::min(graph.bandwidth_intra, input.communicator.nodes <= 2
                                               ? graph.bandwidth_inter
                                               : graph.bandwidth_inter / 2);
  }
  if (key.function == Function::AllReduce ||
      input.constants.nvls_bandwidth == NvlsBandwidth::Lesser) {
    return std::min(graph.bandwidth_intra, graph.bandwidth_inter);
  }
  const float ranks = ranks_per_node(input.communicator);
  return std::min(graph.bandwidth_intra * (ranks - 1.0F) / ranks,
                  graph.bandwidth_inter * network_share);
}

float channel_bandwidth(const TuningInput& input, TableKey key, const Graph& graph) {
  if (is_nvls(key.algorithm)) {
    return input.constants.nvls_bandwidth == NvlsBandwidth::Efficiency
               ? nvls_by_efficiency(input, key, graph)
               : nvls_by_graph(input, key, graph);
  }
  return input.communicator.nodes <= 2 || is_collnet(key.algorithm) ? graph.bandwidth_intra
                                                                    : graph.bandwidth_inter;
}

double ring_ll_share(const TuningInput& input, Function function) {
  if (input.constants.ring_ll == RingLL::Half) {
    return 0.5;
  }
  const bool reduces = function == Function::AllReduce || function == Function::Reduce;
  return input.communicator.nodes > 1 || reduces ? 1.0 / 4.0 : 1.0 / 3.0;
}

/// A search channel's cap with LL128: by generation, in 2.7 by function, too.
double ring_ll128_cap(const TuningInput& input, Function function) {
  const double cap = caps_of(input).ring_ll128;
  const std::vector<double>& by_function = input.constants.ring_ll128_function_cap;
  return by_function.empty() ? cap : std::min(cap, by_function[static_cast<std::size_t>(function)]);
}

float ring_bandwidth(const TuningInput& input, TableKey key, float bandwidth) {
  const Caps caps = caps_of(input);
  if (input.communicator.min_sm >= 80) {
    bandwidth =
        static_cast<float>(static_cast<double>(bandwidth) * input.constants.ring_share_from_ampere);
  }
  const auto wide = static_cast<double>(bandwidth);
  switch (key.protocol) {
    case Protocol::LL:
      return static_cast<float>(std::min(caps.ll, wide * ring_ll_share(input, key.function)));
    case Protocol::LL128: {
      const double share = ranks_per_node(input.communicator) < 2
                               ? input.constants.ring_ll128_share_one_gpu
                               : input.constants.ring_ll128_share;
      return static_cast<float>(std::min(wide * share, channels_of(input.graphs, key.algorithm) *
                                                           ring_ll128_cap(input, key.function)));
    }
    case Protocol::Simple:
      break;
  }
  return bandwidth;
}

float tree_bandwidth(const TuningInput& input, TableKey key, float bandwidth) {
  const Caps caps = caps_of(input);
  const int channels = channels_of(input.graphs, key.algorithm);
  bandwidth = static_cast<float>(
      std::min(static_cast<double>(bandwidth) * tree_share, channels * caps.tree));
  if (key.protocol == Protocol::LL) {
    bandwidth = static_cast<float>(
        std::min(static_cast<double>(bandwidth) * 1.0 / tree_ll_divisor, caps.ll));
  } else if (key.protocol == Protocol::LL128) {
    const double share =
        input.communicator.nodes == 1 ? tree_ll128_share_one_node : tree_ll128_share;
    bandwidth = static_cast<float>(
        std::min(static_cast<double>(bandwidth) * share, channels * caps.tree_ll128));
  }
  if (input.graphs.tree.pattern == Pattern::Tree) {
    bandwidth = static_cast<float>(static_cast<double>(bandwidth) * one_gpu_tree_share);
  }
  return bandwidth;
}

float collnet_direct_bandwidth(const TuningInput& input, TableKey key, const Graph& graph,
                               float bandwidth) {
  const float ranks = ranks_per_node(input.communicator);
  if (gathers_or_scatters(key.function)) {
    if (input.constants.collnet_gather == CollNetGather::Interpolated) {
      const auto weight = static_cast<double>((ranks - 1) / 7);
      return static_cast<float>(static_cast<double>(ranks * graph.bandwidth_intra) *
                                (weight * 0.85 + (1 - weight) * 0.95));
    }
    return ranks * std::min(graph.bandwidth_intra, graph.bandwidth_inter * network_share);
  }
  // Half way from one NIC a GPU to what is there.
  auto factor =
      static_cast<float>(static_cast<double>(ranks) / channels_of(input.graphs, key.algorithm));
  factor -= (factor - 1) / 2;
  bandwidth /= factor;
  if (input.communicator.min_sm >= 90) {
    bandwidth = static_cast<float>(static_cast<double>(bandwidth) * hopper_collnet_share);
  }
  return bandwidth;
}

/// The part of the bandwidth on the wire that the bytes of a call see.
float algorithm_share(const TuningInput& input, TableKey key) {
  const bool nvls_too = input.constants.nvls_gather_converted && is_nvls(key.algorithm);
  const bool converted =
      key.algorithm == Algorithm::Ring || nvls_too || !gathers_or_scatters(key.function);
  if (!converted) {
    return 1.0F;
  }
  const int ranks = input.communicator.ranks;
  const bool by_graph =
      is_nvls(key.algorithm) && input.constants.nvls_bandwidth != NvlsBandwidth::Efficiency;
  if (by_graph) {
    return static_cast<float>(graph_nvls_share);
  }
  if (key.algorithm == Algorithm::Ring || is_nvls(key.algorithm)) {
    return static_cast<float>(1.0 * ranks / ring_steps(key.function, ranks));
  }
  return 0.5F;
}

}  // namespace

float model_bandwidth(const TuningInput& input, TableKey key) {
  const Graph& graph = *graph_of(input.graphs, key.algorithm);
  float bandwidth = static_cast<float>(channels_of(input.graphs, key.algorithm)) *
                    channel_bandwidth(input, key, graph);
  switch (key.algorithm) {
    case Algorithm::Ring:
      bandwidth = ring_bandwidth(input, key, bandwidth);
      break;
    case Algorithm::Tree:
      bandwidth = tree_bandwidth(input, key, bandwidth);
      break;
    case Algorithm::Pat:
      bandwidth = static_cast<float>(static_cast<double>(bandwidth) * pat_share);
      break;
    case Algorithm::CollNetDirect:
      bandwidth = collnet_direct_bandwidth(input, key, graph, bandwidth);
      break;
    case Algorithm::CollNetChain:
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
      break;
  }
  return bandwidth * algorithm_share(input, key);
}

}  // namespace collsim::nccl
