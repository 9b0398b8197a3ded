#include "topology/error.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim;

TEST_CASE("an input error prints as a compiler's: place, path, message, line, caret, hint") {
  const InputError error(R"(expected a bandwidth such as "450 GB/s", got "450")",
                         "nvlink.bandwidth", "give the unit, too");
  CHECK(std::string(error.what()) ==
        R"(nvlink.bandwidth: expected a bandwidth such as "450 GB/s", got "450")");
  CHECK(error.render() ==
        "error: nvlink.bandwidth: expected a bandwidth such as \"450 GB/s\", got \"450\"\n"
        "hint: give the unit, too");
  const InputError located =
      error.with_location({"configs/nodes/x.yaml", 12, 16, "    bandwidth: 450"});
  CHECK(located.render() ==
        "configs/nodes/x.yaml:12:16: error: nvlink.bandwidth: expected a bandwidth such as "
        "\"450 GB/s\", got \"450\"\n"
        "      bandwidth: 450\n"
        "                 ^\n"
        "hint: give the unit, too");
  CHECK(located.path() == "nvlink.bandwidth");
  CHECK(located.hint() == "give the unit, too");
}

TEST_CASE("an input error prints only what is known") {
  CHECK(InputError("no such cluster").render() == "error: no such cluster");
  CHECK(InputError("empty file").with_location({"a.yaml", 0, 0, ""}).render() ==
        "a.yaml: error: empty file");
  // The caret stands under a tab-indented word whatever a tab's width.
  CHECK(InputError("what").with_location({"a.yaml", 2, 2, "\tx"}).render() ==
        "a.yaml:2:2: error: what\n  \tx\n  \t^");
}

TEST_CASE("the nearest word is at most a third of its length away") {
  const std::vector<std::string> accepted{"bandwidth", "latency", "kind", "to"};
  CHECK(nearest("bandwith", accepted) == "bandwidth");
  CHECK(nearest("lateny", accepted) == "latency");
  CHECK(nearest("kin", accepted) == "kind");
  CHECK(nearest("t", accepted) == "to");
  CHECK(nearest("speed", accepted).empty());
  CHECK(nearest("c", {"a", "b", "s"}).empty());
  CHECK(nearest("A", {"s", "a"}) == "a");
  CHECK(nearest("kind", {}).empty());
  CHECK(nearest(std::string(65, 'x'), {std::string(65, 'x')}).empty());
  CHECK(nearest("gpu", {std::string(1'000'000, 'g')}).empty());
  // Another case is nearer than another letter, however long the word.
  CHECK(nearest("RING", {"naive", "ring", "tree"}) == "ring");
  CHECK(nearest("gb/s", {"kb/s", "GB/s", "Gb/s"}) == "Gb/s");
  // Of equals the first.
  CHECK(nearest("gpu2", {"gpu0", "gpu1"}) == "gpu0");
}

TEST_CASE("lists read as English") {
  CHECK(one_of({}).empty());
  CHECK(one_of({"a"}) == "a");
  CHECK(one_of({"a", "b"}) == "a or b");
  CHECK(one_of({"a", "b", "c"}) == "a, b or c");
}

TEST_CASE("a broken condition says where and why") {
  const auto broken = [] { COLLSIM_ENSURE(1 + 1 == 3, "sums must be wrong"); };
  CHECK_THROWS_AS(broken(), InternalError);
  CHECK_THROWS_WITH(broken(),
                    Catch::Matchers::ContainsSubstring("error_test.cpp:") &&
                        Catch::Matchers::ContainsSubstring("sums must be wrong (1 + 1 == 3)"));
}

TEST_CASE("what the user wrote is quoted fit for a line of text") {
  CHECK(in_quotes("gpu") == "\"gpu\"");
  CHECK(in_quotes("a\nb\x7F") == "\"a?b?\"");
  CHECK(in_quotes(std::string(60, 'x')) == '"' + std::string(60, 'x') + '"');
  CHECK(in_quotes(std::string(61, 'x')) == '"' + std::string(60, 'x') + "...\"");
}
