#include "algorithms/program.hpp"

#include <optional>
#include <string>

#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

Step step_with(std::uint32_t receives, std::uint32_t sources, bool keeps, std::uint32_t sends) {
  const Span span = Span::contiguous(Buffer::Input, 0_B, 4_B);
  Step step;
  step.bytes = 4_B;
  step.receives = {0, receives};
  step.sends = {0, sends};
  if (sources > 0) {
    step.source = span;
  }
  if (sources > 1) {
    step.operand = span;
  }
  if (keeps) {
    step.destination = Span::contiguous(Buffer::Output, 0_B, 4_B);
  }
  return step;
}

std::string primitive(std::uint32_t receives, std::uint32_t sources, bool keeps,
                      std::uint32_t sends) {
  return std::string(name_of(step_with(receives, sources, keeps, sends).primitive()));
}

constexpr bool keeps = true;
constexpr bool drops = false;

}  // namespace

TEST_CASE("a step's primitive follows from what it receives, reads, keeps and sends") {
  CHECK(primitive(0, 0, drops, 0) == "nothing");
  CHECK(primitive(0, 1, drops, 1) == "send");
  CHECK(primitive(0, 1, drops, 3) == "send");
  CHECK(primitive(1, 0, keeps, 0) == "receive");
  CHECK(primitive(0, 1, keeps, 0) == "copy");
  CHECK(primitive(0, 2, keeps, 0) == "reduce");
  CHECK(primitive(0, 1, keeps, 1) == "copy_send");
  CHECK(primitive(0, 2, drops, 1) == "reduce_send");
  CHECK(primitive(1, 0, drops, 1) == "receive_send");
  CHECK(primitive(1, 0, keeps, 1) == "receive_copy_send");
  CHECK(primitive(1, 1, drops, 1) == "receive_reduce_send");
  CHECK(primitive(1, 1, keeps, 0) == "receive_reduce_copy");
  CHECK(primitive(1, 1, keeps, 1) == "receive_reduce_copy_send");
}

TEST_CASE("several messages in one step are reduced, with or without a local source") {
  CHECK(primitive(3, 0, keeps, 0) == "receive_reduce_copy");
  CHECK(primitive(2, 0, drops, 1) == "receive_reduce_send");
}
