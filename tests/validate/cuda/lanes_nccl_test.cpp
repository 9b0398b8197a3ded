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

TEST_CASE(
    "the GPU's interpreter runs NCCL's programs, LL as LL, LL128 as LL128, a multicast as loops") {
  const NcclMachine machine("dgx-h100", 1, 4, closed_form_costs);
  std::set<std::string> ran;
  for (const auto& [algorithm, protocol] :
       {std::pair(nccl::Algorithm::Ring, nccl::Protocol::LL),
        std::pair(nccl::Algorithm::Ring, nccl::Protocol::Simple),
        std::pair(nccl::Algorithm::Tree, nccl::Protocol::LL128),
        std::pair(nccl::Algorithm::Nvls, nccl::Protocol::Simple)}) {
    const CollectiveCall call = machine.call(CollectiveKind::AllReduce, 60'000_B);
    const auto program = machine.program(call, {algorithm, protocol}, ChannelsRun::Each);
    const auto kind_over = [&](WideLines wide) {
      return choose_wire(*program.program, LaneWire::AsProgram, wide);
    };
    CAPTURE(program.algorithm);
    const kernels::WireKind own = protocol == nccl::Protocol::LL128 ? kernels::WireKind::WideLines
                                  : protocol == nccl::Protocol::LL  ? kernels::WireKind::Lines
                                                                    : kernels::WireKind::Simple;
    CHECK(kind_over(WideLines::Carried).kind == own);
    // Where lines would be torn, LL stands in, and every lane is counted.
    const LaneWireChoice torn = kind_over(WideLines::Torn);
    const bool replaced = protocol == nccl::Protocol::LL128;
    CHECK(torn.kind == (replaced ? kernels::WireKind::Lines : own));
    CHECK((torn.replaced_lanes > 0) == replaced);
    const LaneProgram lanes(*program.program, torn);
    CHECK((lanes.emulated_steps() > 0) == (algorithm == nccl::Algorithm::Nvls));
    CHECK(wrong_after_lanes(*program.program, {}) == "");
    ran.insert(program.algorithm);
  }
  CHECK(ran == std::set<std::string>{"nccl-ring", "nccl-tree", "nvls"});
}
