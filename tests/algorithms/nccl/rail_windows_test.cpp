// How channels share the blocks of a rail: every element once, in the order of nodes, and which channels are alike.

#include "algorithms/nccl/rail_windows.hpp"

#include <vector>

#include "tests/catch.hpp"

using collsim::nccl::RailWindows;

namespace {

constexpr std::int64_t chunk = 8;

struct Shape {
  std::int64_t count{0};
  std::uint32_t nodes{0};
  std::uint32_t channels{0};
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const std::int64_t count : {1, 7, 8, 9, 24, 31, 100}) {
    for (const std::uint32_t nodes : {2U, 3U, 4U, 8U}) {
      for (const std::uint32_t channels : {1U, 2U, 5U, 16U}) {
        all.push_back({count, nodes, channels});
      }
    }
  }
  return all;
}

bool have_the_same(const RailWindows& windows, std::uint32_t a, std::uint32_t b) {
  for (std::uint64_t loop = 0; loop < windows.loops(); ++loop) {
    const RailWindows::Window one = windows.at(a, loop);
    const RailWindows::Window other = windows.at(b, loop);
    if (one.node != other.node || one.count != other.count) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("windows of a rail are its blocks, one behind the other, cut into chunks") {
  for (const Shape& shape : shapes()) {
    const RailWindows windows(shape.count, chunk, shape.nodes, shape.channels);
    std::uint32_t node = 0;
    std::int64_t next = 0;
    for (std::uint64_t loop = 0; loop < windows.loops(); ++loop) {
      for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
        const RailWindows::Window window = windows.at(channel, loop);
        if (next == shape.count && node + 1 < shape.nodes) {
          ++node;
          next = 0;
        }
        REQUIRE(window.node == node);
        REQUIRE(window.first == next);
        REQUIRE(window.count == std::min(chunk, shape.count - next));
        next += window.count;
      }
    }
    CHECK(node + 1 == shape.nodes);
    CHECK(next == shape.count);
  }
}

TEST_CASE("a channel's loops of a node are those with windows of its block") {
  for (const Shape& shape : shapes()) {
    const RailWindows windows(shape.count, chunk, shape.nodes, shape.channels);
    for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
      REQUIRE(windows.first_loop(channel, 0) == 0);
      REQUIRE(windows.first_loop(channel, shape.nodes) == windows.loops());
      for (std::uint64_t loop = 0; loop < windows.loops(); ++loop) {
        const std::uint32_t node = windows.at(channel, loop).node;
        REQUIRE(windows.first_loop(channel, node) <= loop);
        REQUIRE(loop < windows.first_loop(channel, node + 1));
      }
    }
  }
}

TEST_CASE(
    "channels of a kind have windows of the same nodes and sizes, and those of others do not") {
  for (const Shape& shape : shapes()) {
    const RailWindows windows(shape.count, chunk, shape.nodes, shape.channels);
    for (std::uint32_t a = 0; a < shape.channels; ++a) {
      for (std::uint32_t b = a; b < shape.channels; ++b) {
        CAPTURE(shape.count, shape.nodes, shape.channels, a, b);
        REQUIRE((windows.kind_of(a) == windows.kind_of(b)) == have_the_same(windows, a, b));
      }
    }
  }
}
