#include "algorithms/collective.hpp"

#include <array>
#include <cmath>
#include <string>

#include "algorithms/program.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

using enum CollectiveKind;

constexpr std::array all_kinds{Broadcast,     Scatter,   Gather,   Reduce,  AllGather,
                               ReduceScatter, AllReduce, AllToAll, SendRecv};

CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, std::int64_t count,
                       InPlace in_place) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = ranks;
  call.count = count;
  call.root = Rank(1);
  call.in_place = in_place;
  return call;
}

bool at(const MemoryPlace& place, MemoryPlace::Memory memory, Bytes offset) {
  return place.memory == memory && place.offset == offset;
}

/// Equal but for the rounding of a few operations.
bool same(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

}  // namespace

TEST_CASE("collectives are accepted in any case and with any separator") {
  for (const CollectiveKind kind : all_kinds) {
    CHECK(parse_collective(name_of(kind)) == kind);
  }
  CHECK(parse_collective("AllReduce") == AllReduce);
  CHECK(parse_collective("all-to-all") == AllToAll);
  CHECK(parse_collective("ALLTOALL") == AllToAll);
  CHECK(parse_collective("sendrecv") == SendRecv);
  CHECK(!parse_collective("allreduces"));
  CHECK(!parse_collective("a_l_l_reduce"));
  CHECK(!parse_collective("all__reduce"));
  CHECK(!parse_collective("_all_reduce"));
  CHECK(!parse_collective("all_reduce-"));
  CHECK(!parse_collective(""));
  CHECK(collective_names().size() == all_kinds.size());
}

TEST_CASE("reductions and data types are known by the names of NCCL and nccl-tests") {
  for (const std::string& name : reduction_names()) {
    CHECK(std::string(name_of(*parse_reduction(name))) == name);
  }
  CHECK(!parse_reduction("mulsum"));
  for (const std::string& name : data_type_names()) {
    CHECK(std::string(name_of(*parse_data_type(name))) == name);
  }
  CHECK(data_type_names().size() == 12);
  CHECK(parse_data_type("float32") == DataType::Float32);
  CHECK(parse_data_type("FP16") == DataType::Half);
  CHECK(parse_data_type("bf16") == DataType::Bfloat16);
  CHECK(parse_data_type("fp8_e4m3") == std::nullopt);
  CHECK(parse_data_type("float8_e4m3") == DataType::Fp8E4m3);
  CHECK(size_of(DataType::Uint8) == 1_B);
  CHECK(size_of(DataType::Bfloat16) == 2_B);
  CHECK(size_of(DataType::Float32) == 4_B);
  CHECK(size_of(DataType::Float64) == 8_B);
}

TEST_CASE("a requested size is rounded down as nccl-tests rounds it") {
  // One buffer: whole elements. 30 B are 7 floats.
  for (const CollectiveKind kind : {AllReduce, Broadcast, Reduce, SendRecv}) {
    const CollectiveCall call = call_for_size(kind, 4, 30_B, DataType::Float32);
    CHECK(call.count == 7);
    CHECK(call.size() == 28_B);
  }
  // Blocks: 1000 B of floats over 3 ranks are 250 / 3 = 83 elements each, in units of 16 B 80.
  for (const CollectiveKind kind : {AllGather, ReduceScatter, AllToAll, Gather, Scatter}) {
    const CollectiveCall call = call_for_size(kind, 3, 1000_B, DataType::Float32);
    CHECK(call.count == 80);
    CHECK(call.block() == 320_B);
    CHECK(call.size() == 960_B);
    // Less than 16 B a rank is nothing.
    CHECK(call_for_size(kind, 3, 47_B, DataType::Float32).count == 0);
    CHECK(call_for_size(kind, 3, 48_B, DataType::Float32).count == 4);
    // Units of 16 B are 2 doubles and 16 bytes.
    CHECK(call_for_size(kind, 2, 127_B, DataType::Float64).count == 6);
    CHECK(call_for_size(kind, 2, 127_B, DataType::Int8).count == 48);
  }
}

TEST_CASE("a call for a size is in place where the collective allows it") {
  for (const CollectiveKind kind : all_kinds) {
    const bool in_place = call_for_size(kind, 2, 64_B, DataType::Half).in_place == InPlace::Yes;
    CHECK(in_place == (kind != AllToAll && kind != SendRecv));
  }
}

TEST_CASE("no ranks and negative sizes are errors") {
  CHECK_THROWS_AS(call_for_size(AllReduce, 0, 1_B, DataType::Int8), InputError);
  CHECK_THROWS_AS(call_for_size(AllReduce, 2, Bytes(-1), DataType::Int8), InputError);
}

