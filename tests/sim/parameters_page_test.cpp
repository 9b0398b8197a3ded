// docs/parameters.md lists exactly the parameters that there are, with what they mean.

#include <fstream>
#include <sstream>
#include <string>

#include "sim/costs.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"

using namespace collsim;

namespace {

std::string unit_text(CostUnit unit) {
  switch (unit) {
    case CostUnit::Picoseconds:
      return "time";
    case CostUnit::RateUnits:
      return "rate";
    case CostUnit::Millionths:
      return "share";
    case CostUnit::Bytes:
      return "size";
  }
  return "";
}

}  // namespace

TEST_CASE("the page of parameters is the table of the code") {
  std::ifstream file(test::source_path("docs/parameters.md"));
  std::stringstream text;
  text << file.rdbuf();
  std::string expected = "| key | unit | is |\n|---|---|---|\n";
  for (const CostDefinition& definition : cost_definitions()) {
    expected.append("| `").append(name_of(definition.item)).append("` | ");
    expected.append(unit_text(definition.unit)).append(" | ");
    expected.append(definition.meaning).append(" |\n");
  }
  const std::string page = text.str();
  REQUIRE(page.size() > expected.size());
  CHECK(page.substr(page.size() - expected.size()) == expected);
}
