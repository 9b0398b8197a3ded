#include "algorithms/nccl/tuner.hpp"

#include <string>
#include <vector>

#include "algorithms/nccl/io/read_tuner.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using test::h100;
using test::ReferenceMachine;

using A = Algorithm;
using F = Function;
using P = Protocol;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_tuner(text, "tuner.conf"));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

/// "Tree LL by line 1", or "by NCCL".
std::string choice(const std::vector<TunerRule>& rules, const Call& call) {
  const ReferenceMachine machine = h100(1);
  const TunedChoice chosen = choose_with_tuner(machine.input(), tune(machine.input()), call, rules);
  return std::string(name(chosen.contender.algorithm)) + " " +
         std::string(name(chosen.contender.protocol)) + " by " +
         (chosen.rule == nullptr ? "NCCL" : "rule " + std::to_string(chosen.rule - rules.data()));
}

}  // namespace

TEST_CASE("tuner file: rules, comments and blanks") {
  const std::vector<TunerRule> rules = parse_tuner(
      "# a comment\n"
      "\n"
      "allreduce,0,65536,tree,ll,2,1,-1\n"
      "  reducescatter , 1 , 18446744073709551615 , nvls , simple , -1 , 2 , 16 , 3 , 1 \n"
      "broadcast,0,-1,collnet_direct,ll128,-1,-1,-1,-1,-1\r\n",
      "tuner.conf");
  REQUIRE(rules.size() == 3);
  CHECK(rules[0] == TunerRule{F::AllReduce, 0, 65536, A::Tree, P::LL, 2, 1, {}, {}, {}});
  CHECK(rules[1] ==
        TunerRule{F::ReduceScatter, 1, UINT64_MAX, A::Nvls, P::Simple, {}, 2, 16, 3, true});
  CHECK(rules[2] ==
        TunerRule{F::Broadcast, 0, UINT64_MAX, A::CollNetDirect, P::LL128, {}, {}, {}, {}, {}});
}

TEST_CASE("tuner file: every word") {
  const std::string text =
      "reduce,0,1,collnet_chain,ll,-1,-1,-1\n"
      "allgather,0,1,pat,simple,-1,-1,-1\n"
      "allreduce,0,1,nvls_tree,simple,-1,-1,-1\n"
      "allreduce,0,1,ring,ll128,-1,-1,-1,1,0";
  const std::vector<TunerRule> rules = parse_tuner(text, "tuner.conf");
  REQUIRE(rules.size() == 4);
  CHECK(rules[0].algorithm == A::CollNetChain);
  CHECK(rules[1].algorithm == A::Pat);
  CHECK(rules[2].algorithm == A::NvlsTree);
  CHECK(rules[3].registered == false);
}

TEST_CASE("tuner file: what a refusal says") {
  CHECK(refusal("allreduce,0,1,ring,ll\n") ==
        "tuner.conf:1:1: error: expected 8 to 10 fields, got 5\n"
        "  allreduce,0,1,ring,ll\n"
        "  ^\n"
        "hint: collective, min_bytes, max_bytes, algorithm, protocol, channels, nodes, ranks, "
        "pipelined, registered");
  CHECK(refusal("# x\nallreduce,0,1,rings,ll,-1,-1,-1\n") ==
        "tuner.conf:2:15: error: expected tree, ring, collnet_direct, collnet_chain, nvls, "
        "nvls_tree or pat, got \"rings\"\n"
        "  allreduce,0,1,rings,ll,-1,-1,-1\n"
        "                ^\n"
        "hint: did you mean \"ring\"?");
  const auto first_line = [](const std::string& text) {
    const std::string message = refusal(text);
    return message.substr(0, message.find('\n'));
  };
  CHECK(first_line("all,0,1,ring,ll,-1,-1,-1") ==
        "tuner.conf:1:1: error: expected broadcast, reduce, allgather, reducescatter or allreduce, "
        "got \"all\"");
  CHECK(first_line("allreduce,0,1,ring,LL,-1,-1,-1") ==
        "tuner.conf:1:20: error: expected ll, ll128 or simple, got \"LL\"");
  CHECK(first_line("allreduce,-1,1,ring,ll,-1,-1,-1") ==
        "tuner.conf:1:11: error: expected a number of bytes, got \"-1\"");
  CHECK(first_line("allreduce,5,4,ring,ll,-1,-1,-1") ==
        "tuner.conf:1:13: error: expected at least 5");
  CHECK(first_line("allreduce,0,1,ring,ll,0,-1,-1") ==
        "tuner.conf:1:23: error: expected -1 or a whole number from 1 to 64, got \"0\"");
  CHECK(first_line("allreduce,0,1,ring,ll,65,-1,-1") ==
        "tuner.conf:1:23: error: expected -1 or a whole number from 1 to 64, got \"65\"");
  CHECK(first_line("allreduce,0,1,ring,ll,-1,x,-1") ==
        "tuner.conf:1:26: error: expected -1 or a whole number from 1 to 2147483647, got \"x\"");
  CHECK(first_line("allreduce,0,1,ring,ll,-1,-1,-1,0") ==
        "tuner.conf:1:32: error: expected -1 or a whole number from 1 to 2147483647, got \"0\"");
  CHECK(first_line("allreduce,0,1,ring,ll,-1,-1,-1,1,2") ==
        "tuner.conf:1:34: error: expected -1 or a whole number from 0 to 1, got \"2\"");
  CHECK(first_line("allreduce,0,1,ring,ll,-1,-1,-1,1,0,0") ==
        "tuner.conf:1:1: error: expected 8 to 10 fields, got 11");
}

TEST_CASE("tuner: the first rule that fits and is available wins") {
  const std::vector<TunerRule> rules = parse_tuner(
      "allreduce,1024,4096,nvls_tree,simple,-1,-1,-1\n"  // needs several nodes
      "allreduce,2048,4096,tree,ll128,-1,-1,-1\n"
      "allreduce,1024,4096,ring,simple,-1,-1,-1\n",
      "tuner.conf");
  CHECK(choice(rules, {.bytes = 1024}) == "Ring Simple by rule 2");
  CHECK(choice(rules, {.bytes = 2048}) == "Tree LL128 by rule 1");
  CHECK(choice(rules, {.bytes = 4096}) == "Tree LL128 by rule 1");
  CHECK(choice(rules, {.bytes = 4097}) == "Ring LL by NCCL");
  CHECK(choice(rules, {.bytes = 1023}) == "Ring LL by NCCL");
  CHECK(choice(rules, {.function = F::AllGather, .bytes = 2048}) == "Ring LL by NCCL");
}

TEST_CASE("tuner: a rule may ask for nodes, ranks, a pipeline and registered buffers") {
  const auto chosen = [](const std::string& tail) {
    const std::vector<TunerRule> rules =
        parse_tuner("allreduce,0,-1,tree,ll,-1," + tail, "tuner.conf");
    return choice(rules, {.bytes = 1024, .pipelined = 2});
  };
  const std::string yes = "Tree LL by rule 0";
  const std::string no = "Tree LL by NCCL";
  // NCCL itself takes Tree here: two operations wait on Ring twice, on Tree once.
  CHECK(chosen("1,8") == yes);
  CHECK(chosen("2,-1") == no);
  CHECK(chosen("-1,16") == no);
  CHECK(chosen("-1,-1,2") == yes);
  CHECK(chosen("-1,-1,1") == no);
  CHECK(chosen("-1,-1,-1,0") == yes);
  CHECK(chosen("-1,-1,-1,1") == no);
}

}  // namespace collsim::nccl
