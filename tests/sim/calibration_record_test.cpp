#include "sim/calibration_record.hpp"

#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

CalibrationRecord record() {
  CalibrationRecord record;
  record.collectives = {CollectiveKind::AllReduce, CollectiveKind::AllGather};
  record.least_bytes = 512_B;
  record.most_bytes = 512_MiB;
  record.least_ranks = 2;
  record.most_ranks = 8;
  record.most_nodes = 1;
  return record;
}

std::string outside_text(CollectiveKind kind, std::uint32_t ranks, Bytes size,
                         std::uint32_t nodes) {
  std::string text;
  const CollectiveCall call = call_for_size(kind, ranks, size, DataType::Float32);
  for (const OutsideFit& outside : outside(record(), call, nodes)) {
    text += outside.what + " " + outside.found + " (" + outside.fitted + ");";
  }
  return text;
}

}  // namespace

TEST_CASE("a call is inside of what was fitted up to its ends") {
  CHECK(outside_text(CollectiveKind::AllReduce, 2, 512_B, 1).empty());
  CHECK(outside_text(CollectiveKind::AllReduce, 8, 512_MiB, 1).empty());
}

TEST_CASE("each property outside of what was fitted is told") {
  CHECK(outside_text(CollectiveKind::AllReduce, 8, 1_GiB, 1) == "size 1 GiB (512 B to 512 MiB);");
  CHECK(outside_text(CollectiveKind::AllReduce, 8, 256_B, 1) == "size 256 B (512 B to 512 MiB);");
  CHECK(outside_text(CollectiveKind::AllReduce, 9, 1_MiB, 1) == "ranks 9 (2 to 8);");
  CHECK(outside_text(CollectiveKind::AllReduce, 16, 1_MiB, 2) == "nodes 2 (1);");
  CHECK(outside_text(CollectiveKind::Broadcast, 8, 1_MiB, 1) ==
        "collective broadcast (all_reduce or all_gather);");
}
