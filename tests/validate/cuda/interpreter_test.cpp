// The GPU's interpreter, compiled for the host: every algorithm, all wires, every element of every output.

#include <array>
#include <string>
#include <vector>

#include "algorithms/table.hpp"
#include "tests/catch.hpp"
#include "tests/validate/cuda/lane_checks.hpp"
#include "validate/execution/every_call.hpp"

using namespace collsim;
using namespace collsim::test;

namespace {

constexpr std::array wires{LaneWire::Simple, LaneWire::Lines, LaneWire::WideLines};

ProgramRequest request_for(CollectiveKind kind, std::uint32_t ranks, std::int64_t count) {
  ProgramRequest request;
  request.call.kind = kind;
  request.call.ranks = ranks;
  request.call.count = count;
  request.call.type = DataType::Int32;
  request.call.root = Rank(ranks / 2);
  return request;
}

std::vector<InPlace> places(CollectiveKind kind) {
  if (allows_in_place(kind)) {
    return {InPlace::No, InPlace::Yes};
  }
  return {InPlace::No};
}

/// Runs every algorithm of the request's collective, in and out of place, over all wires.
int run_all(ProgramRequest request, LaneThreadsOptions options = {}) {
  int programs = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const InPlace place : places(request.call.kind)) {
      request.call.in_place = place;
      if (!implements(algorithm, request.call.kind) || algorithm.obstacle(request)) {
        continue;
      }
      const auto program = build_program(algorithm, request);
      for (const LaneWire wire : wires) {
        options.wire = wire;
        CAPTURE(algorithm.name, name_of(request.call.kind), request.call.ranks, place, wire,
                name_of(request.call.type), name_of(request.call.op));
        CHECK(wrong_after_lanes(*program, options) == "");
        ++programs;
      }
    }
  }
  return programs;
}

std::unique_ptr<Program> ring_all_reduce(std::uint32_t ranks, std::int64_t count) {
  ProgramRequest request = request_for(CollectiveKind::AllReduce, ranks, count);
  request.call.in_place = InPlace::No;
  return build_program(find_algorithm("ring"), request);
}

}  // namespace

TEST_CASE("the GPU's interpreter runs every algorithm rightly") {
  // Rank counts: one, powers of two, odd ones. 103 elements divide by none of them.
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
    for (const CollectiveKind kind : all_kinds) {
      CHECK(run_all(request_for(kind, ranks, 103)) > 0);
    }
  }
}

TEST_CASE("the GPU's interpreter with several threads a block, channels, chunks and nodes") {
  LaneThreadsOptions options;
  options.threads = 3;
  for (const CollectiveKind kind : all_kinds) {
    ProgramRequest request = request_for(kind, 6, 200);
    request.channels = 2;
    request.chunks = 2;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      request.node_of_rank.emplace_back(rank < 4 ? 0 : 1);
    }
    CHECK(run_all(request, options) > 0);
  }
}

TEST_CASE("the GPU's interpreter knows every data type and reduction") {
  for (const DataType type : all_types) {
    for (const ReductionOp op : all_ops) {
      ProgramRequest request = request_for(CollectiveKind::AllReduce, 3, 67);
      request.call.type = type;
      request.call.op = op;
      for (const LaneWire wire : wires) {
        LaneThreadsOptions options;
        options.wire = wire;
        CAPTURE(name_of(type), name_of(op), wire);
        CHECK(wrong_after_lanes(*build_program(find_algorithm("ring"), request), options) == "");
      }
    }
  }
}

TEST_CASE("bytes that are aligned to nothing larger than themselves") {
  // 8-bit elements in blocks of 13: neither packs nor lines begin where memory would like them to.
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    ProgramRequest request = request_for(kind, 5, 13);
    request.call.type = DataType::Uint8;
    CHECK(run_all(request) > 0);
  }
}

TEST_CASE("packs in groups, single packs and elements all meet") {
  // Blocks of 2 threads move 4 packs of 16 bytes each at once: a rank's part of 1003 / 2 int32 is 15 groups of 8 packs, some
  // packs and some elements.
  LaneThreadsOptions options;
  options.threads = 2;
  options.wire = LaneWire::Simple;
  CHECK(wrong_after_lanes(*ring_all_reduce(2, 1003), options) == "");
}

TEST_CASE("calls back to back on GPUs that are a call apart") {
  for (const LaneWire wire : wires) {
    LaneThreadsOptions options;
    options.wire = wire;
    options.devices = 4;
    CAPTURE(wire);
    CHECK(wrong_after_lanes(*ring_all_reduce(4, 250), options, 20) == "");
  }
}

TEST_CASE("averages are divided once a call, by all blocks of a rank together") {
  ProgramRequest request = request_for(CollectiveKind::AllReduce, 4, 1000);
  request.call.in_place = InPlace::No;
  request.call.type = DataType::Float32;
  request.call.op = ReductionOp::Avg;
  request.channels = 3;
  LaneThreadsOptions options;
  options.threads = 2;
  CHECK(wrong_after_lanes(*build_program(find_algorithm("ring"), request), options, 5) == "");
}

TEST_CASE("nothing to do is done") {
  for (const LaneWire wire : wires) {
    LaneThreadsOptions options;
    options.wire = wire;
    CHECK(wrong_after_lanes(*ring_all_reduce(3, 0), options, 3) == "");
  }
}
