#include "sim/fair_share.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/fair_share_system.hpp"
#include "topology/error.hpp"

namespace collsim {
namespace {

using test::on;
using test::solve;

/// Rates to be equal as fractions, and bottlenecks.
struct Expected {
  Rate rate;
  std::uint32_t bottleneck;
};

void check(const std::vector<FairShare>& shares, const std::vector<Expected>& expected) {
  REQUIRE(shares.size() == expected.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CAPTURE(i, shares[i].rate.numerator, shares[i].rate.denominator);
    CHECK(compare(shares[i].rate, expected[i].rate) == std::strong_ordering::equal);
    CHECK(shares[i].bottleneck == expected[i].bottleneck);
  }
}

TEST_CASE("flows share one resource equally", "[fair_share]") {
  // 900 / 3 = 300; 1000 / 3 stays a fraction.
  check(solve({900}, {{{on(0)}}, {{on(0)}}, {{on(0)}}}),
        {{{300, 1}, 0}, {{300, 1}, 0}, {{300, 1}, 0}});
  check(solve({1000}, {{{on(0)}}, {{on(0)}}, {{on(0)}}}),
        {{{1000, 3}, 0}, {{1000, 3}, 0}, {{1000, 3}, 0}});
}

TEST_CASE("what a flow cannot use is left to the others", "[fair_share]") {
  // Resource 1 (60) has A and C: 30 each. Resource 0 (100) has A and B: B gets 100 - 30 = 70.
  check(solve({100, 60}, {{{on(0), on(1)}}, {{on(0)}}, {{on(1)}}}),
        {{{30, 1}, 1}, {{70, 1}, 0}, {{30, 1}, 1}});
}

TEST_CASE("a long flow crosses a short one on every resource", "[fair_share]") {
  // Bertsekas and Gallager's chain: A over all three, B, C and D over one each. Resource 0: 10 / 2 =
  // 5 for A and B; then C gets 20 - 5 and D 30 - 5.
  check(solve({10, 20, 30}, {{{on(0), on(1), on(2)}}, {{on(0)}}, {{on(1)}}, {{on(2)}}}),
        {{{5, 1}, 0}, {{5, 1}, 0}, {{15, 1}, 1}, {{25, 1}, 2}});
}

TEST_CASE("shares are in proportion to weights", "[fair_share]") {
  // 90 / (1 + 2) = 30 per unit of weight.
  check(solve({90}, {{{on(0)}, 1}, {{on(0)}, 2}}), {{{30, 1}, 0}, {{60, 1}, 0}});
}

TEST_CASE("a flow of multiplicity m counts as m flows", "[fair_share]") {
  // Three single flows of 30; weight 2 twice and weight 1: 90 / (2·2 + 1) = 18 per unit.
  check(solve({90}, {{{on(0)}, 1, 2}, {{on(0)}, 1, 1}}), {{{30, 1}, 0}, {{30, 1}, 0}});
  check(solve({90}, {{{on(0)}, 2, 2}, {{on(0)}, 1, 1}}), {{{36, 1}, 0}, {{18, 1}, 0}});
}

TEST_CASE("a flow takes a times its rate", "[fair_share]") {
  SECTION("sprayed over two resources of 50 it reaches 100") {
    check(solve({50, 50}, {{{on(0, 1, 2), on(1, 1, 2)}}}), {{{100, 1}, 0}});
  }
  SECTION("a = 2: 2x + x = 100") {
    check(solve({100}, {{{on(0, 2)}}, {{on(0)}}}), {{{100, 3}, 0}, {{100, 3}, 0}});
  }
  SECTION("a = 16/15: 160 carry 150") { check(solve({160}, {{{on(0, 16, 15)}}}), {{{150, 1}, 0}}); }
  SECTION("denominators that differ: x/2 + x/3 + 16x/15 = 190/100 x = 19 gives x = 10") {
    check(solve({19}, {{{on(0, 1, 2)}}, {{on(0, 1, 3)}}, {{on(0, 16, 15)}}}),
          {{{10, 1}, 0}, {{10, 1}, 0}, {{10, 1}, 0}});
  }
  SECTION("x/2 + x/6 + x/3 = x: the common denominator grows from 2 to 6 and serves 3") {
    check(solve({7}, {{{on(0, 1, 2)}}, {{on(0, 1, 6)}}, {{on(0, 1, 3)}}}),
          {{{7, 1}, 0}, {{7, 1}, 0}, {{7, 1}, 0}});
  }
}

TEST_CASE("tied bottlenecks are frozen in one round", "[fair_share]") {
  SECTION("a flow on both belongs to the lower number") {
    check(solve({100, 100}, {{{on(1)}}, {{on(1), on(0)}}, {{on(0)}}}),
          {{{50, 1}, 1}, {{50, 1}, 0}, {{50, 1}, 0}});
  }
  SECTION("1/3 and 3/9 are equal: nothing is rounded, so the last flow keeps 1/3 too") {
    // Resource 0: 1 over three flows. Resource 1: 3 over weight 9, one of those flows among them.
    // Frozen one after the other, the shared flow would take ceil(1/3) = 1 of resource 1, and the
    // rest there would get (3 - 1) / 8 per unit of weight instead of 1/3.
    check(solve({1, 3}, {{{on(0)}}, {{on(0)}}, {{on(0), on(1)}}, {{on(1)}, 8}}),
          {{{1, 3}, 0}, {{1, 3}, 0}, {{1, 3}, 0}, {{8, 3}, 1}});
  }
}

TEST_CASE("only what a frozen flow takes elsewhere is rounded, up, per single flow",
          "[fair_share]") {
  // Resource 0: 100 / 3 for three flows. On resource 1 each of them takes ceil(100 / 3) = 34, so D
  // gets 1000 - 3·34 = 898, not 900, nor 1000 - ceil(100) = 900.
  check(solve({100, 1000}, {{{on(0), on(1)}}, {{on(0), on(1)}}, {{on(0), on(1)}}, {{on(1)}}}),
        {{{100, 3}, 0}, {{100, 3}, 0}, {{100, 3}, 0}, {{898, 1}, 1}});
  // The same three flows folded into one of multiplicity 3.
  check(solve({100, 1000}, {{{on(0), on(1)}, 1, 3}, {{on(1)}}}), {{{100, 3}, 0}, {{898, 1}, 1}});
  // With a = 1/2 each takes ceil(50 / 3) = 17: 1000 - 51 = 949.
  check(solve({100, 1000}, {{{on(0), on(1, 1, 2)}, 1, 3}, {{on(1)}}}),
        {{{100, 3}, 0}, {{949, 1}, 1}});
}

TEST_CASE("rates stay positive where rounding eats a resource up", "[fair_share]") {
  // Ten flows share 11: 11/10 each, rounded up to 2 on resource 1, 20 in all, of which it has 13.
  // D's share there stays at the level 11/10; the takes are 10·11/10 + 11/10 = 12.1 <= 13.
  check(solve({11, 13}, {{{on(0), on(1)}, 1, 10}, {{on(1)}}}), {{{11, 10}, 0}, {{11, 10}, 1}});
}

TEST_CASE("fractions that do not fit into 64 bits are refused", "[fair_share]") {
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  check(solve({large}, {{{on(0)}}}), {{{large, 1}, 0}});
  CHECK_THROWS_AS(solve({large}, {{{on(0, 1, 2)}}}), std::overflow_error);
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  CHECK_THROWS_AS(solve({100}, {{{on(0)}, most, most}}), std::overflow_error);
}

TEST_CASE("a fraction that is too large says of how many transfers, in what parts",
          "[fair_share]") {
  // Common denominators: 65521 · 65519 · 65497 is 2^48; times 65479 it is 2^63.998, beyond 2^63.
  const std::vector<test::Flow> unlike{
      {{on(0, 1, 65521)}}, {{on(0, 1, 65519)}}, {{on(0, 1, 65497)}}, {{on(0, 1, 65479)}}};
  try {
    solve({100}, unlike);
    FAIL("expected an error");
  } catch (const FractionOverflow& error) {
    CHECK(error.what() ==
          std::string("a fair share's fraction exceeds 64 bits; 4 transfers at once, in parts as "
                      "small as 1/65521"));
  }
  // Nothing is split here.
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  try {
    solve({100}, {{{on(0)}, most, most}});
    FAIL("expected an error");
  } catch (const FractionOverflow& error) {
    CHECK(error.what() == std::string("a fair share's fraction exceeds 64 bits"));
  }
}

}  // namespace
}  // namespace collsim
