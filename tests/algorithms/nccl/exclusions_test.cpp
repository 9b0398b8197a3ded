// Each rule that excludes an entry of the tuning table, and the configuration that lifts or sets it.

#include <string>
#include <tuple>
#include <vector>

#include "algorithms/nccl/tuning.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using test::h100;
using test::ReferenceMachine;

using A = Algorithm;
using E = Exclusion;
using F = Function;
using P = Protocol;

/// The rule that excludes an entry.
std::optional<E> excluded(const ReferenceMachine& machine, F function, A algorithm, P protocol) {
  return machine.entry(function, algorithm, protocol).excluded;
}

std::optional<E> ll128(const ReferenceMachine& machine, A algorithm = A::Ring) {
  return excluded(machine, F::AllReduce, algorithm, P::LL128);
}

ReferenceMachine restricted(std::string_view variable, std::string_view value) {
  ReferenceMachine machine = h100(1);
  machine.set(variable, value);
  return machine;
}

}  // namespace

TEST_CASE("exclusions: what a function has no algorithm for") {
  const ReferenceMachine machine = test::single_h100(2);
  for (const F function : {F::Broadcast, F::Reduce}) {
    for (const A algorithm : algorithms) {
      const bool has = algorithm == A::Ring;
      CHECK((excluded(machine, function, algorithm, P::Simple) == E::NotImplemented) == !has);
    }
  }
  for (const F function : {F::AllGather, F::ReduceScatter}) {
    CHECK(excluded(machine, function, A::Tree, P::Simple) == E::NotImplemented);
    CHECK(excluded(machine, function, A::CollNetChain, P::Simple) == E::NotImplemented);
    CHECK(excluded(machine, function, A::NvlsTree, P::Simple) == E::NotImplemented);
    CHECK_FALSE(excluded(machine, function, A::Pat, P::Simple));
  }
  CHECK(excluded(machine, F::AllReduce, A::Pat, P::Simple) == E::NotImplemented);
}

TEST_CASE("exclusions: all but Ring and Tree have Simple only") {
  ReferenceMachine machine = h100(1);
  for (const P protocol : {P::LL, P::LL128}) {
    CHECK(excluded(machine, F::AllReduce, A::Nvls, protocol) == E::SimpleOnly);
    CHECK(excluded(machine, F::AllReduce, A::NvlsTree, protocol) == E::SimpleOnly);
    CHECK(excluded(machine, F::AllReduce, A::CollNetDirect, protocol) == E::SimpleOnly);
    CHECK(excluded(machine, F::AllReduce, A::CollNetChain, protocol) == E::SimpleOnly);
    CHECK(excluded(machine, F::AllGather, A::Pat, protocol) == E::SimpleOnly);
  }
}

TEST_CASE("exclusions: PAT wants one rank a node, or to be switched on") {
  ReferenceMachine machine = h100(2);
  const auto pat = [&machine] { return excluded(machine, F::AllGather, A::Pat, P::Simple); };
  CHECK(pat() == E::PatDisabled);
  machine.set("NCCL_PAT_ENABLE", "1");
  CHECK_FALSE(pat());
  machine.communicator.min_sm = 59;
  CHECK(pat() == E::PatDisabled);

  machine = test::single_h100(2);
  CHECK_FALSE(pat());
  machine.communicator.unpacking_network = true;
  CHECK(pat() == E::PatDisabled);
  machine.communicator.unpacking_network = false;
  machine.set("NCCL_PAT_ENABLE", "0");
  CHECK(pat() == E::PatDisabled);
  machine.set("NCCL_PAT_ENABLE", "2");
  machine.constants = test::constants_of("2.22");
  CHECK(pat() == E::PatDisabled);
}

TEST_CASE("exclusions: NVLS") {
  ReferenceMachine machine = h100(1);
  const auto nvls = [&machine] { return excluded(machine, F::AllReduce, A::Nvls, P::Simple); };
  const auto tree = [&machine] { return excluded(machine, F::AllReduce, A::NvlsTree, P::Simple); };
  CHECK_FALSE(nvls());
  CHECK(tree() == E::NvlsTreeOneNode);
  machine.set("NCCL_NVLS_ENABLE", "0");
  CHECK(nvls() == E::NvlsDisabled);
  CHECK(tree() == E::NvlsDisabled);

  machine = h100(2);
  CHECK(nvls() == E::NvlsNeedsCollNet);
  CHECK_FALSE(tree());
  machine.graphs.nvls->channels.resize(2);
  CHECK_FALSE(tree());
  machine.graphs.nvls->channels.resize(1);
  CHECK(tree() == E::NvlsFewChannels);
  machine.constants = test::constants_of("2.27");
  CHECK_FALSE(tree());
  machine.graphs.nvls.reset();
  CHECK(tree() == E::NvlsDisabled);
}

