// Hierarchical algorithms: little data over the slow links between nodes, the rest inside them.
//
//   all_reduce      reduce-scatter ring in each node; per shard an all-reduce ring across the nodes;
//                   all-gather ring in each node
//   all_gather      a ring along each column, then a ring in each node of all its members hold
//   reduce_scatter  the reverse: a ring in each node, then a ring along each column
//   all_to_all      pairwise in the node, to the owner of the receiver's column; then along columns
//   broadcast       a binomial tree over the nodes, then one in each node
//   reduce          the reverse
//
// Columns join the GPUs that exchange data across nodes; node_layout.hpp says how nodes of unequal
// size share them. With equal nodes this is the two-level scheme that uses all rails.
// Sources: Jia et al. 2018, "Highly Scalable Deep Learning Training System with Mixed-Precision"
// (hierarchical all-reduce); Mikami et al. 2018, "Massively Distributed SGD" (2D-torus all-reduce);
// Karonis et al. 2000, "Exploiting hierarchy in parallel computer networks to optimize collective
// operation performance" (trees on several levels).

#include <algorithm>
#include <utility>

#include "algorithms/hierarchical_patterns.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr Place input = all_blocks(Buffer::Input);
constexpr Place output = all_blocks(Buffer::Output);
constexpr Place scratch = all_blocks(Buffer::Scratch);
constexpr Place own_output = own_block(Buffer::Output);

using Direction = Reordering::Direction;

std::unique_ptr<Pattern> all_reduce(const NodeLayout& layout) {
  auto shards = then(ring_in_nodes(layout, RingWork::ReduceScatter, input, output),
                     ring_along_columns(layout, RingWork::AllReduce, output, output));
  return then(std::move(shards), ring_in_nodes(layout, RingWork::AllGather, output, output));
}

std::unique_ptr<Pattern> all_gather(const NodeLayout& layout) {
  auto columns = then(copy_own_block(layout),
                      ring_along_columns(layout, RingWork::AllGather, scratch, scratch));
  auto nodes =
      then(std::move(columns), ring_in_nodes(layout, RingWork::AllGather, scratch, scratch));
  return then(std::move(nodes), reorder_blocks(layout.by_position(), {Direction::OutOfScratch,
                                                                      output, 0, layout.ranks()}));
}

std::unique_ptr<Pattern> reduce_scatter(const NodeLayout& layout) {
  auto nodes =
      then(reorder_blocks(layout.by_position(), {Direction::IntoScratch, input, 0, layout.ranks()}),
           ring_in_nodes(layout, RingWork::ReduceScatter, scratch, scratch));
  return then(std::move(nodes),
              ring_along_columns(layout, RingWork::ReduceScatter, scratch, own_output));
}

std::unique_ptr<Pattern> all_to_all(const NodeLayout& layout) {
  const ExchangeScratch places(layout);
  auto nodes = then(reorder_blocks(layout.by_position(),
                                   {Direction::IntoScratch, input, places.ready, places.blocks}),
                    exchange_in_nodes(layout));
  return then(then(std::move(nodes), exchange_along_columns(layout)),
              reorder_blocks(layout.by_node(),
                             {Direction::OutOfScratch, output, places.received, places.blocks}));
}

std::unique_ptr<Pattern> pattern_for(const ProgramRequest& request) {
  using Pieces = NodeLayout::Pieces;
  const bool shared = request.call.kind == CollectiveKind::AllReduce;
  const NodeLayout layout(request.node_of_rank, shared ? Pieces::Shared : Pieces::PerRank);
  switch (request.call.kind) {
    case CollectiveKind::AllReduce:
      return all_reduce(layout);
    case CollectiveKind::AllGather:
      return all_gather(layout);
    case CollectiveKind::ReduceScatter:
      return reduce_scatter(layout);
    case CollectiveKind::AllToAll:
      return all_to_all(layout);
    case CollectiveKind::Broadcast:
      return broadcast_over_nodes(layout, request.call.root, input, output);
    default:
      COLLSIM_ENSURE(request.call.kind == CollectiveKind::Reduce,
                     "hierarchical does not implement this collective");
      return reduce_over_nodes(layout, request.call.root, input, output);
  }
}

std::optional<std::string> obstacle(const ProgramRequest& request) {
  const std::vector<NodeId>& nodes = request.node_of_rank;
  const bool one_node =
      std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) { return node == nodes.front(); });
  if (one_node) {
    return "needs ranks on more than one node, and all are on one";
  }
  return std::nullopt;
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  COLLSIM_ENSURE(request.node_of_rank.size() == request.call.ranks, "a node for each rank");
  return partition("hierarchical", request.call, pattern_for(request), request.channels,
                   request.chunks);
}

}  // namespace

Algorithm hierarchical() {
  using enum CollectiveKind;
  return {"hierarchical",
          "inside the nodes first, then between them, shard by shard: little data on slow links",
          {AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AllToAll},
          obstacle,
          build};
}

}  // namespace collsim
