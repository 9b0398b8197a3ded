#include "algorithms/nccl/choice.hpp"

#include <string>
#include <vector>

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

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = kib * 1024;
constexpr std::uint64_t gib = mib * 1024;

Contender contender(const ReferenceMachine& machine, const Call& call, A algorithm, P protocol) {
  for (const Contender& each : contenders(machine.input(), tune(machine.input()), call)) {
    if (each.algorithm == algorithm && each.protocol == protocol) {
      return each;
    }
  }
  return {};
}

float time_of(const ReferenceMachine& machine, std::uint64_t bytes, A algorithm, P protocol) {
  return contender(machine, {.bytes = bytes}, algorithm, protocol).time;
}

/// The factor that the size puts on the bandwidth of the table.
float correction(const ReferenceMachine& machine, std::uint64_t bytes, A algorithm, P protocol) {
  return contender(machine, {.bytes = bytes}, algorithm, protocol).bandwidth /
         machine.entry(F::AllReduce, algorithm, protocol).bandwidth;
}

Call call(F function) {
  Call result;
  result.function = function;
  return result;
}

/// The message of a choice that cannot be made.
std::string refusal(const ReferenceMachine& machine, F function) {
  try {
    static_cast<void>(choose(machine.input(), tune(machine.input()), call(function)));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

}  // namespace

// us of NCCL 2.28.9 itself for an AllReduce on one node of 8 H100.
TEST_CASE("choice: times by size") {
  const ReferenceMachine machine = h100(1);
  struct Row {
    A algorithm;
    P protocol;
    std::vector<float> times;
  };
  const std::vector<std::uint64_t> sizes{8 * kib, 64 * kib, mib, 16 * mib, 256 * mib, gib};
  const std::vector<Row> rows{{A::Ring, P::LL, {15.1F, 15.8F, 28.0F, 223, 3347, 13342}},
                              {A::Ring, P::LL128, {40.6F, 40.9F, 46.1F, 129.2F, 1459, 5714}},
                              {A::Ring, P::Simple, {56.0F, 56.3F, 61.1F, 137.6F, 1361, 5276}},
                              {A::Nvls, P::Simple, {25.0F, 25.2F, 28.9F, 86.7F, 1012, 3973}},
                              {A::Tree, P::LL128, {31.6F, 32.3F, 45.1F, 176, 2116, 8368}}};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      INFO(name(row.algorithm) << " " << name(row.protocol) << " " << sizes[i]);
      // The figures have one decimal up to 150 us, none above.
      const float half = row.times[i] < 150 ? 0.05F : 0.5F;
      CHECK(time_of(machine, sizes[i], row.algorithm, row.protocol) ==
            Approx(row.times[i]).margin(static_cast<double>(half) * 1.01));
    }
  }
}

// Crossovers of NCCL 2.28.9 itself.
TEST_CASE("choice: where it changes") {
  CHECK(h100(1).choices_of(call(F::AllReduce)) == "1024 Ring LL, 2097152 NVLS Simple");
  CHECK(h100(1).choices_of(call(F::AllGather)) ==
        "1024 Ring LL, 8388608 Ring LL128, 33554432 Ring Simple");
  CHECK(h100(4).choices_of(call(F::AllReduce)) ==
        "1024 Tree LL, 262144 Tree LL128, 8388608 NVLSTree Simple, 1073741824 Ring Simple");
  CHECK(test::few_h100(4, 60).choices_of(call(F::AllReduce)) ==
        "1024 Ring LL, 4194304 Ring LL128, 16777216 Ring Simple");
  CHECK(test::a100(2).choices_of(call(F::AllReduce)) ==
        "1024 Tree LL, 262144 Tree LL128, 16777216 Ring LL128, 134217728 Ring Simple");
  CHECK(test::single_h100(8).choices_of(call(F::AllGather)) ==
        "1024 Ring LL, 65536 PAT Simple, 4194304 Ring LL128, 33554432 Ring Simple");
  CHECK(test::nvlink_domain(72).choices_of(call(F::AllReduce)) == "1024 NVLS Simple");
  CHECK(test::nvlink_domain(72).choices_of(call(F::AllGather)) ==
        "1024 Ring LL, 67108864 Ring LL128, 1073741824 Ring Simple");
}

TEST_CASE("choice: of equal times the first in NCCL's order wins") {
  const ReferenceMachine machine = h100(1);
  Tuning tuning = tune(machine.input());
  for (const A algorithm : algorithms) {
    for (const P protocol : protocols) {
      tuning.table[F::AllGather][algorithm][protocol] = {10, 1, std::nullopt};
    }
  }
  const auto chosen = [&] { return choose(machine.input(), tuning, call(F::AllGather)); };
  CHECK(chosen().algorithm == A::Tree);
  CHECK(chosen().protocol == P::LL);
  tuning.table[F::AllGather][A::Tree][P::LL].latency = 11;
  CHECK(chosen().protocol == P::LL128);
  tuning.table[F::AllGather][A::Pat][P::Simple].latency = 9;
  CHECK(chosen().algorithm == A::Pat);
}

