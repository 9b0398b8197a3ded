#pragma once

// What CollNet's programs have in common: how channels share the data, and the part that the switches of
// the fabric do (SHARP).
//
// Inside a node a block of data is reduced to its head. The heads of all nodes with the same block hand
// it to the network (Movement::Post), which reduces them on the way up a tree of switches and brings the
// total to all of them on the way down. A lane of the first node's head stands for that: it takes the
// blocks of the other nodes and its own, and gives back the totals (Movement::Multimem), 8 of them under
// way. It is no block's: it has no threads.
//
// Every channel takes each channels-th piece of the whole, of one chunk for each head. All do as many
// loops as the longest: in the last one blocks may be short or empty, and are synchronised as others.
//
// Deviates: the first node's head has the total when it has left the tree, the others a latency and the
// cost of a reduction later. Buffers that the user registered are not modelled.
// Source: NCCL 2.28.9, src/device/all_reduce.h, src/transport/coll_net.cc.

#include <cstdint>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/node_places.hpp"
#include "algorithms/nccl/rings.hpp"

namespace collsim::nccl {

class CollNetLanes : public Program {
 public:
  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override;
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override;
  [[nodiscard]] std::uint32_t channels() const override { return channels_; }
  [[nodiscard]] bool reduces_in_network() const override { return true; }
  [[nodiscard]] std::uint32_t chunks() const override {
    return static_cast<std::uint32_t>(loops());
  }

 protected:
  /// Lanes of a channel, and which of them are whose.
  struct Roles {
    std::uint32_t count{0};
    std::uint32_t reduce{0};     ///< of heads: hands blocks to the network
    std::uint32_t broadcast{0};  ///< of heads: takes totals from there
    std::uint32_t network{0};
  };
  struct Place {
    std::uint32_t channel{0};
    std::uint32_t role{0};
  };
  /// A block of data: where it is in its buffer.
  struct Block {
    Bytes offset{};
    Bytes bytes{};
  };

  /// Requires: an all-reduce whose channels interleave; several nodes.
  CollNetLanes(const Execution& execution, RankLayout layout, Roles roles, std::uint32_t heads);

  [[nodiscard]] const Execution& execution() const { return execution_; }
  [[nodiscard]] Place place_of(std::uint32_t lane) const;
  [[nodiscard]] std::uint32_t lane_of(Place place) const;
  [[nodiscard]] const NodePlaces& places() const { return places_; }
  [[nodiscard]] std::uint32_t node_of(Rank rank) const { return places_.node_of(rank); }
  [[nodiscard]] std::uint32_t place_in_node(Rank rank) const { return places_.place_of(rank); }
  [[nodiscard]] std::uint32_t ranks_per_node() const { return places_.ranks_per_node(); }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t heads() const { return heads_; }
  [[nodiscard]] Rank counterpart(Rank rank, std::uint32_t node) const {
    return places_.counterpart(rank, node);
  }

  [[nodiscard]] std::uint64_t loops() const;
  [[nodiscard]] Block block(std::uint32_t channel, std::uint64_t loop, std::uint32_t head) const;

  // For heads. The slots of the network are the first ones: slot 0 of reduce and broadcast lanes.
  /// Makes a step of a reduce lane hand its value to the network.
  void hand_over(Step& step, Rank head, Place place, std::uint64_t loop) const;
  /// Makes a step of a broadcast lane take the total.
  void take_total(Step& step, Rank head, Place place, std::uint64_t loop) const;
  [[nodiscard]] Step network_step(std::uint32_t channel, std::uint64_t loop, Bytes bytes) const;
  [[nodiscard]] Lane network_lane(std::uint32_t channel) const;
  /// Of the network's lane, and of slot 0 of the other two.
  [[nodiscard]] Connection network_send(Rank rank, Place place, std::uint32_t slot) const;
  [[nodiscard]] Connection network_receive(Rank rank, Place place, std::uint32_t slot) const;

 private:
  enum class Side : std::uint8_t { Given, Total };
  [[nodiscard]] Span kept(std::uint32_t channel, Side side, std::uint64_t loop, Bytes bytes) const;

  Execution execution_;
  Roles roles_;
  std::uint32_t nodes_;
  NodePlaces places_;
  std::uint32_t heads_;
  Bytes element_;
  std::int64_t chunk_;      ///< elements
  std::uint32_t channels_;  ///< joined ones counted each
};

}  // namespace collsim::nccl
