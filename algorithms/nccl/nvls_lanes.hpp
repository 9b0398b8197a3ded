#pragma once

// What all NVLS programs have in common: the warps of a block that bring a rank's data to the
// staging buffers (scatter) and results from there to the output (gather).
//
// Every rank has a staging buffer for each head and channel, with a half for what is to be reduced
// and a half for results, of 8 slots each. Lanes of a channel, in this order, as far as the program
// has them:
//   scatter:    copies a block for each head into the staging buffer, then tells all heads;
//   gather:     copies a result of each head from the staging buffer to the output;
//   reduce:     of heads: reads the blocks of all ranks through the switch, which reduces them;
//   broadcast:  of heads: writes a result to all ranks through the switch;
//   network:    what the fabric does between nodes; no block's, without threads;
//   hand:       of heads: between the rank's own memory and the network's.
// A loop moves one block for each head; the copies of a loop are one primitive. Messages are for the
// other ranks of the node only: a head's own block and result are ordered by dependencies.
//
// Ranks stand in a circle, heads first. Each deals with the others in that order, beginning behind itself:
// so that ranks do the same, and one may stand for all (sim/fold.hpp).
//
// Deviates: NCCL waits for the results of all heads before it copies any, and frees their slots together;
// here each is copied as it comes. Buffers that the user registered are not modelled.
// Source: NCCL 2.28.9, src/device/all_reduce.h and its like, prims_simple.h (ScatterGatherOp),
// src/transport/nvls.cc.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/node_places.hpp"

namespace collsim::nccl {

enum class NvlsRole : std::uint8_t { Scatter, Gather, Reduce, Broadcast, Network, Hand };

/// What a kind of NVLS program chooses.
struct NvlsShape {
  std::vector<NvlsRole> roles{};   ///< in order
  std::vector<Rank> heads{};       ///< of each node, as numbers within the node
  std::uint32_t ranks_per_node{};  ///< ranks stand node by node
  Bytes rounding{};                ///< of the heads' shares of a channel's last loop
  std::uint32_t partials{0};       ///< chunks that a channel's heads keep between steps
};

/// The heads, for collectives in which all ranks of a node have to be heads.
/// Throws: InputError where they are not.
[[nodiscard]] std::vector<Rank> heads_of_all(CollectiveKind kind, std::span<const Rank> heads,
                                             std::uint32_t ranks_per_node);

class NvlsLanes : public Program {
 public:
  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override;
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  /// Of the loops with whole blocks, from the first one on that uses a slot again.
  [[nodiscard]] std::optional<StepPeriod> period(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] bool reduces_in_network() const override { return true; }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override;
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override;
  [[nodiscard]] std::uint32_t channels() const override;
  [[nodiscard]] std::uint32_t chunks() const override { return 1; }
  [[nodiscard]] std::uint64_t transfer_count() const override;

 protected:
  /// A lane by its parts: which entry of the execution's work it belongs to, and what it does.
  struct LanePlace {
    std::uint32_t channel{0};
    NvlsRole role{NvlsRole::Scatter};
  };
  /// A block of data: where it is in its buffer.
  struct Block {
    Bytes offset{};
    Bytes bytes{};
  };
  /// A head's part of a loop: what its lanes work on.
  struct Task {
    Rank rank{};
    std::uint32_t channel{0};
    std::uint64_t loop{0};
    std::uint32_t head{0};
    Bytes bytes{};  ///< of its block
  };
  struct LoopRange {
    std::uint64_t begin{0};
    std::uint64_t end{0};
  };

  /// Requires: heads are distinct numbers below the ranks of a node.
  NvlsLanes(const Execution& execution, NvlsShape shape);