// 16 channels and 32 ranks: 64 B of each channel and rank are 32 KiB.
TEST_CASE("choice: Ring with Simple over several nodes has a plateau") {
  ReferenceMachine machine = h100(4);
  const auto latency = [&machine](std::uint64_t bytes, F function = F::AllReduce) {
    return contender(machine, {.function = function, .bytes = bytes}, A::Ring, P::Simple).latency;
  };
  CHECK(latency(32 * kib - 1) == Approx(282.8F));
  CHECK(latency(32 * kib) == Approx(282.8F * 1.4F));
  CHECK(latency(32 * kib, F::AllGather) == Approx(145.6F));
  machine.communicator.min_sm = 79;
  CHECK(latency(32 * kib) == Approx(282.8F * 1.9F));
  CHECK(contender(machine, {.bytes = mib}, A::Ring, P::LL).latency == Approx(78.8F));
  machine = h100(1);
  CHECK(latency(gib) == Approx(56.0F));
}

TEST_CASE("choice: Tree's bandwidth is corrected by size") {
  const ReferenceMachine machine = h100(1);
  CHECK(correction(machine, 63, A::Tree, P::Simple) == 1.0F);
  CHECK(correction(machine, 64, A::Tree, P::Simple) == Approx(0.9F));
  CHECK(correction(machine, 64 * kib - 1, A::Tree, P::LL) == Approx(0.7F));  // 2^9 lines
  CHECK(correction(machine, 64 * kib, A::Tree, P::LL) == Approx(0.6F));      // 2^10
  CHECK(correction(machine, 512 * kib, A::Tree, P::LL) == Approx(0.4F));     // 2^13
  CHECK(correction(machine, 4 * mib, A::Tree, P::LL128) == Approx(0.8F));    // 2^16
  CHECK(correction(machine, 512 * mib - 1, A::Tree, P::Simple) == Approx(0.9F));
  CHECK(correction(machine, 512 * mib, A::Tree, P::Simple) == 1.0F);
  CHECK(correction(machine, mib, A::Ring, P::Simple) == 1.0F);
  CHECK(correction(machine, mib, A::Nvls, P::Simple) == 1.0F);
}

TEST_CASE("choice: from 2.29 on NVLSTree is corrected, too, on sm 100 and x86") {
  ReferenceMachine machine = h100(2);
  machine.communicator.min_sm = machine.communicator.max_sm = 100;
  const auto factor = [&machine](std::uint64_t bytes) {
    return correction(machine, bytes, A::NvlsTree, P::Simple);
  };
  CHECK(factor(mib) == 1.0F);
  machine.constants = test::constants_of("2.29.7");
  CHECK(factor(mib) == Approx(0.5F));      // 2^14
  CHECK(factor(gib - 1) == Approx(0.9F));  // 2^23, the entry that was added
  CHECK(factor(gib) == 1.0F);
  CHECK(correction(machine, gib - 1, A::Tree, P::Simple) == 1.0F);
  machine.communicator.cpu_architecture = HostArchitecture::Arm;
  CHECK(factor(mib) == 1.0F);
  machine.communicator.cpu_architecture = HostArchitecture::X86;
  machine.communicator.min_sm = 90;
  CHECK(factor(mib) == 1.0F);
}

TEST_CASE("choice: operations in a pipeline multiply latencies, Ring's by each, others' by tens") {
  const ReferenceMachine machine = h100(1);
  const auto latency = [&machine](A algorithm, P protocol, int pipelined) {
    return contender(machine, {.bytes = kib, .pipelined = pipelined}, algorithm, protocol).latency;
  };
  CHECK(latency(A::Ring, P::LL, 3) == Approx(45.0F));
  CHECK(latency(A::Tree, P::LL, 10) == Approx(15.2F));
  CHECK(latency(A::Tree, P::LL, 11) == Approx(30.4F));
  CHECK(latency(A::Nvls, P::Simple, 20) == Approx(50.0F));
  CHECK(latency(A::Nvls, P::Simple, 21) == Approx(75.0F));
}

TEST_CASE("choice: NVLS reduces the types and operations of the switch") {
  const ReferenceMachine machine = h100(1);
  const auto rule_of = [&machine](F function, DataType type, ReductionOp op) {
    return contender(machine, {.function = function, .bytes = mib, .type = type, .op = op}, A::Nvls,
                     P::Simple)
        .excluded;
  };
  for (const DataType type : {DataType::Int32, DataType::Uint32, DataType::Int64, DataType::Uint64,
                              DataType::Half, DataType::Bfloat16}) {
    for (const ReductionOp op : {ReductionOp::Sum, ReductionOp::Min, ReductionOp::Max}) {
      CHECK_FALSE(rule_of(F::AllReduce, type, op));
    }
    CHECK(rule_of(F::AllReduce, type, ReductionOp::Prod) == E::NvlsType);
    CHECK(rule_of(F::AllReduce, type, ReductionOp::Avg) == E::NvlsType);
  }
  for (const DataType type : {DataType::Float32, DataType::Float64}) {
    CHECK_FALSE(rule_of(F::AllReduce, type, ReductionOp::Sum));
    CHECK(rule_of(F::ReduceScatter, type, ReductionOp::Max) == E::NvlsType);
  }
  for (const DataType type :
       {DataType::Int8, DataType::Uint8, DataType::Fp8E4m3, DataType::Fp8E5m2}) {
    CHECK(rule_of(F::AllReduce, type, ReductionOp::Sum) == E::NvlsType);
    CHECK_FALSE(rule_of(F::AllGather, type, ReductionOp::Sum));
  }
}

