// Which program an algorithm of NCCL is.

#include <string>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/ring_program.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

std::unique_ptr<Program> build_program(const Decisions& decisions, const Execution& execution) {
  const std::vector<ExecutionChannel>& channels = decisions.tuning().channels.collective;
  switch (execution.algorithm) {
    case Algorithm::Ring:
      return build_ring_program(execution,
                                build_rings(decisions.graphs(), decisions.layout(), channels));
    default:
      throw InputError("NCCL's algorithm " + std::string(name(execution.algorithm)) +
                       " is not executed yet; expected Ring");
  }
}

}  // namespace collsim::nccl
