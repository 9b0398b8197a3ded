// Which program an algorithm of NCCL is.

#include <string>
#include <vector>

#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/connected_program.hpp"
#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/nvls_program.hpp"
#include "algorithms/nccl/nvls_tree_program.hpp"
#include "algorithms/nccl/pat_program.hpp"
#include "algorithms/nccl/ring_program.hpp"
#include "algorithms/nccl/tree_program.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

InputError not_executed(const std::string& what) {
  return InputError(
      what + ", which NCCL chooses here, reduces in the network: that is not executed", {},
      "NCCL_COLLNET_ENABLE=0, or another NCCL_ALGO");
}

/// Of a node, as numbers within it.
std::vector<Rank> head_ranks(const Decisions& decisions) {
  std::vector<Rank> ranks;
  for (const int head : heads(*decisions.graphs().nvls)) {
    ranks.emplace_back(static_cast<std::uint32_t>(head));
  }
  return ranks;
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
        throw not_executed("NVLS over several nodes");
      }
      return build_nvls_program(execution, head_ranks(decisions));
    case Algorithm::NvlsTree:
      return build_nvls_tree_program(execution, decisions.layout(), head_ranks(decisions));
    case Algorithm::Pat:
      return build_pat_program(execution);
    case Algorithm::CollNetDirect:
    case Algorithm::CollNetChain:
      throw not_executed(std::string(name(execution.algorithm)));
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

}  // namespace

std::unique_ptr<Program> build_program(const Decisions& decisions, const Execution& execution) {
  return with_waypoints(program_of(decisions, execution),
                        algorithm_connections(decisions, execution.algorithm));
}

}  // namespace collsim::nccl
