// Kernels on symmetric memory and copy engines: which NCCL takes, right data for every number of ranks and
// blocks, and the bytes that cross the wire.

#include "algorithms/nccl/symmetric_program.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "algorithms/nccl/copy_engine_program.hpp"
#include "tests/algorithms/nccl/small_execution.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"
#include "tests/sample.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::nccl;
using namespace collsim::test;

namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = kib * 1024;
constexpr std::int64_t gib = mib * 1024;

Communicator hgx(std::uint32_t ranks, int sm = 90) {
  Communicator communicator;
  communicator.ranks = communicator.max_ranks_per_node = static_cast<int>(ranks);
  communicator.min_sm = communicator.max_sm = sm;
  communicator.supports_nvls = true;
  communicator.all_nvlink = true;
  return communicator;
}

CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, std::int64_t count,
                       InPlace in_place = InPlace::Yes) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = ranks;
  call.count = count;
  call.in_place = in_place;
  return call;
}

/// Of floats: `bytes` of the whole all-reduce, or of a rank's block.
SymmetricChoice chosen(CollectiveKind kind, std::int64_t bytes, std::uint32_t ranks = 8,
                       int sm = 90, const Configuration& configuration = {}) {
  return choose_symmetric(hgx(ranks, sm), configuration, call_of(kind, ranks, bytes / 4));
}

