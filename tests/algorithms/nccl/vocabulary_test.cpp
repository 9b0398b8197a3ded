#include "algorithms/nccl/vocabulary.hpp"

#include "algorithms/nccl/constants.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

TEST_CASE("vocabulary: functions are five of the collectives") {
  for (const Function function : functions) {
    CHECK(function_of(collective_of(function)) == function);
    // NCCL's names are those of the collectives, in another spelling.
    CHECK(parse_collective(name(function)) == collective_of(function));
  }
  for (const CollectiveKind kind : {CollectiveKind::AllToAll, CollectiveKind::Gather,
                                    CollectiveKind::Scatter, CollectiveKind::SendRecv}) {
    CHECK_FALSE(function_of(kind));
  }
}

TEST_CASE("vocabulary: rows and columns of the tables") {
  CHECK(generation_of(60) == Generation::Volta);
  CHECK(generation_of(79) == Generation::Volta);
  CHECK(generation_of(80) == Generation::Ampere);
  CHECK(generation_of(89) == Generation::Ampere);
  CHECK(generation_of(90) == Generation::Hopper);
  CHECK(generation_of(99) == Generation::Hopper);
  CHECK(generation_of(100) == Generation::Blackwell);
  CHECK(generation_of(121) == Generation::Blackwell);
  CHECK(scale_of(1) == Scale::OneNode);
  CHECK(scale_of(2) == Scale::TwoNodes);
  CHECK(scale_of(3) == Scale::MoreNodes);
  CHECK(scale_of(2048) == Scale::MoreNodes);
}

}  // namespace collsim::nccl