  // Of heads, which have the lanes for it:
  [[nodiscard]] virtual std::uint32_t threads(Rank rank, LanePlace place) const = 0;
  [[nodiscard]] virtual std::uint64_t steps_per_loop(Rank rank, LanePlace place) const = 0;
  /// Of the loop's steps of lanes that heads alone have; bytes and whether it continues another are set.
  [[nodiscard]] virtual Step head_step(const Task& task, NvlsRole role,
                                       std::uint64_t number) const = 0;
  /// In which loops the lane has steps.
  [[nodiscard]] virtual LoopRange loops_of(Rank /*head*/, LanePlace place) const {
    return {0, loops(place.channel)};
  }
  /// Which step of its loop the head's reduce lane reads the staging buffers with.
  [[nodiscard]] virtual std::uint64_t reading_step(Rank, std::uint32_t /*channel*/) const {
    return 0;
  }
  /// Loops after which each does what the one before it did, while blocks are whole.
  [[nodiscard]] virtual std::uint64_t settling_loops() const { return slots_of_half; }
  /// Which lane of a head writes to the staging buffers of all; with the last step of its loop it no
  /// longer needs them.
  [[nodiscard]] virtual NvlsRole writer(Rank head, std::uint32_t channel) const = 0;
  /// Slots other than those to the ranks of the node: slots [0, others()) are for these.
  [[nodiscard]] virtual Connection send_away(Rank rank, LanePlace place,
                                             std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Connection receive_from_away(Rank rank, LanePlace place,
                                                     std::uint32_t slot) const = 0;
  /// Messages between nodes that all ranks send in one loop of a channel.
  [[nodiscard]] virtual std::uint64_t messages_away(std::uint32_t channel) const = 0;

  [[nodiscard]] const Execution& execution() const { return execution_; }
  [[nodiscard]] bool has(NvlsRole role) const { return position(role).has_value(); }
  [[nodiscard]] std::uint32_t lane_of(LanePlace place) const;
  [[nodiscard]] std::uint32_t node_of(Rank rank) const { return places_.node_of(rank); }
  /// The head's number, where the rank is one.
  [[nodiscard]] std::optional<std::uint32_t> head_number(Rank rank) const;
  /// The rank with the same place in another node.
  [[nodiscard]] Rank counterpart(Rank rank, std::uint32_t node) const {
    return places_.counterpart(rank, node);
  }
  [[nodiscard]] const NodePlaces& places() const { return places_; }
  /// Head number h of a node.
  [[nodiscard]] Rank head(std::uint32_t node, std::uint32_t number) const;
  [[nodiscard]] std::uint32_t head_count() const { return heads_; }
  /// Other ranks of a node.
  [[nodiscard]] std::uint32_t others() const { return places_.others(); }
  /// One of them: those behind the rank in the circle come first.
  [[nodiscard]] Rank other(Rank rank, std::uint32_t number) const;
  [[nodiscard]] std::uint32_t number_of_other(Rank rank, Rank other) const;

  [[nodiscard]] virtual std::uint64_t loops(std::uint32_t channel) const;
  /// Those before the first one in which some block is not whole.
  [[nodiscard]] std::uint64_t whole_loops(std::uint32_t channel) const;
  /// A head's block of a loop, in a buffer that holds those of all heads.
  [[nodiscard]] virtual Block block(std::uint32_t channel, std::uint64_t loop,
                                    std::uint32_t head) const;
  /// A rank's own block of a loop, of AllGather's input and ReduceScatter's output.
  [[nodiscard]] Block own_block(std::uint32_t channel, std::uint64_t loop) const;

  /// Of each half of a staging buffer.
  static constexpr std::uint64_t slots_of_half = 8;

  /// The slot of the staging buffer for what is to be reduced, or for results.
  enum class Half : std::uint8_t { Reduce, Broadcast };
  [[nodiscard]] Span staging(std::uint32_t channel, std::uint32_t head, Half half,
                             std::uint64_t loop, Bytes bytes) const;
  [[nodiscard]] Span partial(std::uint32_t channel, std::uint32_t number, Bytes bytes) const;

  /// A step of a reduce lane that reads what all ranks of the node have laid out for the head.
  [[nodiscard]] Step read_node(const Task& task) const;
  /// Makes a step write its value to all ranks of the node, when their slots are free.
  void write_node(Step& step, const Task& task) const;
  /// The phase of all steps of a lane that waits for slots.
  [[nodiscard]] static std::uint64_t slot_phase(std::uint64_t loop);
  /// Which a step joins to wait for broadcast steps.
  [[nodiscard]] static std::uint32_t broadcast_group(std::uint32_t channel) {
    return groups_of_channel * channel + 2;
  }

 private:
  // Gather and broadcast lanes are groups of their own, which others wait for.
  static constexpr std::uint32_t groups_of_channel = 3;
  [[nodiscard]] static std::uint32_t gather_group(std::uint32_t channel) {
    return groups_of_channel * channel + 1;
  }
  [[nodiscard]] std::optional<std::uint32_t> position(NvlsRole role) const;
  [[nodiscard]] std::uint32_t place_in_circle(Rank rank) const {
    return places_in_circle_[places_.place_of(rank)];
  }
  /// Which head a rank turns to, and when in a loop it does. A head's last turn is its own.
  [[nodiscard]] std::uint32_t head_at(Rank rank, std::uint32_t turn) const;
  [[nodiscard]] std::uint32_t turn_of(Rank rank, std::uint32_t head) const;
  [[nodiscard]] std::uint32_t group_of(LanePlace place) const;
  [[nodiscard]] Block interleaved_block(std::uint32_t channel, std::uint64_t loop,
                                        std::uint32_t head) const;
  [[nodiscard]] LanePlace place_of(std::uint32_t lane) const;
  [[nodiscard]] std::int64_t loop_elements(std::uint32_t channel) const;
  /// The step of a head's scatter lane that brings its own block, the last of its loop.
  [[nodiscard]] StepRef own_scatter_step(std::uint32_t channel, std::uint64_t loop) const;
  /// Makes a step wait until the rank's gather lane has emptied the slot of a loop.
  void wait_for_slot(Step& step, std::uint32_t channel, std::uint64_t loop) const;
  [[nodiscard]] Step scatter(Rank rank, std::uint32_t channel, std::uint64_t index) const;
  [[nodiscard]] Step gather(Rank rank, std::uint32_t channel, std::uint64_t index) const;

  Execution execution_;
  std::vector<NvlsRole> roles_;
  std::array<std::optional<std::uint32_t>, 6> positions_{};  ///< by role
  std::uint32_t heads_;
  std::vector<Rank> circle_;                     ///< numbers within the node, of heads first
  std::vector<std::uint32_t> places_in_circle_;  ///< by number within the node
  NodePlaces places_;
  std::uint32_t partials_;
  Bytes element_;
  std::int64_t rounding_;              ///< elements
  std::vector<std::int64_t> slots_;    ///< of the staging buffers, elements, by channel
  std::vector<std::int64_t> scratch_;  ///< where a channel's begins, bytes, and the end
};

}  // namespace collsim::nccl