TEST_CASE("exclusions: generations without NVLS efficiency have no bandwidth") {
  ReferenceMachine machine = h100(1);
  machine.communicator.min_sm = 80;
  CHECK(excluded(machine, F::AllReduce, A::Nvls, P::Simple) == E::NoBandwidth);
}

TEST_CASE("exclusions: CollNet") {
  ReferenceMachine machine = h100(2);
  const auto direct = [&machine](F function) {
    return excluded(machine, function, A::CollNetDirect, P::Simple);
  };
  CHECK(direct(F::AllReduce) == E::CollNetDisabled);
  test::add_collnet(machine, 8, {true, false});
  CHECK_FALSE(direct(F::AllReduce));
  CHECK_FALSE(excluded(machine, F::AllReduce, A::CollNetChain, P::Simple));
  CHECK_FALSE(excluded(machine, F::AllReduce, A::Nvls, P::Simple));
  CHECK_FALSE(direct(F::AllGather));
  CHECK(direct(F::ReduceScatter) == E::CollNetNoOperation);
  CHECK(excluded(machine, F::ReduceScatter, A::Nvls, P::Simple) == E::CollNetNoOperation);
  machine.graphs.collnet_direct->channels.resize(7);
  CHECK(direct(F::AllGather) == E::CollNetFewHeads);
  CHECK(excluded(machine, F::AllGather, A::Nvls, P::Simple) == E::CollNetFewHeads);
  CHECK_FALSE(direct(F::AllReduce));

  machine.graphs.collnet_direct->channels.resize(8, {{7}, {}, {}});
  CHECK_FALSE(excluded(machine, F::AllGather, A::Nvls, P::Simple));
  machine.constants = test::constants_of("2.26");
  CHECK(excluded(machine, F::AllGather, A::Nvls, P::Simple) == E::CollNetNoOperation);
  CHECK_FALSE(direct(F::AllGather));
  machine.constants = test::constants_of("2.28");

  machine.communicator.has_nvswitch = false;
  CHECK(direct(F::AllReduce) == E::CollNetNeedsNvSwitch);
  CHECK_FALSE(excluded(machine, F::AllReduce, A::CollNetChain, P::Simple));
  machine.set("NCCL_COLLNET_NODE_THRESHOLD", "3");
  CHECK(direct(F::AllReduce) == E::CollNetDisabled);
  machine.set("NCCL_COLLNET_NODE_THRESHOLD", "2").set("NCCL_COLLNET_ENABLE", "0");
  CHECK(direct(F::AllReduce) == E::CollNetDisabled);
  machine.set("NCCL_COLLNET_ENABLE", "1");
  machine.graphs.collnet_chain.reset();
  CHECK(excluded(machine, F::AllReduce, A::CollNetChain, P::Simple) == E::CollNetDisabled);
}

TEST_CASE("exclusions: LL128 by the way to the NIC") {
  ReferenceMachine machine = h100(2);
  machine.graphs.ring.type_inter = PathType::Pxn;
  CHECK_FALSE(ll128(machine));
  machine.graphs.ring.type_inter = PathType::Phb;
  CHECK(ll128(machine) == E::LL128OverNetwork);
  CHECK_FALSE(ll128(machine, A::Tree));

  machine.graphs.ring.type_inter = PathType::P2c;
  CHECK_FALSE(ll128(machine));
  machine.set("NCCL_LL128_C2C", "0");
  CHECK(ll128(machine) == E::LL128OverNetwork);
  machine.graphs.ring.type_inter = PathType::Pxb;
  CHECK_FALSE(ll128(machine));

  machine = test::a100(2);
  machine.graphs.ring.type_inter = PathType::P2c;
  CHECK(ll128(machine) == E::LL128OverNetwork);
}

TEST_CASE("exclusions: LL128 by the way between GPUs") {
  ReferenceMachine machine = h100(1);
  machine.graphs.ring.type_intra = PathType::Nvb;
  CHECK_FALSE(ll128(machine));
  machine.graphs.ring.type_intra = PathType::C2c;
  CHECK(ll128(machine) == E::LL128InNode);
}