TEST_CASE("each rank has the buffers its part in the collective needs") {
  // 4 ranks, blocks of 12 B, root 1.
  const auto input = [](CollectiveKind kind, std::uint32_t rank) {
    return call_of(kind, 4, 3, InPlace::No).input_bytes(Rank(rank));
  };
  const auto output = [](CollectiveKind kind, std::uint32_t rank) {
    return call_of(kind, 4, 3, InPlace::No).output_bytes(Rank(rank));
  };
  CHECK(input(Broadcast, 1) == 12_B);
  CHECK(input(Broadcast, 0) == 0_B);
  CHECK(output(Broadcast, 0) == 12_B);
  CHECK(input(Scatter, 1) == 48_B);
  CHECK(input(Scatter, 2) == 0_B);
  CHECK(output(Scatter, 2) == 12_B);
  CHECK(input(Gather, 2) == 12_B);
  CHECK(output(Gather, 1) == 48_B);
  CHECK(output(Gather, 2) == 0_B);
  CHECK(input(Reduce, 3) == 12_B);
  CHECK(output(Reduce, 1) == 12_B);
  CHECK(output(Reduce, 3) == 0_B);
  CHECK(input(AllGather, 0) == 12_B);
  CHECK(output(AllGather, 0) == 48_B);
  CHECK(input(ReduceScatter, 0) == 48_B);
  CHECK(output(ReduceScatter, 0) == 12_B);
  CHECK(input(AllToAll, 3) == 48_B);
  CHECK(output(AllToAll, 3) == 48_B);
  CHECK(input(AllReduce, 3) == 12_B);
  CHECK(output(SendRecv, 3) == 12_B);
}

TEST_CASE("in place, one buffer is a part of the other, as in nccl-tests") {
  using Memory = MemoryPlace::Memory;
  const auto place = [](CollectiveKind kind, std::uint32_t rank, Buffer buffer) {
    return place_of(call_of(kind, 4, 3, InPlace::Yes), Rank(rank), buffer);
  };
  CHECK(at(place(AllGather, 2, Buffer::Input), Memory::Output, 24_B));
  CHECK(at(place(AllGather, 2, Buffer::Output), Memory::Output, 0_B));
  CHECK(at(place(ReduceScatter, 2, Buffer::Input), Memory::Input, 0_B));
  CHECK(at(place(ReduceScatter, 2, Buffer::Output), Memory::Input, 24_B));
  CHECK(at(place(AllReduce, 2, Buffer::Input), Memory::Output, 0_B));
  CHECK(at(place(AllReduce, 2, Buffer::Output), Memory::Output, 0_B));
  // Only the root has both buffers.
  CHECK(at(place(Gather, 1, Buffer::Input), Memory::Output, 12_B));
  CHECK(at(place(Gather, 2, Buffer::Input), Memory::Input, 0_B));
  CHECK(at(place(Scatter, 1, Buffer::Output), Memory::Input, 12_B));
  CHECK(at(place(Scatter, 2, Buffer::Output), Memory::Output, 0_B));
  CHECK(at(place(Broadcast, 1, Buffer::Input), Memory::Output, 0_B));
  CHECK(at(place(Reduce, 1, Buffer::Input), Memory::Output, 0_B));
  CHECK(at(place(Reduce, 2, Buffer::Input), Memory::Input, 0_B));
  CHECK(at(place(AllReduce, 2, Buffer::Scratch), Memory::Scratch, 0_B));
}

TEST_CASE("out of place, every buffer is a memory of its own") {
  using Memory = MemoryPlace::Memory;
  for (const CollectiveKind kind : all_kinds) {
    const CollectiveCall call = call_of(kind, 4, 3, InPlace::No);
    CHECK(at(place_of(call, Rank(2), Buffer::Input), Memory::Input, 0_B));
    CHECK(at(place_of(call, Rank(2), Buffer::Output), Memory::Output, 0_B));
  }
}

TEST_CASE("busbw is algbw times the factor of the collective") {
  // 8 GB in 1 s are 8 GB/s; 4 ranks.
  const Bytes size(8'000'000'000);
  const Duration second(1'000'000'000'000);
  const auto busbw = [&](CollectiveKind kind) { return bus_bandwidth_GBps(kind, 4, size, second); };
  CHECK(same(algorithm_bandwidth_GBps(size, second), 8.0));
  CHECK(same(busbw(AllReduce), 8.0 * 2 * 3 / 4));
  for (const CollectiveKind kind : {AllGather, ReduceScatter, AllToAll, Gather, Scatter}) {
    CHECK(same(busbw(kind), 8.0 * 3 / 4));
  }
  for (const CollectiveKind kind : {Broadcast, Reduce, SendRecv}) {
    CHECK(same(busbw(kind), 8.0));
  }
  CHECK(bus_bandwidth_GBps(AllReduce, 1, size, second) == 0);
  CHECK(algorithm_bandwidth_GBps(size, 0_ps) == 0);
}
