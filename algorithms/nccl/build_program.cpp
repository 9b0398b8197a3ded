// Which program an algorithm of NCCL is.

#include <vector>

#include "algorithms/nccl/collnet_gather_program.hpp"
#include "algorithms/nccl/collnet_program.hpp"
#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/connected_program.hpp"
#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/nvls_gather_program.hpp"
#include "algorithms/nccl/nvls_network_program.hpp"
#include "algorithms/nccl/nvls_program.hpp"
#include "algorithms/nccl/nvls_tree_program.hpp"
#include "algorithms/nccl/pat_program.hpp"
#include "algorithms/nccl/ring_program.hpp"
#include "algorithms/nccl/tree_program.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// As numbers within the node.
std::vector<Rank> ranks_of(const std::vector<int>& gpus) {
  std::vector<Rank> ranks;
  ranks.reserve(gpus.size());
  for (const int gpu : gpus) {
    ranks.emplace_back(static_cast<std::uint32_t>(gpu));
  }
  return ranks;
}

/// Of a node, by channel: those of the graph in turn.
std::vector<std::vector<Rank>> chains(const Decisions& decisions, const Execution& execution) {
  const std::vector<GraphChannel>& channels = decisions.graphs().collnet_chain->channels;
  std::vector<std::vector<Rank>> chains;
  chains.reserve(execution.work.size());
  for (const ChannelWork& work : execution.work) {
    chains.push_back(ranks_of(channels[work.channel % channels.size()].gpus));
  }
  return chains;
}

std::unique_ptr<Program> nvls_network_program(const Decisions& decisions,
                                              const Execution& execution) {
  const std::vector<Rank> of_node = ranks_of(heads(*decisions.graphs().nvls));
  if (execution.call.kind != CollectiveKind::AllReduce) {
    return build_nvls_gather_program(execution, decisions.layout(), of_node);
  }
  return build_nvls_network_program(execution, decisions.layout(), of_node);
}

std::unique_ptr<Program> collnet_program(const Decisions& decisions, const Execution& execution) {
  if (execution.algorithm == Algorithm::CollNetDirect) {
    if (execution.call.kind != CollectiveKind::AllReduce) {
      return build_collnet_gather_program(execution, decisions.layout());
    }
    return build_collnet_direct_program(execution, decisions.layout(),
                                        ranks_of(heads(*decisions.graphs().collnet_direct)));
  }
  return build_collnet_chain_program(execution, decisions.layout(), chains(decisions, execution));
}

/// As routed.
std::unique_ptr<Program> program_of(const Decisions& decisions, const Execution& execution) {
  const std::vector<ExecutionChannel>& channels = decisions.tuning().channels.collective;
  switch (execution.algorithm) {
    case Algorithm::Ring:
      return build_ring_program(execution,
                                build_rings(decisions.graphs(), decisions.layout(), channels));
    case Algorithm::Tree:
      return build_tree_program(execution,
                                build_trees(decisions.graphs().tree, decisions.layout(), channels));
    case Algorithm::Nvls:
      if (execution.interleaved) {
        return nvls_network_program(decisions, execution);
      }
      return build_nvls_program(execution, ranks_of(heads(*decisions.graphs().nvls)));
    case Algorithm::NvlsTree:
      return build_nvls_tree_program(execution, decisions.layout(),
                                     ranks_of(heads(*decisions.graphs().nvls)));
    case Algorithm::Pat:
      return build_pat_program(execution);
    case Algorithm::CollNetDirect:
    case Algorithm::CollNetChain:
      return collnet_program(decisions, execution);
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

}  // namespace

std::unique_ptr<Program> build_program(const Decisions& decisions, const Execution& execution) {
  return with_waypoints(program_of(decisions, execution),
                        algorithm_connections(decisions, execution.algorithm));
}

}  // namespace collsim::nccl
