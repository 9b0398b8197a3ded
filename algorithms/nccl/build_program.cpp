// Which program an algorithm of NCCL is.

#include <string>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/ring_program.hpp"
#include "algorithms/nccl/tree_program.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

std::unique_ptr<Program> build_program(const Decisions& decisions, const Execution& execution) {
  const std::vector<ExecutionChannel>& channels = decisions.tuning().channels.collective;
  switch (execution.algorithm) {
    case Algorithm::Ring:
      return build_ring_program(execution,
                                build_rings(decisions.graphs(), decisions.layout(), channels));
    case Algorithm::Tree:
      return build_tree_program(execution,
                                build_trees(decisions.graphs().tree, decisions.layout(), channels));
    case Algorithm::CollNetDirect:
    case Algorithm::CollNetChain:
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
    case Algorithm::Pat:
      throw InputError("NCCL's algorithm " + std::string(name(execution.algorithm)) +
                       " is not executed yet; expected Ring or Tree");
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

}  // namespace collsim::nccl
