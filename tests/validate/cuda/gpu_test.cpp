// The kernels on a GPU, where there is one: every algorithm once over each wire. tools/gpu_check.sh does more.

#include <optional>

#include "algorithms/table.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"
#include "validate/cuda/cuda_backend.hpp"

using namespace collsim;
using namespace collsim::test;

namespace {

/// Whether there is a GPU; if not the case is reported as skipped.
bool has_gpu() {
  try {
    static_cast<void>(require_gpus());
    return true;
  } catch (const InputError& error) {
    skip(error.message());
    return false;
  }
}

}  // namespace

TEST_CASE("every algorithm gives the right data on a GPU") {
  if (!has_gpu()) {
    return;
  }
  for (const CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::AllToAll}) {
    for (const Algorithm& algorithm : algorithms()) {
      ProgramRequest request;
      request.call.kind = kind;
      request.call.ranks = 4;
      request.call.count = 1003;
      request.call.in_place = InPlace::No;
      if (!implements(algorithm, kind) || algorithm.obstacle(request)) {
        continue;
      }
      for (const LaneWire wire : {LaneWire::Simple, LaneWire::Lines, LaneWire::WideLines}) {
        CudaOptions options;
        options.wire = wire;
        CAPTURE(algorithm.name, name_of(kind), wire);
        CHECK(execute_on_gpus(*build_program(algorithm, request), {}, options).wrong.empty());
      }
    }
  }
}
