// NCCL's own programs by the GPU's interpreter, over the wire that their lanes name.

#include <optional>
#include <set>
#include <string>

#include "tests/catch.hpp"
#include "tests/study/nccl_machine.hpp"
#include "tests/validate/cuda/lane_checks.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

TEST_CASE("the GPU's interpreter runs NCCL's programs, LL as LL, a multicast as loops") {
  const NcclMachine machine("dgx-h100", 1, 4, closed_form_costs);
  std::set<std::string> ran;
  for (const auto& [algorithm, protocol] :
       {std::pair(nccl::Algorithm::Ring, nccl::Protocol::LL),
        std::pair(nccl::Algorithm::Ring, nccl::Protocol::Simple),
        std::pair(nccl::Algorithm::Tree, nccl::Protocol::LL128),
        std::pair(nccl::Algorithm::Nvls, nccl::Protocol::Simple)}) {
    const CollectiveCall call = machine.call(CollectiveKind::AllReduce, 60'000_B);
    const auto program = machine.program(call, {algorithm, protocol}, ChannelsRun::Each);
    const LaneProgram lanes(*program.program, LaneWire::AsProgram);
    CAPTURE(program.algorithm);
    CHECK(lanes.lines() == (protocol != nccl::Protocol::Simple));
    CHECK((lanes.replaced_lanes() > 0) == (protocol == nccl::Protocol::LL128));
    CHECK((lanes.emulated_steps() > 0) == (algorithm == nccl::Algorithm::Nvls));
    CHECK(wrong_after_lanes(*program.program, {}) == "");
    ran.insert(program.algorithm);
  }
  CHECK(ran == std::set<std::string>{"nccl-ring", "nccl-tree", "nvls"});
}
