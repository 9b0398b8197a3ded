// Layered layouts: coordinates without overlap, as near as can be to where they are wished.

#include "tools/layer_layout.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim;

TEST_CASE("coordinates that are far enough apart stay") {
  CHECK(separated({}, {}).empty());
  CHECK(separated({3}, {}) == std::vector<double>{3});
  CHECK(separated({0, 10, 30}, {10, 20}) == std::vector<double>{0, 10, 30});
}

TEST_CASE("what is too near moves apart evenly") {
  // Both wish 5 and need 4: 3 and 7 are least squares.
  CHECK(separated({5, 5}, {4}) == std::vector<double>{3, 7});
  // In the wrong order: around the mean of both.
  CHECK(separated({8, 2}, {2}) == std::vector<double>{4, 6});
  // Of three, two move together: 0 stays, 10 and 10 need 2.
  CHECK(separated({0, 10, 10}, {1, 2}) == std::vector<double>{0, 9, 11});
}

TEST_CASE("no coordinates far enough apart are nearer to the wishes") {
  CHECK(rc::check("against moving any of them a little", [] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 8);
    std::vector<double> wished;
    std::vector<double> distance;
    for (std::size_t i = 0; i < count; ++i) {
      wished.push_back(*rc::gen::inRange(0, 100));
      distance.push_back(*rc::gen::inRange(0, 30));
    }
    distance.pop_back();
    const std::vector<double> found = separated(wished, distance);
    const auto cost = [&](const std::vector<double>& x) {
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i) {
        sum += (x[i] - wished[i]) * (x[i] - wished[i]);
      }
      return sum;
    };
    constexpr double rounding = 1e-9;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      RC_ASSERT(found[i + 1] - found[i] >= distance[i] - rounding);
    }
    // Least squares under these constraints is a convex problem: it is enough that no block of
    // neighbours moves to a better place.
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t last = first; last < count; ++last) {
        for (const double step : {-0.01, 0.01}) {
          std::vector<double> moved = found;
          for (std::size_t i = first; i <= last; ++i) {
            moved[i] += step;
          }
          bool allowed = true;
          for (std::size_t i = 0; i + 1 < count; ++i) {
            allowed = allowed && moved[i + 1] - moved[i] >= distance[i];
          }
          RC_ASSERT(!allowed || cost(moved) >= cost(found) - rounding);
        }
      }
    }
  }));
}

TEST_CASE("a layer stands above what it is joined with") {
  // Four boxes of width 10 with a gap of 2, two boxes above each pair.
  LayeredElements layered;
  layered.gap = 2;
  for (int i = 0; i < 4; ++i) {
    layered.elements.push_back({10, {}, 0, false});
  }
  layered.elements.push_back({10, {0, 1}, 0, false});
  layered.elements.push_back({10, {2, 3}, 0, false});
  layered.layers = {{0, 1, 2, 3}, {4, 5}};
  place_layers(layered);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(layered.elements[i].x == 12.0 * static_cast<double>(i));
  }
  CHECK(layered.elements[4].x == 6);
  CHECK(layered.elements[5].x == 30);
}

TEST_CASE("layers are ordered so that lines do not cross, unless an order is to be kept") {
  LayeredElements layered;
  layered.elements = {
      {10, {}, 0, false}, {10, {}, 0, false}, {10, {1}, 0, false}, {10, {0}, 0, false}};
  layered.layers = {{0, 1}, {2, 3}};
  LayeredElements kept = layered;
  place_layers(layered);
  CHECK(layered.elements[3].x == layered.elements[0].x);
  CHECK(layered.elements[2].x == layered.elements[1].x);
  for (LayerElement& element : kept.elements) {
    element.keeps_order = true;
  }
  place_layers(kept);
  CHECK(kept.elements[2].x < kept.elements[3].x);
}
