#include "algorithms/node_layout.hpp"

#include <algorithm>
#include <map>

#include "topology/error.hpp"

namespace collsim {

NodeLayout::NodeLayout(std::span<const NodeId> node_of_rank, Pieces pieces) : pieces_(pieces) {
  COLLSIM_ENSURE(!node_of_rank.empty(), "a layout needs a rank");
  number_nodes(node_of_rank);
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    columns_ = std::max(columns_, members(node));
  }
  if (pieces_ == Pieces::PerRank) {
    number_positions();
  }
}

void NodeLayout::number_nodes(std::span<const NodeId> node_of_rank) {
  std::map<NodeId, std::uint32_t> numbers;
  std::vector<std::uint32_t> sizes;
  for (const NodeId id : node_of_rank) {
    const auto next = static_cast<std::uint32_t>(sizes.size());
    const auto [entry, is_new] = numbers.try_emplace(id, next);
    if (is_new) {
      sizes.push_back(0);
    }
    place_.push_back(PlaceInNode{entry->second, sizes[entry->second]++});
  }
  node_begin_.assign(1, 0);
  for (const std::uint32_t size : sizes) {
    node_begin_.push_back(node_begin_.back() + size);
  }
  by_node_.resize(node_of_rank.size());
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    by_node_[node_begin_[place_[rank].node] + place_[rank].local] = Rank(rank);
  }
}

void NodeLayout::number_positions() {
  column_begin_.assign(columns_ + 1, 0);
  for (const Rank rank : by_node_) {
    ++column_begin_[first_column(rank) + 1];
  }
  for (std::uint32_t column = 0; column < columns_; ++column) {
    column_begin_[column + 1] += column_begin_[column];
  }
  std::vector<std::uint32_t> next(column_begin_.begin(), column_begin_.end() - 1);
  by_position_.resize(ranks());
  position_.resize(ranks());
  // Node by node, so that the nodes are in order within each column.
  for (const Rank rank : by_node_) {
    const std::uint32_t position = next[first_column(rank)]++;
    position_[rank.index()] = position;
    by_position_[position] = rank;
  }
}

Rank NodeLayout::owner(std::uint32_t node, std::uint32_t column) const {
  const std::uint64_t local = std::uint64_t{column} * members(node) / columns_;
  return member(node, static_cast<std::uint32_t>(local));
}

std::uint32_t NodeLayout::first_column(std::uint32_t node, std::uint32_t local) const {
  const std::uint64_t size = members(node);
  return static_cast<std::uint32_t>((std::uint64_t{local} * columns_ + size - 1) / size);
}

std::uint32_t NodeLayout::columns_of(Rank rank) const {
  return first_column(node(rank), local(rank) + 1) - first_column(rank);
}

BlockRange NodeLayout::run(std::uint32_t node, std::uint32_t local) const {
  const std::uint32_t begin = first_column(node, local);
  const std::uint32_t end = first_column(node, local + 1);
  if (pieces_ == Pieces::Shared) {
    return {begin * nodes(), (end - begin) * nodes()};
  }
  return {column_begin_[begin], column_begin_[end] - column_begin_[begin]};
}

BlockRange NodeLayout::piece(std::uint32_t column, std::uint32_t node) const {
  if (pieces_ == Pieces::Shared) {
    return {column * nodes() + node, 1};
  }
  const Rank rank = owner(node, column);
  if (first_column(rank) == column) {
    return {position_[rank.index()], 1};
  }
  return {column_begin_[column], 0};
}

}  // namespace collsim