TEST_CASE("exclusions: LL128 by the GPUs") {
  ReferenceMachine machine = h100(1);
  machine.communicator.max_sm = 100;
  CHECK(ll128(machine) == E::LL128MixedGpus);
  machine.constants = test::constants_of("2.30");
  CHECK_FALSE(ll128(machine));
  machine.communicator.min_sm = 80;
  CHECK(ll128(machine) == E::LL128MixedGpus);

  machine = h100(1);
  machine.communicator.min_sm = machine.communicator.max_sm = 70;
  CHECK_FALSE(ll128(machine));
  machine.communicator.min_sm = machine.communicator.max_sm = 69;
  CHECK(ll128(machine) == E::LL128OldGpu);

  machine.communicator.min_sm = machine.communicator.max_sm = 86;
  CHECK_FALSE(ll128(machine));
  machine.constants = test::constants_of("2.20");
  CHECK(ll128(machine) == E::LL128OldGpu);
  for (const auto& [version, sm, allowed] :
       std::vector<std::tuple<std::string, int, bool>>{{"2.24", 90, true},
                                                       {"2.24", 100, false},
                                                       {"2.26", 100, true},
                                                       {"2.26", 120, true},
                                                       {"2.26", 103, false},
                                                       {"2.27", 103, true}}) {
    INFO(version << " sm " << sm);
    machine.constants = test::constants_of(version);
    machine.communicator.min_sm = machine.communicator.max_sm = sm;
    CHECK(ll128(machine).has_value() == !allowed);
  }
  machine.constants = test::constants_of("2.20");
  machine.communicator.min_sm = machine.communicator.max_sm = 80;
  CHECK_FALSE(ll128(machine));
  machine.communicator.max_sm = 86;
  CHECK(ll128(machine) == E::LL128MixedGpus);
}

TEST_CASE("exclusions: LL128 with CUDA 11.8 and two GPUs of sm 90") {
  ReferenceMachine machine = test::few_h100(2, 60);
  machine.communicator.cuda_11_8 = true;
  CHECK(ll128(machine) == E::LL128Cuda118);
  CHECK_FALSE(ll128(machine, A::Tree));
  CHECK_FALSE(excluded(machine, F::AllGather, A::Ring, P::LL128));
  machine = test::few_h100(3, 60);
  machine.communicator.cuda_11_8 = true;
  CHECK_FALSE(ll128(machine));
}

TEST_CASE("exclusions: NCCL_PROTO forces LL128 where it names or keeps it") {
  const auto pcie = [](std::string_view value) {
    ReferenceMachine machine = test::pcie4();
    machine.set("NCCL_PROTO", value);
    return ll128(machine);
  };
  CHECK(ll128(test::pcie4()) == E::LL128InNode);
  CHECK_FALSE(pcie("LL128"));
  CHECK_FALSE(pcie("^LL"));
  CHECK(pcie("LL,Simple") == E::ProtocolRestricted);
  CHECK(pcie("^LL128") == E::ProtocolRestricted);
  CHECK(pcie("broadcast:LL128") == E::LL128InNode);
}

TEST_CASE("exclusions: NCCL_ALGO and NCCL_PROTO leave what they name") {
  ReferenceMachine machine = restricted("NCCL_ALGO", "ring");
  CHECK(excluded(machine, F::AllReduce, A::Tree, P::LL) == E::AlgorithmRestricted);
  CHECK_FALSE(excluded(machine, F::AllReduce, A::Ring, P::LL));
  machine = restricted("NCCL_ALGO", "^ring;allgather:ring");
  CHECK(excluded(machine, F::AllReduce, A::Ring, P::LL) == E::AlgorithmRestricted);
  CHECK_FALSE(excluded(machine, F::AllGather, A::Ring, P::LL));
  machine = restricted("NCCL_PROTO", "allreduce:Simple");
  CHECK(excluded(machine, F::AllReduce, A::Ring, P::LL) == E::ProtocolRestricted);
  CHECK_FALSE(excluded(machine, F::AllGather, A::Ring, P::LL));
  // Naming an algorithm does not bring one about that the machine has not.
  machine = restricted("NCCL_ALGO", "nvlstree");
  CHECK(excluded(machine, F::AllReduce, A::NvlsTree, P::Simple) == E::NvlsTreeOneNode);
}

TEST_CASE("exclusions: lists for functions need 2.24") {
  ReferenceMachine machine = restricted("NCCL_ALGO", "allreduce:tree");
  machine.constants = test::constants_of("2.24");
  CHECK_NOTHROW(static_cast<void>(tuning_table(machine.input())));
  machine.constants = test::constants_of("2.23");
  std::string message = "accepted";
  try {
    static_cast<void>(tuning_table(machine.input()));
  } catch (const InputError& error) {
    message = error.render();
  }
  CHECK(message ==
        "error: NCCL_ALGO: NCCL 2.23 has no lists for single functions\n"
        "hint: they came with NCCL 2.24");
}

TEST_CASE("exclusions: each rule has words of its own") {
  std::vector<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(E::PatAverage); ++i) {
    words.push_back(rule(static_cast<E>(i)));
    CHECK_FALSE(words.back().empty());
    for (std::size_t j = 0; j + 1 < words.size(); ++j) {
      CHECK(words[j] != words.back());
    }
  }
  CHECK(rule(E::PatAverage) == "PAT cannot average");
}

}  // namespace collsim::nccl
