#include <algorithm>
#include <array>
#include <cstddef>

#include "algorithms/nccl/tuning_terms.hpp"

namespace collsim::nccl {

namespace {

using Outcome = std::optional<Exclusion>;

constexpr int oldest_ll128 = 70;
constexpr int oldest_pat = 60;

bool implemented(Function function, Algorithm algorithm) {
  switch (function) {
    case Function::Broadcast:
    case Function::Reduce:
      return algorithm == Algorithm::Ring;
    case Function::AllGather:
    case Function::ReduceScatter:
      return algorithm == Algorithm::Ring || algorithm == Algorithm::Pat ||
             algorithm == Algorithm::Nvls || algorithm == Algorithm::CollNetDirect;
    case Function::AllReduce:
      break;
  }
  return algorithm != Algorithm::Pat;
}

bool pat_enabled(const TuningInput& input) {
  const Communicator& communicator = input.communicator;
  if (!input.constants.has_pat || communicator.min_sm < oldest_pat) {
    return false;
  }
  if (input.configuration.pat != Switch::Auto) {
    return input.configuration.pat == Switch::On;
  }
  return communicator.nodes == communicator.ranks && !communicator.unpacking_network;
}

Outcome nvls_rule(const TuningInput& input, Algorithm algorithm) {
  const int nodes = input.communicator.nodes;
  // With one GPU the switch has nothing to reduce.
  if (!nvls_enabled(input) || input.communicator.min_ranks_per_node < 2) {
    return Exclusion::NvlsDisabled;
  }
  if (algorithm == Algorithm::NvlsTree && nodes == 1) {
    return Exclusion::NvlsTreeOneNode;
  }
  if (algorithm == Algorithm::Nvls && nodes > 1 && !collnet_enabled(input)) {
    return Exclusion::NvlsNeedsCollNet;
  }
  if (input.constants.nvls_bandwidth == NvlsBandwidth::Efficiency &&
      channels_of(input.graphs, algorithm) < 2) {
    return Exclusion::NvlsFewChannels;
  }
  return std::nullopt;
}

Outcome collnet_rule(const TuningInput& input, Algorithm algorithm) {
  if (!collnet_enabled(input) || graph_of(input.graphs, algorithm) == nullptr) {
    return Exclusion::CollNetDisabled;
  }
  if (algorithm == Algorithm::CollNetDirect && !input.communicator.has_nvswitch) {
    return Exclusion::CollNetNeedsNvSwitch;
  }
  return std::nullopt;
}

/// AllGather and ReduceScatter over several nodes need the plugin's own operation and a head for
/// each local rank.
Outcome collnet_operation_rule(const TuningInput& input, Function function, Algorithm algorithm) {
  const Communicator& communicator = input.communicator;
  if (communicator.nodes <= 1) {
    return std::nullopt;
  }
  if (algorithm == Algorithm::Nvls && !input.constants.nvls_gathers_over_network) {
    return Exclusion::CollNetNoOperation;
  }
  const CollNetPlugin& plugin = *communicator.collnet;
  if (!(function == Function::AllGather ? plugin.all_gather : plugin.reduce_scatter)) {
    return Exclusion::CollNetNoOperation;
  }
  const std::optional<Graph>& direct = input.graphs.collnet_direct;
  const std::size_t count = direct ? heads(*direct).size() : 0;
  if (static_cast<std::size_t>(communicator.max_ranks_per_node) > count) {
    return Exclusion::CollNetFewHeads;
  }
  return std::nullopt;
}

Outcome algorithm_rule(const TuningInput& input, TableKey key) {
  switch (key.algorithm) {
    case Algorithm::Tree:
    case Algorithm::Ring:
      return std::nullopt;
    case Algorithm::Pat:
      return pat_enabled(input) ? Outcome{} : Exclusion::PatDisabled;
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
      if (const Outcome outcome = nvls_rule(input, key.algorithm)) {
        return outcome;
      }
      break;
    case Algorithm::CollNetDirect:
    case Algorithm::CollNetChain:
      if (const Outcome outcome = collnet_rule(input, key.algorithm)) {
        return outcome;
      }
      break;
  }
  return gathers_or_scatters(key.function)
             ? collnet_operation_rule(input, key.function, key.algorithm)
             : Outcome{};
}

Outcome ll128_gpu_rule(const TuningInput& input) {
  const int least = input.communicator.min_sm;
  const bool alike = least == input.communicator.max_sm;
  switch (input.constants.ll128_gpus) {
    case LL128Gpus::Listed:
      if (!alike) {
        return Exclusion::LL128MixedGpus;
      }
      return std::find(input.constants.ll128_listed.begin(), input.constants.ll128_listed.end(),
                       least) != input.constants.ll128_listed.end()
                 ? Outcome{}
                 : Exclusion::LL128OldGpu;
    case LL128Gpus::Alike:
      if (!alike) {
        return Exclusion::LL128MixedGpus;
      }
      break;
    case LL128Gpus::AlikeOrFromHopper:
      if (!alike && least < 90) {
        return Exclusion::LL128MixedGpus;
      }
      break;
  }
  return least < oldest_ll128 ? Exclusion::LL128OldGpu : Outcome{};
}

/// Where LL128's flags may arrive before its data, or nobody has tried.
Outcome ll128_rule(const TuningInput& input, TableKey key, const Graph& graph) {
  const Communicator& communicator = input.communicator;
  const bool far = input.configuration.ll128_over_c2c && communicator.min_sm >= 90;
  if (graph.type_inter > (far ? PathType::Pxn : PathType::Pxb)) {
    return Exclusion::LL128OverNetwork;
  }
  if (graph.type_intra > PathType::Nvb) {
    return Exclusion::LL128InNode;
  }
  if (const Outcome outcome = ll128_gpu_rule(input)) {
    return outcome;
  }
  if (communicator.cuda_11_8 && communicator.min_sm == 90 && communicator.ranks == 2 &&
      key.function == Function::AllReduce && key.algorithm == Algorithm::Ring) {
    return Exclusion::LL128Cuda118;
  }
  return std::nullopt;
}

}  // namespace

std::string_view rule(Exclusion exclusion) {
  constexpr std::array<std::string_view, 24> rules{
      "one rank has nothing to choose",
      "the collective has no such algorithm",
      "the algorithm has the Simple protocol only",
      "PAT needs one rank a node and sm 60 (NCCL_PAT_ENABLE=1 forces it)",
      "no NVLS: it needs GPUs of sm 90, an NVSwitch and NCCL_NVLS_ENABLE",
      "NVLS needs two search channels",
      "NVLSTree needs several nodes",
      "NVLS over several nodes needs CollNet",
      "CollNet is off: it needs a plugin, NCCL_COLLNET_ENABLE=1 and nodes enough",
      "CollNetDirect needs an NVSwitch",
      "the CollNet plugin or NVLS over several nodes lacks the collective",
      "AllGather and ReduceScatter need a CollNet head for each local rank",
      "LL128 needs NICs within PXB (PXN from sm 90 on)",
      "LL128 needs NVLink between the GPUs",
      "LL128 needs GPUs of one compute capability",
      "LL128 is not for this compute capability",
      "LL128 is off with CUDA 11.8 for two GPUs of sm 90",
      "excluded by NCCL_ALGO",
      "excluded by NCCL_PROTO",
      "the model gives it no bandwidth",
      "CollNet needs at most 8 ranks a node",
      "AllGather and ReduceScatter need no more local ranks than NVLS has heads",
      "NVLS cannot reduce this type with this operation",
      "PAT cannot average",
  };
  return rules[static_cast<std::size_t>(exclusion)];
}

std::optional<Exclusion> exclusion(const TuningInput& input, TableKey key) {
  if (input.communicator.ranks <= 1) {
    return Exclusion::OneRank;
  }
  if (!implemented(key.function, key.algorithm)) {
    return Exclusion::NotImplemented;
  }
  const bool all_protocols = key.algorithm == Algorithm::Ring || key.algorithm == Algorithm::Tree;
  if (!all_protocols && key.protocol != Protocol::Simple) {
    return Exclusion::SimpleOnly;
  }
  if (const Outcome outcome = algorithm_rule(input, key)) {
    return outcome;
  }
  const Configuration& configuration = input.configuration;
  const bool forced = configuration.protocols.allowed[key.function].has_value();
  if (key.protocol == Protocol::LL128 && !forced) {
    if (const Outcome outcome = ll128_rule(input, key, *graph_of(input.graphs, key.algorithm))) {
      return outcome;
    }
  }
  if (!configuration.algorithms.allows(key.function, static_cast<std::size_t>(key.algorithm))) {
    return Exclusion::AlgorithmRestricted;
  }
  if (!configuration.protocols.allows(key.function, static_cast<std::size_t>(key.protocol))) {
    return Exclusion::ProtocolRestricted;
  }
  return std::nullopt;
}

}  // namespace collsim::nccl