std::string refusal(const Communicator& communicator, const CollectiveCall& call,
                    const Configuration& configuration = {}) {
  try {
    static_cast<void>(choose_symmetric(communicator, configuration, call));
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("Symmetric kernels give every rank its data, in place or not") {
  Sample sample(3);
  for (const SymmetricKernelSort& sort : symmetric_kernels()) {
    for (const std::uint32_t ranks : rank_counts()) {
      // One element; less than a cell a block; odd; several cells for each block and rank.
      for (const std::int64_t count : {1, 300, 1027, 17 * 256 * 9 + 5}) {
        for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
          if (!sample.takes_next()) {
            continue;
          }
          const CollectiveCall call = call_of(sort.collective, ranks, count, in_place);
          const auto program =
              build_symmetric_program(call, {sort.kernel, 3, 0}, EqualBlocks::Apart);
          CHECK(fault_of(*program) == "");
        }
      }
    }
  }
}

TEST_CASE("Symmetric kernels: equal blocks run once, with a weight, and are all of them") {
  for (const SymmetricKernelSort& sort : symmetric_kernels()) {
    const CollectiveCall call = call_of(sort.collective, 8, 8 * 64 * 256 * 3 + 256 * 5 + 1);
    const auto joined = build_symmetric_program(call, {sort.kernel, 16, 0}, EqualBlocks::Joined);
    std::uint32_t blocks = 0;
    for (std::uint32_t lane = 0; lane < joined->lane_count(Rank(0)); ++lane) {
      blocks += joined->lane(Rank(0), lane).multiplicity;
    }
    CHECK(blocks == 16);
    CHECK(joined->lane_count(Rank(0)) < 16);
  }
}

// What others read of a rank, and what it stores to them: of an all-reduce S (n-1)/n twice.
TEST_CASE("Symmetric kernels without the switch send what rings send") {
  constexpr std::int64_t ranks = 8;
  const auto sent = [](SymmetricKernel kernel, CollectiveKind kind, std::int64_t count) {
    return bytes_sent(
        *build_symmetric_program(call_of(kind, ranks, count), {kernel, 4, 0}, EqualBlocks::Apart));
  };
  const std::int64_t count = ranks * 256 * 4 * 3;  // three cells a block and rank
  const Bytes all(count * 4);
  for (const Bytes bytes : sent(SymmetricKernel::AllReduceLDST, CollectiveKind::AllReduce, count)) {
    CHECK(bytes == 2 * (ranks - 1) * all / ranks);
  }
  for (const Bytes bytes : sent(SymmetricKernel::AllGatherST, CollectiveKind::AllGather, count)) {
    CHECK(bytes == (ranks - 1) * all);
  }
  for (const Bytes bytes :
       sent(SymmetricKernel::ReduceScatterLD, CollectiveKind::ReduceScatter, count)) {
    CHECK(bytes == (ranks - 1) * all);
  }
  // Everything to everybody.
  for (const Bytes bytes : sent(SymmetricKernel::AllReduceLL, CollectiveKind::AllReduce, count)) {
    CHECK(bytes == (ranks - 1) * all);
  }
}

TEST_CASE("Symmetric all-reduce through the switch moves S + S/n each way") {
  const std::int64_t count = 8 * 256 * 4 * 3;
  const auto traffic = multimem_traffic(
      *build_symmetric_program(call_of(CollectiveKind::AllReduce, 8, count),
                               {SymmetricKernel::AllReduceLDMC, 4, 0}, EqualBlocks::Apart));
  for (std::size_t rank = 0; rank < 8; ++rank) {
    CHECK(traffic.up[rank] == Bytes(count * 4 + count * 4 / 8));
    CHECK(traffic.down[rank] == Bytes(count * 4 + count * 4 / 8));
  }
}

// By NCCL's formulas, 8 ranks of sm 90. AllReduce of 4 KiB in LL: 8 * 4 KiB * 9 = 294912 bytes at
// 65 GiB/s = 69793 bytes/us a block; softplus(294912 / 69793 - 1) = 3.26 us on one.
TEST_CASE("Symmetric kernels: small calls run in LL, large ones through the switch") {
  CHECK(sort_of(chosen(CollectiveKind::AllReduce, 4 * kib).kernel).ll);
  CHECK(chosen(CollectiveKind::AllReduce, gib).kernel == SymmetricKernel::AllReduceLDMC);
  // ceil(16 / 8): more blocks cannot use the switch better.
  CHECK(chosen(CollectiveKind::AllReduce, gib).blocks <= 2);
  CHECK(chosen(CollectiveKind::AllReduce, gib, 8, 100).blocks <= 4);
  CHECK(chosen(CollectiveKind::AllGather, 64 * mib).kernel == SymmetricKernel::AllGatherSTMC);
  CHECK(sort_of(chosen(CollectiveKind::ReduceScatter, 1024).kernel).ll);
  // The switch is of no use to two.
  CHECK(chosen(CollectiveKind::AllReduce, gib, 2).kernel == SymmetricKernel::AllReduceLDST);
}

// One byte a rank: softplus(-1) = ln(1 + 1/e) = 0.3133 us over the base.
TEST_CASE("Symmetric kernels: NCCL's estimate is its formula") {
  Configuration one;
  one.symmetric_ctas = 1;
  one.symmetric_kernel = "AllGather_LL";
  CHECK(chosen(CollectiveKind::AllGather, 4, 8, 90, one).estimate_us ==
        Approx(4.5 + 0.3133).margin(0.003));
  CHECK(chosen(CollectiveKind::AllGather, 4, 8, 100, one).estimate_us ==
        Approx(8.5 + 0.3133).margin(0.003));
  // 1 GiB on 64 blocks, 7 GiB over the bus at 320 GiB a second: 21.875 ms, less 1 us, more 7.8.
  Configuration all;
  all.symmetric_ctas = 64;
  all.symmetric_kernel = "AllGather_ST";
  CHECK(chosen(CollectiveKind::AllGather, gib, 8, 90, all).estimate_us ==
        Approx(21875 + 6.8).epsilon(1e-6));
}

TEST_CASE("Symmetric kernels: NCCL_SYM_KERNEL and NCCL_SYM_CTAS choose") {
  Configuration configuration;
  configuration.symmetric_kernel = "AllReduce_RSxLD_AGxST";
  configuration.symmetric_ctas = 12;
  const SymmetricChoice choice = chosen(CollectiveKind::AllReduce, 4 * kib, 8, 90, configuration);
  CHECK(choice.kernel == SymmetricKernel::AllReduceLDST);
  CHECK(choice.blocks == 12);
  configuration.symmetric_kernel = "AllGather_LLMC";
  CHECK(refusal(hgx(2), call_of(CollectiveKind::AllGather, 2, 8), configuration) ==
        "NCCL_SYM_KERNEL=AllGather_LLMC cannot run this call");
}

TEST_CASE("Symmetric kernels: what they are not for is said") {
  const CollectiveCall sum = call_of(CollectiveKind::AllReduce, 8, 1024);
  CHECK(refusal(hgx(8), call_of(CollectiveKind::Broadcast, 8, 1024)) ==
        "NCCL has symmetric kernels for all_reduce, all_gather and reduce_scatter, not for "
        "broadcast");
  Communicator two = hgx(8);
  two.nodes = 2;
  CHECK(refusal(two, sum) ==
        "symmetric kernels run where NVLink joins all ranks, not over 2 nodes");
  Communicator pcie = hgx(8);
  pcie.all_nvlink = false;
  CHECK(refusal(pcie, sum) ==
        "symmetric kernels run where NVLink joins every two GPUs, and here it does not");
  CollectiveCall most = sum;
  most.op = ReductionOp::Max;
  CHECK(refusal(hgx(8), most) == "symmetric kernels reduce with sum and avg, not with max");
  CollectiveCall wide = sum;
  wide.type = DataType::Float64;
  CHECK(refusal(hgx(8), wide) == "symmetric kernels reduce floats of at most 32 bits, not double");
  wide.kind = CollectiveKind::AllGather;
  CHECK(refusal(hgx(8), wide) == "");
}

TEST_CASE("Copy engines give every rank its data, in place or not") {
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::AllToAll,
                                    CollectiveKind::Gather, CollectiveKind::Scatter}) {
    for (const std::uint32_t ranks : rank_counts()) {
      for (const InPlace in_place : {InPlace::Yes, InPlace::No}) {
        if (in_place == InPlace::Yes && !allows_in_place(kind)) {
          continue;
        }
        CollectiveCall call = call_of(kind, ranks, 1001, in_place);
        call.root = Rank(has_root(kind) ? ranks / 2 : 0);
        CHECK(fault_of(*build_copy_engine_program(call)) == "");
      }
    }
  }
}

// 8 copies of 64 MiB are 512 MiB: a barrier after each eight but the last. 64 ranks make 63 copies: 7 more.
TEST_CASE("Copy engines: many large copies have barriers between them") {
  const auto messages = [](std::uint32_t ranks, std::int64_t bytes) {
    return build_copy_engine_program(call_of(CollectiveKind::AllGather, ranks, bytes / 4))
        ->transfer_count();
  };
  CHECK(messages(8, 64 * mib) == 8 * 7 * (1 + 2));
  CHECK(messages(64, 8 * mib) == 64 * 63 * (1 + 2));
  CHECK(messages(64, 9 * mib) == 64 * 63 * (1 + 2 + 7));
  CHECK(fault_of(*build_copy_engine_program(
            call_of(CollectiveKind::AllGather, 17, 32 * mib / 4 + 1))) == "");
}

TEST_CASE("Copy engines: what they are not for is said") {
  CHECK(copy_engine_exclusion(hgx(8), call_of(CollectiveKind::AllReduce, 8, 4)) ==
        "copy engines do all_gather, all_to_all, gather and scatter, not all_reduce");
  CHECK(copy_engine_exclusion(hgx(8), call_of(CollectiveKind::AllToAll, 8, 4)) == "");
}
