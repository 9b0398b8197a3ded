#include "algorithms/nccl/nvls_network_program.hpp"

#include <utility>

#include "algorithms/nccl/nvls_lanes.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t warp = 32;
/// Totals that are under way or not yet taken.
constexpr std::uint64_t under_way = 8;

/// What heads keep: between the steps of a lane, and for the network's lane.
constexpr std::uint32_t of_node = 0;
constexpr std::uint32_t from_network = 1;
constexpr std::uint32_t first_given = 2;
constexpr std::uint32_t first_total = first_given + under_way;
constexpr std::uint32_t all_partials = first_total + under_way;

class NvlsNetworkProgram final : public NvlsLanes {
 public:
  NvlsNetworkProgram(const Execution& execution, NvlsShape shape, std::uint32_t nodes)
      : NvlsLanes(execution, std::move(shape)), nodes_(nodes) {}

  [[nodiscard]] std::string_view algorithm() const override { return "nvls"; }

 protected:
  [[nodiscard]] std::uint32_t threads(Rank, LanePlace place) const override;
  [[nodiscard]] std::uint64_t settling_loops() const override { return under_way + slots_of_half; }
  [[nodiscard]] std::uint64_t steps_per_loop(Rank rank, LanePlace place) const override {
    if (place.role == NvlsRole::Network) {
      return node_of(rank) == 0 ? 1 : 0;
    }
    return 2;
  }
  [[nodiscard]] Step head_step(const Task& task, NvlsRole role,
                               std::uint64_t number) const override;
  [[nodiscard]] NvlsRole writer(Rank, std::uint32_t) const override { return NvlsRole::Broadcast; }
  [[nodiscard]] Connection send_away(Rank rank, LanePlace place, std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from_away(Rank rank, LanePlace place,
                                             std::uint32_t slot) const override;
  [[nodiscard]] std::uint64_t messages_away(std::uint32_t) const override {
    return 2 * std::uint64_t{nodes_ - 1} * head_count();
  }

 private:
  [[nodiscard]] Step hand_over(const Task& task) const;
  [[nodiscard]] Step take_total(const Task& task) const;
  [[nodiscard]] Step reduce_in_network(const Task& task) const;

  [[nodiscard]] Span kept(const Task& task, std::uint32_t first) const {
    return partial(task.channel, first + static_cast<std::uint32_t>(task.loop % under_way),
                   task.bytes);
  }
  [[nodiscard]] std::uint32_t network_lane(std::uint32_t channel) const {
    return lane_of({channel, NvlsRole::Network});
  }

  std::uint32_t nodes_;
};

/// Of the block's 20 warps 3 reduce and 2 broadcast; scatter and gather share what is left, the odd one
/// to scatter.
std::uint32_t NvlsNetworkProgram::threads(Rank, LanePlace place) const {
  switch (place.role) {
    case NvlsRole::Scatter:
      return 8 * warp;
    case NvlsRole::Gather:
      return 7 * warp;
    case NvlsRole::Reduce:
      return 3 * warp;
    case NvlsRole::Broadcast:
      return 2 * warp;
    case NvlsRole::Network:
    case NvlsRole::Hand:
      break;
  }
  return 0;
}

Step NvlsNetworkProgram::head_step(const Task& task, NvlsRole role, std::uint64_t number) const {
  Step step;
  switch (role) {
    case NvlsRole::Reduce:
      if (number > 0) {
        return hand_over(task);
      }
      step = read_node(task);
      step.destination = partial(task.channel, of_node, task.bytes);
      return step;
    case NvlsRole::Broadcast:
      if (number == 0) {
        step = take_total(task);
        step.phase = slot_phase(task.loop);
        return step;
      }
      step.source = partial(task.channel, from_network, task.bytes);
      write_node(step, task);
      return step;
    default:
      return reduce_in_network(task);
  }
}

Step NvlsNetworkProgram::hand_over(const Task& task) const {
  Step step;
  step.source = partial(task.channel, of_node, task.bytes);
  if (node_of(task.rank) != 0) {
    step.sends = {others(), 1};
    step.movement = Movement::Post;
    return step;
  }
  step.destination = kept(task, first_given);
  if (task.loop >= under_way) {
    step.after = StepRef{network_lane(task.channel), task.loop - under_way};
  }
  return step;
}

Step NvlsNetworkProgram::reduce_in_network(const Task& task) const {
  Step step;
  step.movement = Movement::Multimem;
  step.receives = {0, nodes_ - 1};
  step.sends = {0, nodes_ - 1};
  step.source = kept(task, first_given);
  step.destination = kept(task, first_total);
  step.after = StepRef{lane_of({task.channel, NvlsRole::Reduce}), 2 * task.loop + 1};
  if (task.loop >= under_way) {
    step.phase = slot_phase(task.loop - under_way) + 1;
    step.join = broadcast_group(task.channel);
  }
  return step;
}

Step NvlsNetworkProgram::take_total(const Task& task) const {
  Step step;
  step.destination = partial(task.channel, from_network, task.bytes);
  if (node_of(task.rank) != 0) {
    step.receives = {0, 1};
    // The total contains what the head has given, so it was given.
    step.after = StepRef{lane_of({task.channel, NvlsRole::Reduce}), 2 * task.loop + 1};
    return step;
  }
  step.source = kept(task, first_total);
  step.after = StepRef{network_lane(task.channel), task.loop};
  return step;
}

Connection NvlsNetworkProgram::send_away(Rank rank, LanePlace place, std::uint32_t slot) const {
  if (place.role == NvlsRole::Network) {
    return {counterpart(rank, slot + 1), lane_of({place.channel, NvlsRole::Broadcast}), 0};
  }
  return {counterpart(rank, 0), network_lane(place.channel), node_of(rank) - 1};
}

Connection NvlsNetworkProgram::receive_from_away(Rank rank, LanePlace place,
                                                 std::uint32_t slot) const {
  if (place.role == NvlsRole::Network) {
    return {counterpart(rank, slot + 1), lane_of({place.channel, NvlsRole::Reduce}), others()};
  }
  return {counterpart(rank, 0), network_lane(place.channel), node_of(rank) - 1};
}

}  // namespace

std::unique_ptr<Program> build_nvls_network_program(const Execution& execution, RankLayout layout,
                                                    std::span<const Rank> heads) {
  COLLSIM_ENSURE(
      execution.call.kind == CollectiveKind::AllReduce && layout.nodes > 1 && execution.interleaved,
      "NVLS over several nodes: an AllReduce whose channels interleave");
  NvlsShape shape;
  shape.roles = {NvlsRole::Scatter, NvlsRole::Gather, NvlsRole::Reduce, NvlsRole::Broadcast,
                 NvlsRole::Network};
  shape.heads.assign(heads.begin(), heads.end());
  shape.ranks_per_node = static_cast<std::uint32_t>(layout.ranks_per_node);
  shape.rounding = size_of(execution.call.type);
  shape.partials = all_partials;
  return std::make_unique<NvlsNetworkProgram>(execution, std::move(shape),
                                              static_cast<std::uint32_t>(layout.nodes));
}

}  // namespace collsim::nccl
