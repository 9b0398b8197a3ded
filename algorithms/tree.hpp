#pragma once

// Trees of ranks, and broadcast and reduce along any of them. One lane a rank.

#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/pattern.hpp"

namespace collsim {

/// Who is above and below each rank. Pure arithmetic.
class Tree {
 public:
  virtual ~Tree() = default;
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual Rank root() const = 0;
  [[nodiscard]] virtual Rank parent(Rank rank) const = 0;  ///< Requires: not the root.
  [[nodiscard]] virtual std::uint32_t child_count(Rank rank) const = 0;
  /// Children in order of falling subtree size.
  [[nodiscard]] virtual Rank child(Rank rank, std::uint32_t index) const = 0;
  /// The position of a rank among its parent's children. Requires: not the root.
  [[nodiscard]] virtual std::uint32_t child_number(Rank rank) const = 0;

 protected:
  Tree() = default;
  Tree(const Tree&) = default;
  Tree& operator=(const Tree&) = default;
};

/// The whole part goes down from the root, where it lies at `from`: to one child after the other.
[[nodiscard]] std::unique_ptr<Pattern> tree_broadcast(std::unique_ptr<const Tree> tree, Place from,
                                                      Place to);

/// The whole part goes up: a rank adds up its own contribution at `from` and those of all its
/// children in one step. The root puts the result at `to`.
[[nodiscard]] std::unique_ptr<Pattern> tree_reduce(std::unique_ptr<const Tree> tree, Place from,
                                                   Place to);

}  // namespace collsim
