#include "validate/direct_search.hpp"

#include <cmath>
#include <stdexcept>

#include "tests/catch.hpp"

using namespace collsim;

TEST_CASE("a direct search finds the least value without a gradient") {
  const auto kink = [](const std::vector<double>& at) { return std::abs(at[0] - 0.3); };
  CHECK(direct_search(kink, {{0, 1, 0.9}}, 60).values[0] == Approx(0.3).margin(0.01));
  const auto bowl = [](const std::vector<double>& at) {
    return (at[0] - 0.2) * (at[0] - 0.2) + (at[1] + 1) * (at[1] + 1);
  };
  const SearchResult found = direct_search(bowl, {{0, 1, 0.5}, {-2, 2, 0}}, 60);
  CHECK(found.values[0] == Approx(0.2).margin(0.01));
  CHECK(found.values[1] == Approx(-1).margin(0.01));
}

TEST_CASE("a direct search stays within its ranges") {
  const auto falling = [](const std::vector<double>& at) {
    CHECK(at[0] >= 0);
    CHECK(at[0] <= 1);
    return -at[0];
  };
  CHECK(direct_search(falling, {{0, 1, 0.5}}, 30).values[0] == Approx(1).margin(0.01));
}

TEST_CASE("what the function throws comes out of a direct search") {
  const auto broken = [](const std::vector<double>&) -> double {
    throw std::runtime_error("broken");
  };
  CHECK_THROWS_WITH(direct_search(broken, {{0, 1, 0.5}}, 10), "broken");
}
