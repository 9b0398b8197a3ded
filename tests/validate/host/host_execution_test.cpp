// Every algorithm on threads of this machine: every element of every output.

#include <array>
#include <set>
#include <string>
#include <vector>

#include "algorithms/table.hpp"
#include "tests/catch.hpp"
#include "tests/validate/host/executed.hpp"
#include "validate/execution/every_call.hpp"

using namespace collsim;
using namespace collsim::test;

namespace {

std::vector<InPlace> places(CollectiveKind kind) {
  if (allows_in_place(kind)) {
    return {InPlace::No, InPlace::Yes};
  }
  return {InPlace::No};
}

ProgramRequest request_for(CollectiveKind kind, std::uint32_t ranks, std::int64_t count) {
  ProgramRequest request;
  request.call.kind = kind;
  request.call.ranks = ranks;
  request.call.count = count;
  request.call.type = DataType::Int32;
  request.call.root = Rank(ranks / 2);
  return request;
}

std::string text_of(const Algorithm& algorithm, const ProgramRequest& request) {
  return std::string(algorithm.name) + " " + std::string(name_of(request.call.kind)) + ", " +
         std::to_string(request.call.ranks) + " ranks, count " +
         std::to_string(request.call.count) + ", " + std::string(name_of(request.call.type)) + " " +
         std::string(name_of(request.call.op));
}

/// Runs every algorithm of the request's collective, in and out of place.
int run_all(ProgramRequest request) {
  int programs = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const InPlace place : places(request.call.kind)) {
      request.call.in_place = place;
      if (!implements(algorithm, request.call.kind) || algorithm.obstacle(request)) {
        continue;
      }
      ++programs;
      const std::string wrong = wrong_after_run(build_program(algorithm, request));
      CAPTURE(text_of(algorithm, request));
      CHECK(wrong.empty());
    }
  }
  return programs;
}

}  // namespace

TEST_CASE("every algorithm moves and reduces real data rightly") {
  // Rank counts: one, powers of two, odd ones; counts that do not divide.
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U, 8U}) {
    for (const CollectiveKind kind : all_kinds) {
      CHECK(run_all(request_for(kind, ranks, 103)) > 0);
    }
  }
}

TEST_CASE("channels, chunks and nodes do not change the data") {
  for (const CollectiveKind kind : all_kinds) {
    ProgramRequest request = request_for(kind, 6, 1000);
    request.channels = 2;
    request.chunks = 3;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      request.node_of_rank.emplace_back(rank < 4 ? 0 : 1);
    }
    CHECK(run_all(request) > 0);
  }
}

TEST_CASE("every data type and reduction gives the right numbers") {
  for (const DataType type : all_types) {
    for (const ReductionOp op : all_ops) {
      for (const std::uint32_t ranks : {2U, 5U}) {
        ProgramRequest request = request_for(CollectiveKind::AllReduce, ranks, 67);
        request.call.type = type;
        request.call.op = op;
        CHECK(run_all(request) > 0);
      }
    }
  }
}

TEST_CASE("many more ranks than cores") {
  for (const CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllToAll}) {
    CHECK(run_all(request_for(kind, 64, 64)) > 0);
  }
}

TEST_CASE("calls back to back out of place all give the same") {
  for (const Algorithm& algorithm : algorithms()) {
    ProgramRequest request = request_for(CollectiveKind::AllReduce, 4, 250);
    request.call.in_place = InPlace::No;
    if (!implements(algorithm, request.call.kind) || algorithm.obstacle(request)) {
      continue;
    }
    CAPTURE(algorithm.name);
    CHECK(wrong_after_run(build_program(algorithm, request), 20).empty());
  }
}

TEST_CASE("nothing to do is done") {
  for (const std::uint32_t ranks : {1U, 3U}) {
    ProgramRequest request = request_for(CollectiveKind::AllReduce, ranks, 0);
    CHECK(wrong_after_run(build_program(find_algorithm("ring"), request), 3).empty());
  }
}
