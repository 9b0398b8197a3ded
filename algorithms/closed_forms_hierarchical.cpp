// Closed forms of the hierarchical algorithms on equal nodes: g GPUs in each of N nodes, one
// machine inside the nodes and another between them.

#include "algorithms/closed_form_terms.hpp"

namespace collsim {

namespace {

using detail::binomial_subtrees;
using detail::Sharing;
using detail::Terms;
using detail::times;

struct TwoLevels {
  Terms inside;
  Terms between;
  std::uint32_t gpus_per_node = 1;
  std::uint32_t nodes = 1;
};

/// A ring reduce-scatter in each node, an all-reduce ring for each shard across the nodes, a ring
/// all-gather in each node. The largest shard and its largest piece are the last everywhere.
Duration all_reduce_time(const TwoLevels& levels, const CollectiveCall& call) {
  const detail::EvenBlocks pieces(call, levels.gpus_per_node * levels.nodes);
  const Duration inside =
      times(levels.gpus_per_node - 1, levels.inside.message(pieces.bytes(0, levels.nodes)));
  const Duration between =
      times(2 * (std::int64_t{levels.nodes} - 1), levels.between.message(pieces.largest()));
  return checked_add(times(2, inside), between);
}

/// A ring of blocks across the nodes and one of a node's N blocks inside it, in either order.
Duration gather_or_scatter_time(const TwoLevels& levels, const CollectiveCall& call) {
  return checked_add(
      times(levels.nodes - 1, levels.between.message(call.block())),
      times(levels.gpus_per_node - 1, levels.inside.message(levels.nodes * call.block())));
}

/// Pairwise inside the node, N blocks a message; then pairwise across, g blocks a message.
Duration all_to_all_time(const TwoLevels& levels, const CollectiveCall& call) {
  return checked_add(
      times(levels.gpus_per_node - 1, levels.inside.message(levels.nodes * call.block())),
      times(levels.nodes - 1, levels.between.message(levels.gpus_per_node * call.block())));
}

/// Down a binomial tree over the nodes, then one in each node: a node's entry GPU serves other nodes
/// first. `nodes`: those below (and with) this GPU's; `gpus`: those of its node below it.
Duration broadcast_time(const TwoLevels& levels, std::uint32_t nodes, std::uint32_t gpus,
                        Bytes bytes) {
  Duration left{};
  Duration end{};
  for (const std::uint32_t below : binomial_subtrees(nodes)) {
    left = checked_add(left, levels.between.wire(bytes));
    const Duration arrived = checked_add(left, levels.between.latency());
    end = std::max(
        end, checked_add(arrived, broadcast_time(levels, below, levels.gpus_per_node, bytes)));
  }
  for (const std::uint32_t below : binomial_subtrees(gpus)) {
    left = checked_add(left, levels.inside.wire(bytes));
    const Duration arrived = checked_add(left, levels.inside.latency());
    end = std::max(end, checked_add(arrived, broadcast_time(levels, 1, below, bytes)));
  }
  return end;
}

/// Up the same trees: a GPU sends when everything below it is there.
Duration reduce_time(const TwoLevels& levels, std::uint32_t nodes, std::uint32_t gpus,
                     Bytes bytes) {
  Duration end{};
  for (const std::uint32_t below : binomial_subtrees(nodes)) {
    end = std::max(end, checked_add(reduce_time(levels, below, levels.gpus_per_node, bytes),
                                    levels.between.message(bytes)));
  }
  for (const std::uint32_t below : binomial_subtrees(gpus)) {
    end = std::max(end,
                   checked_add(reduce_time(levels, 1, below, bytes), levels.inside.message(bytes)));
  }
  return end;
}

}  // namespace

std::optional<Duration> closed_form_hierarchical(const CollectiveCall& call,
                                                 std::uint32_t gpus_per_node,
                                                 const UniformMachine& inside,
                                                 const UniformMachine& between) {
  if (gpus_per_node == 0 || call.ranks % gpus_per_node != 0) {
    return std::nullopt;
  }
  const TwoLevels levels{Terms(inside, call.ranks, Sharing::None),
                         Terms(between, call.ranks, Sharing::None), gpus_per_node,
                         call.ranks / gpus_per_node};
  const bool nothing_to_do = call.ranks <= 1 || call.count == 0;
  switch (call.kind) {
    case CollectiveKind::AllReduce:
      return nothing_to_do ? Duration{} : all_reduce_time(levels, call);
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
      return nothing_to_do ? Duration{} : gather_or_scatter_time(levels, call);
    case CollectiveKind::AllToAll:
      return nothing_to_do ? Duration{} : all_to_all_time(levels, call);
    case CollectiveKind::Broadcast:
      return nothing_to_do ? Duration{}
                           : broadcast_time(levels, levels.nodes, gpus_per_node, call.size());
    case CollectiveKind::Reduce:
      return nothing_to_do ? Duration{}
                           : reduce_time(levels, levels.nodes, gpus_per_node, call.size());
    case CollectiveKind::Scatter:
    case CollectiveKind::Gather:
    case CollectiveKind::SendRecv:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace collsim