TEST_CASE("choice: NVLS gathers and scatters among as many local ranks as it may have heads") {
  ReferenceMachine machine = test::nvlink_domain(16);
  const auto rule_of = [&machine](F function) {
    return contender(machine, {.function = function, .bytes = mib}, A::Nvls, P::Simple).excluded;
  };
  machine.communicator.max_ranks_per_node = 32;
  CHECK_FALSE(rule_of(F::AllGather));
  machine.communicator.max_ranks_per_node = 33;
  CHECK(rule_of(F::AllGather) == E::NvlsManyRanks);
  CHECK(rule_of(F::ReduceScatter) == E::NvlsManyRanks);
  CHECK_FALSE(rule_of(F::AllReduce));
}

TEST_CASE("choice: CollNet serves up to 8 ranks of a node") {
  ReferenceMachine machine = h100(2);
  test::add_collnet(machine, 8, {true, true});
  const auto rule_of = [&machine](A algorithm) {
    return contender(machine, {.bytes = mib}, algorithm, P::Simple).excluded;
  };
  CHECK_FALSE(rule_of(A::CollNetChain));
  machine.communicator.max_ranks_per_node = 9;
  CHECK(rule_of(A::CollNetChain) == E::CollNetManyRanks);
  CHECK(rule_of(A::CollNetDirect) == E::CollNetManyRanks);
}

TEST_CASE("choice: PAT does not average") {
  const ReferenceMachine machine = test::single_h100(4);
  const auto rule_of = [&machine](F function, ReductionOp op) {
    return contender(machine, {.function = function, .bytes = mib, .op = op}, A::Pat, P::Simple)
        .excluded;
  };
  CHECK(rule_of(F::ReduceScatter, ReductionOp::Avg) == E::PatAverage);
  CHECK_FALSE(rule_of(F::ReduceScatter, ReductionOp::Sum));
  CHECK_FALSE(rule_of(F::AllGather, ReductionOp::Avg));
}

TEST_CASE("choice: Ring is the last one for fp8 among more than 8 ranks") {
  const auto penalty = [](const ReferenceMachine& machine, F function, DataType type) {
    const Call of_type{.function = function, .bytes = mib, .type = type};
    const Call plain{.function = function, .bytes = mib};
    return contender(machine, of_type, A::Ring, P::LL).time /
           contender(machine, plain, A::Ring, P::LL).time;
  };
  CHECK(penalty(h100(2), F::AllReduce, DataType::Fp8E4m3) == Approx(1024.0F));
  CHECK(penalty(h100(2), F::ReduceScatter, DataType::Fp8E5m2) == Approx(1024.0F));
  CHECK(penalty(h100(2), F::AllGather, DataType::Fp8E4m3) == 1.0F);
  CHECK(penalty(h100(2), F::Broadcast, DataType::Fp8E4m3) == 1.0F);
  CHECK(penalty(h100(1), F::AllReduce, DataType::Fp8E4m3) == 1.0F);
}

TEST_CASE("choice: one rank copies") {
  ReferenceMachine machine = h100(1);
  machine.communicator.ranks = 1;
  const Contender chosen = choose(machine.input(), tune(machine.input()), {.bytes = gib});
  CHECK(chosen.algorithm == A::Ring);
  CHECK(chosen.protocol == P::Simple);
  CHECK(chosen.time == 0);
}

TEST_CASE("choice: a restriction that leaves nothing is an error from 2.24 on") {
  ReferenceMachine machine = h100(1);
  machine.set("NCCL_ALGO", "tree");
  CHECK(refusal(machine, F::AllGather) ==
        "error: NCCL_ALGO: no algorithm and protocol is left for AllGather with type float\n"
        "hint: NCCL 2.28 ends with an error here");
  CHECK(refusal(machine, F::AllReduce) == "accepted");
  machine = test::pcie4();
  machine.set("NCCL_PROTO", "allgather:^LL,LL128,Simple");
  CHECK(refusal(machine, F::AllGather) ==
        "error: NCCL_PROTO: no algorithm and protocol is left for AllGather with type float\n"
        "hint: NCCL 2.28 ends with an error here");
  machine = h100(1);
  machine.constants = test::constants_of("2.23");
  machine.set("NCCL_ALGO", "tree");
  CHECK(machine.choices_of(call(F::AllGather)) ==
        "1024 Ring LL, 8388608 Ring LL128, 33554432 Ring Simple");
}

}  // namespace collsim::nccl
