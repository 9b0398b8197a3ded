#include "algorithms/binomial_tree.hpp"

#include <vector>

#include "tests/catch.hpp"

using collsim::BinomialTree;

namespace {

std::vector<std::uint32_t> children(const BinomialTree& tree, std::uint32_t v) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < tree.child_count(v); ++i) {
    result.push_back(tree.child(v, i));
  }
  return result;
}

}  // namespace

TEST_CASE("the root of a binomial tree of 5 serves the subtree of two first") {
  // Its children are 4 (alone, since 5 … 7 do not exist), 2 (with 3) and 1.
  const BinomialTree tree(5);
  CHECK(children(tree, 0) == std::vector<std::uint32_t>{2, 4, 1});
  CHECK(children(tree, 2) == std::vector<std::uint32_t>{3});
  CHECK(children(tree, 4).empty());
}

TEST_CASE("the root of a full binomial tree has one child a power of two") {
  CHECK(children(BinomialTree(8), 0) == std::vector<std::uint32_t>{4, 2, 1});
  CHECK(children(BinomialTree(8), 4) == std::vector<std::uint32_t>{6, 5});
  CHECK(children(BinomialTree(1), 0).empty());
}

TEST_CASE(
    "children come in order of falling subtrees, which are ranges that make up the parent's") {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    const BinomialTree tree(size);
    for (std::uint32_t v = 0; v < size; ++v) {
      std::uint32_t together = 1;
      std::uint32_t previous = size;
      for (std::uint32_t i = 0; i < tree.child_count(v); ++i) {
        const std::uint32_t child = tree.child(v, i);
        INFO("size " << size << ", child " << i << " of " << v << ": " << child);
        REQUIRE(child < size);
        REQUIRE(BinomialTree::parent(child) == v);
        REQUIRE(tree.child_number(child) == i);
        REQUIRE(tree.subtree(child) <= previous);
        REQUIRE(child + tree.subtree(child) <= v + tree.subtree(v));
        previous = tree.subtree(child);
        together += previous;
      }
      REQUIRE(together == tree.subtree(v));
    }
  }
}
