#pragma once

// Sets that only grow together: union-find with path halving.

#include <cstddef>
#include <numeric>
#include <vector>

namespace collsim {

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t members) : parent_(members) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  /// The member that stands for the set of this one.
  [[nodiscard]] std::size_t of(std::size_t member) {
    while (parent_[member] != member) {
      parent_[member] = parent_[parent_[member]];
      member = parent_[member];
    }
    return member;
  }
  void join(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace collsim
