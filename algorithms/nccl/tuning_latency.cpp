#include <algorithm>

#include "algorithms/nccl/tuning_terms.hpp"

namespace collsim::nccl {

namespace {

/// The latencies that the terms below are made of, in us.
struct Latencies {
  float inside;   ///< a hop inside a node
  float network;  ///< a hop over the network, with the NICs'
};

double hop_latency(const TuningInput& input, Hop hop, Algorithm algorithm, Protocol protocol) {
  // On POWER hosts NCCL favours Tree over PCIe.
  if (input.communicator.cpu_architecture == HostArchitecture::Power && hop == Hop::Pci &&
      algorithm == Algorithm::Tree && protocol == Protocol::Simple) {
    algorithm = Algorithm::Ring;
  }
  return input.constants.hop_latency[hop][algorithm][protocol];
}

Hop inside_hop(const Graph& graph) {
  return graph.type_intra == PathType::Nvl ? Hop::NvLink : Hop::Pci;
}

Latencies latencies_of(const TuningInput& input, TableKey key, const Graph& graph) {
  const Communicator& communicator = input.communicator;
  const bool as_tree =
      communicator.ranks == communicator.nodes && input.constants.one_gpu_uses_tree_latency;
  Latencies result{
      static_cast<float>(hop_latency(input, inside_hop(graph), key.algorithm, key.protocol)),
      static_cast<float>(hop_latency(input, Hop::Network, as_tree ? Algorithm::Tree : key.algorithm,
                                     key.protocol))};
  result.network += graph.latency_inter;
  if (key.protocol == Protocol::Simple) {
    result.network += graph.latency_inter;  // the flush after a receive
  }
  return result;
}

/// What a rank pays for each network operation of a ring, in us.
float network_overhead(const TuningInput& input, Protocol protocol) {
  const Communicator& communicator = input.communicator;
  if (communicator.nodes == 1) {
    return 0.0F;
  }
  float overhead = 1.0F;
  if (input.configuration.net_overhead_ns) {
    overhead = static_cast<float>(*input.configuration.net_overhead_ns * 0.001);
  } else if (communicator.cpu_architecture == HostArchitecture::X86 &&
             communicator.cpu_vendor == HostVendor::Amd) {
    overhead = 2.0F;
  }
  return protocol == Protocol::Simple ? overhead * 3 : overhead;
}

int network_steps(const TuningInput& input, Function function) {
  const int nodes = input.communicator.nodes;
  if (nodes == 1) {
    return 0;
  }
  if (function != Function::AllReduce) {
    return nodes - 1;
  }
  return 2 * (input.constants.ring_network_hops == RingNetworkHops::Links ? nodes - 1 : nodes);
}

float ring_latency(const TuningInput& input, TableKey key, const Graph& graph,
                   Latencies latencies) {
  const int steps = ring_steps(key.function, input.communicator.ranks);
  if (key.function == Function::Broadcast || key.function == Function::Reduce) {
    const Hop hop = input.communicator.nodes == 1 ? inside_hop(graph) : Hop::Network;
    if (graph.same_channels) {
      return static_cast<float>(hop_latency(input, hop, Algorithm::Ring, key.protocol));
    }
    const bool chunk = key.protocol == Protocol::Simple;
    const auto hop_time = static_cast<float>(
        hop_latency(input, hop, chunk ? Algorithm::Tree : Algorithm::Ring, key.protocol));
    return static_cast<float>(steps) * hop_time;
  }
  const float inside = std::max(latencies.inside, network_overhead(input, key.protocol));
  const int network = network_steps(input, key.function);
  return static_cast<float>(steps - network) * inside +
         static_cast<float>(network) * latencies.network;
}

float tree_latency(const TuningInput& input, Latencies latencies) {
  const Communicator& communicator = input.communicator;
  const int chain = communicator.ranks / communicator.nodes - 1;
  return 2 * (static_cast<float>(chain) * latencies.inside +
              static_cast<float>(floor_log2(communicator.nodes)) * latencies.network);
}

}  // namespace

float model_latency(const TuningInput& input, TableKey key) {
  const Graph none{};
  const Graph* const found = graph_of(input.graphs, key.algorithm);
  const Graph& graph = found == nullptr ? none : *found;
  const Communicator& communicator = input.communicator;
  const Latencies latencies = latencies_of(input, key, graph);
  const auto base = static_cast<float>(input.constants.base_latency[key.algorithm][key.protocol]);
  const int local_peers = communicator.ranks / communicator.nodes - 1;
  const auto levels = static_cast<float>(floor_log2(communicator.nodes));
  switch (key.algorithm) {
    case Algorithm::Ring:
      return base + ring_latency(input, key, graph, latencies);
    case Algorithm::Tree:
      return key.function == Function::AllReduce ? base + tree_latency(input, latencies) : base;
    case Algorithm::CollNetDirect:
      return static_cast<float>(
          static_cast<double>(base) +
          (2 * (static_cast<double>(static_cast<float>(std::min(1, local_peers)) *
                                    latencies.inside) +
                local_peers * input.constants.collnet_serialization) +
           static_cast<double>(latencies.network)));
    case Algorithm::CollNetChain:
      return base + (static_cast<float>(2 * local_peers) * latencies.inside + latencies.network);
    case Algorithm::Nvls:
      return base +
             (communicator.nodes > 1 ? latencies.inside + latencies.network : latencies.inside);
    case Algorithm::NvlsTree:
      return base + (latencies.inside + 2 * levels * latencies.network);
    case Algorithm::Pat:
      return static_cast<float>(
          static_cast<double>(base) +
          (static_cast<double>(levels) *
               (static_cast<double>(latencies.network) / input.constants.pat_step_share) +
           communicator.ranks * input.constants.pat_per_rank));
  }
  return base;
}

}  // namespace collsim::nccl
