#pragma once

// The binomial tree, in numbers counted from the root: number v has the children v + 2^j for every
// 2^j below the lowest bit of v (the root: for every 2^j), as far as they exist. The subtree of a
// child is the range of numbers [v + 2^j, v + 2^(j+1)), cut off at the number of ranks.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace collsim {

class BinomialTree {
 public:
  explicit BinomialTree(std::uint32_t size) : size_(size) {}

  [[nodiscard]] static std::uint32_t parent(std::uint32_t v) { return v & (v - 1); }

  [[nodiscard]] std::uint32_t child_count(std::uint32_t v) const {
    const auto fitting = static_cast<std::uint32_t>(std::bit_width(size_ - 1 - v));
    return v == 0 ? fitting : std::min(fitting, static_cast<std::uint32_t>(std::countr_zero(v)));
  }

  /// Ranks in the subtree of v.
  [[nodiscard]] std::uint32_t subtree(std::uint32_t v) const {
    return v == 0 ? size_ : std::min(v & (~v + 1), size_ - v);
  }

  /// In order of falling subtree size; among equals the one with the higher bit first.
  [[nodiscard]] std::uint32_t child(std::uint32_t v, std::uint32_t index) const {
    const std::uint32_t top = child_count(v) - 1;
    const std::uint32_t position = top_position(v, top);
    if (index == position) {
      return v + (1U << top);
    }
    return v + (1U << (index < position ? top - 1 - index : top - index));
  }

  /// The index of v among its parent's children. Requires: v > 0.
  [[nodiscard]] std::uint32_t child_number(std::uint32_t v) const {
    const std::uint32_t above = parent(v);
    const std::uint32_t top = child_count(above) - 1;
    const std::uint32_t position = top_position(above, top);
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(v));
    if (bit == top) {
      return position;
    }
    const std::uint32_t among_others = top - 1 - bit;
    return among_others < position ? among_others : among_others + 1;
  }

 private:
  /// Only the child with the highest bit can have a subtree that is cut off: how many others have
  /// larger ones, 2^j > its size.
  [[nodiscard]] std::uint32_t top_position(std::uint32_t v, std::uint32_t top) const {
    const std::uint32_t cut_off = size_ - v - (1U << top);
    const auto width = static_cast<std::uint32_t>(std::bit_width(cut_off));
    return width >= top ? 0 : top - width;
  }

  std::uint32_t size_;
};

}  // namespace collsim
