#include <string>

#include "tests/catch.hpp"
#include "topology/error.hpp"
#include "validate/io/json_outline.hpp"

using namespace collsim;

TEST_CASE("what is whole of a list ends with its last whole element") {
  const auto whole = [](const std::string& text) {
    return whole_part_of_json(text, "r").value_or("none");
  };
  CHECK(whole(R"({"a":1,"r":[{"x":1},{"y":[2)") == R"({"a":1,"r":[{"x":1}]})");
  CHECK(whole(R"({"r": [{"x":"]}\"{"},{"y")") == R"({"r": [{"x":"]}\"{"}]})");
  CHECK(whole(R"({"r":[[1],[2]],"s":[{"t":1},{)") == R"({"r":[[1],[2]]})");
  CHECK(whole(R"({"r":[{"x":1)") == "none");
  CHECK(whole(R"({"s":[{"x":1}],"t)") == "none");
  CHECK(whole(R"({"a":{"r":[{"x":1}]},"t)") == "none");
  CHECK(whole("]]]}}") == "none");
}

TEST_CASE("brackets inside each other are counted outside of texts") {
  CHECK_NOTHROW(require_shallow_json(std::string(64, '[')));
  CHECK_THROWS_WITH(require_shallow_json(std::string(65, '[')), "nested too deeply");
  CHECK_NOTHROW(require_shallow_json("[\"" + std::string(65, '[') + "\"]"));
}
