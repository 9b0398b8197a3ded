#pragma once
// Ranks that stand node by node, each node with as many: which node a rank is in, and who else.

#include <cstdint>

#include "topology/ids.hpp"

namespace collsim::nccl {

class NodePlaces {
 public:
  /// Requires: at least one.
  explicit NodePlaces(std::uint32_t ranks_per_node) : ranks_per_node_(ranks_per_node) {}

  [[nodiscard]] std::uint32_t ranks_per_node() const { return ranks_per_node_; }
  [[nodiscard]] std::uint32_t node_of(Rank rank) const { return rank.value() / ranks_per_node_; }
  /// Of a rank in its node.
  [[nodiscard]] std::uint32_t place_of(Rank rank) const { return rank.value() % ranks_per_node_; }
  [[nodiscard]] Rank at(std::uint32_t node, std::uint32_t place) const {
    return Rank(node * ranks_per_node_ + place);
  }
  /// The rank with the same place in another node.
  [[nodiscard]] Rank counterpart(Rank rank, std::uint32_t node) const {
    return at(node, place_of(rank));
  }

  /// One of the counterparts in other nodes: those of nodes before the rank's come first.
  [[nodiscard]] Rank other_counterpart(Rank rank, std::uint32_t number) const {
    return counterpart(rank, number + (number < node_of(rank) ? 0 : 1));
  }
  [[nodiscard]] std::uint32_t number_of_other_node(Rank rank, std::uint32_t node) const {
    return node - (node < node_of(rank) ? 0 : 1);
  }

  /// Other ranks of a node.
  [[nodiscard]] std::uint32_t others() const { return ranks_per_node_ - 1; }
  /// One of them: those below the rank come first.
  [[nodiscard]] Rank other(Rank rank, std::uint32_t number) const {
    return at(node_of(rank), number + (number < place_of(rank) ? 0 : 1));
  }
  [[nodiscard]] std::uint32_t number_of_other(Rank rank, Rank other) const {
    return place_of(other) - (other < rank ? 0 : 1);
  }

 private:
  std::uint32_t ranks_per_node_;
};

}  // namespace collsim::nccl
