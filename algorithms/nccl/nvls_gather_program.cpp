#include "algorithms/nccl/nvls_gather_program.hpp"

#include <string>
#include <utility>
#include <vector>

#include "algorithms/nccl/channel_tables.hpp"
#include "algorithms/nccl/nvls_lanes.hpp"
#include "algorithms/nccl/rail_windows.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t warp = 32;
/// Windows of a channel under way in the network.
constexpr std::uint64_t under_way = 8;

/// What heads keep: between the steps of a lane, and for the network's lane or from it.
constexpr std::uint32_t between_steps = 0;
constexpr std::uint32_t first_kept = 1;
constexpr std::uint32_t all_partials = first_kept + under_way;

/// What both have: whose windows a lane has when, and the network's other ends.
class RailProgram : public NvlsLanes {
 public:
  RailProgram(const Execution& execution, NvlsShape shape, std::uint32_t nodes)
      : NvlsLanes(execution, std::move(shape)),
        nodes_(nodes),
        windows_(execution.call.count, execution.work.front().chunk, nodes,
                 channel_count(execution)) {}

  [[nodiscard]] std::string_view algorithm() const override { return "nvls"; }
  /// Nothing is known to repeat: windows change nodes.
  [[nodiscard]] std::optional<StepPeriod> period(Rank, std::uint32_t) const override {
    return std::nullopt;
  }

 protected:
  /// 8 warps copy between the staging buffers and the own memory, the others halve the rest.
  [[nodiscard]] std::uint32_t threads(Rank, LanePlace place) const override {
    switch (place.role) {
      case NvlsRole::Network:
        return 0;
      case NvlsRole::Scatter:
      case NvlsRole::Gather:
        return 8 * warp;
      default:
        return 6 * warp;
    }
  }
  [[nodiscard]] std::uint64_t steps_per_loop(Rank, LanePlace place) const override {
    return of_own_block(place.role) ? 1 : 2;
  }
  [[nodiscard]] NvlsRole writer(Rank, std::uint32_t) const override { return NvlsRole::Broadcast; }
  [[nodiscard]] std::uint64_t messages_away(std::uint32_t) const override {
    return std::uint64_t{nodes_ - 1} * head_count();
  }

  [[nodiscard]] std::uint64_t loops(std::uint32_t) const override { return windows_.loops(); }
  [[nodiscard]] LoopRange loops_of(Rank head, LanePlace place) const override {
    return of_own_block(place.role) ? own_loops(head, place.channel)
                                    : LoopRange{0, windows_.loops()};
  }
  [[nodiscard]] Block block(std::uint32_t channel, std::uint64_t loop,
                            std::uint32_t head) const override {
    const RailWindows::Window window = window_of(channel, loop);
    const Block within = within_block(window);
    return {call().block() * this->head(window.node, head).value() + within.offset, within.bytes};
  }

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  /// Of whose block a window is.
  [[nodiscard]] std::uint32_t owner(const Task& task) const {
    return window_of(task.channel, task.loop).node;
  }
  [[nodiscard]] bool is_owner(const Task& task) const { return owner(task) == node_of(task.rank); }
  /// The window in a buffer that has the rank's own block alone.
  [[nodiscard]] Span own_window(const Task& task, Buffer buffer) const {
    return Span::contiguous(buffer, within_block(window_of(task.channel, task.loop)).offset,
                            task.bytes);
  }
  [[nodiscard]] Span kept(const Task& task) const {
    return partial(task.channel, first_kept + static_cast<std::uint32_t>(task.loop % under_way),
                   task.bytes);
  }
  [[nodiscard]] LoopRange own_loops(Rank head, std::uint32_t channel) const {
    const std::uint32_t number = execution().work[channel].channel;
    return {windows_.first_loop(number, node_of(head)),
            windows_.first_loop(number, node_of(head) + 1)};
  }
  /// The last step of a loop in another lane of the rank.
  [[nodiscard]] StepRef last_step(const Task& task, NvlsRole role, std::uint64_t loop) const {
    const LanePlace place{task.channel, role};
    const std::uint64_t steps = steps_per_loop(task.rank, place);
    return {lane_of(place), (loop + 1 - loops_of(task.rank, place).begin) * steps - 1};
  }

  /// The other end of the network's lane, or of one that deals with it: of a counterpart. Slots of the
  /// latter come behind `first`.
  [[nodiscard]] Connection in_rail(Rank rank, std::uint32_t channel, std::uint32_t number,
                                   NvlsRole role, std::uint32_t first) const {
    const Rank peer = places().other_counterpart(rank, number);
    return {peer, lane_of({channel, role}),
            first + places().number_of_other_node(peer, node_of(rank))};
  }
  /// A slot of the rank for what goes to a node, or comes from it.
  [[nodiscard]] std::uint32_t rail_slot(const Task& task, std::uint32_t node) const {
    return places().number_of_other_node(task.rank, node);
  }

 private:
  /// Other lanes have all windows of the rail.
  [[nodiscard]] static bool of_own_block(NvlsRole role) {
    return role == NvlsRole::Hand || role == NvlsRole::Network;
  }
  [[nodiscard]] RailWindows::Window window_of(std::uint32_t channel, std::uint64_t loop) const {
    return windows_.at(execution().work[channel].channel, loop);
  }
  [[nodiscard]] Block within_block(const RailWindows::Window& window) const {
    const Bytes element = size_of(call().type);
    return {element * window.first, element * window.count};
  }

  std::uint32_t nodes_;
  RailWindows windows_;
};

/// Hand: the own window to where the network takes it. Network: to the counterparts. Broadcast: what has come, or
/// the own, to the node.
class GatherProgram final : public RailProgram {
 public:
  using RailProgram::RailProgram;

 protected:
  [[nodiscard]] Step head_step(const Task& task, NvlsRole role,
                               std::uint64_t number) const override;
  [[nodiscard]] Connection send_away(Rank rank, LanePlace place,
                                     std::uint32_t slot) const override {
    return in_rail(rank, place.channel, slot, NvlsRole::Broadcast, 0);
  }
  [[nodiscard]] Connection receive_from_away(Rank rank, LanePlace place,
                                             std::uint32_t slot) const override {
    return in_rail(rank, place.channel, slot, NvlsRole::Network, 0);
  }

 private:
  [[nodiscard]] Step hand_over(const Task& task) const;
  [[nodiscard]] Step send(const Task& task) const;
  [[nodiscard]] Step take(const Task& task) const;
};

Step GatherProgram::head_step(const Task& task, NvlsRole role, std::uint64_t number) const {
  if (role == NvlsRole::Hand) {
    return hand_over(task);
  }
  if (role == NvlsRole::Network) {
    return send(task);
  }
  Step step;
  if (number == 0) {
    step = take(task);
    step.phase = slot_phase(task.loop);
  } else {
    step.source = partial(task.channel, between_steps, task.bytes);
    write_node(step, task);
  }
  return step;
}

Step GatherProgram::hand_over(const Task& task) const {
  Step step;
  step.movement = Movement::Post;
  step.source = own_window(task, Buffer::Input);
  step.destination = kept(task);
  if (task.loop >= under_way) {
    step.after = last_step(task, NvlsRole::Broadcast, task.loop - under_way);
  }
  return step;
}

Step GatherProgram::send(const Task& task) const {
  Step step;
  step.movement = Movement::Multimem;
  step.source = kept(task);
  step.sends = {0, nodes() - 1};
  step.after = last_step(task, NvlsRole::Hand, task.loop);
  return step;
}

Step GatherProgram::take(const Task& task) const {
  Step step;
  step.destination = partial(task.channel, between_steps, task.bytes);
  if (is_owner(task)) {
    step.source = kept(task);
    step.after = last_step(task, NvlsRole::Network, task.loop);
  } else {
    step.receives = {rail_slot(task, owner(task)), 1};
  }
  return step;
}

/// Reduce: what the node has of a window to the rank whose block it is. Network: that of all nodes, reduced. Hand:
/// to the output.
class ScatterProgram final : public RailProgram {
 public:
  using RailProgram::RailProgram;

 protected:
  [[nodiscard]] Step head_step(const Task& task, NvlsRole role,
                               std::uint64_t number) const override;
  [[nodiscard]] Connection send_away(Rank rank, LanePlace place,
                                     std::uint32_t slot) const override {
    return in_rail(rank, place.channel, slot - others(), NvlsRole::Network, 0);
  }
  [[nodiscard]] Connection receive_from_away(Rank rank, LanePlace place,
                                             std::uint32_t slot) const override {
    return in_rail(rank, place.channel, slot, NvlsRole::Reduce, others());
  }

 private:
  [[nodiscard]] Step hand_over(const Task& task) const;
  [[nodiscard]] Step reduce_in_network(const Task& task) const;
  [[nodiscard]] Step take(const Task& task) const;
};

Step ScatterProgram::head_step(const Task& task, NvlsRole role, std::uint64_t number) const {
  if (role == NvlsRole::Hand) {
    return take(task);
  }
  if (role == NvlsRole::Network) {
    return reduce_in_network(task);
  }
  if (number > 0) {
    return hand_over(task);
  }
  Step step = read_node(task);
  step.destination = partial(task.channel, between_steps, task.bytes);
  return step;
}

Step ScatterProgram::hand_over(const Task& task) const {
  Step step;
  step.source = partial(task.channel, between_steps, task.bytes);
  if (!is_owner(task)) {
    step.movement = Movement::Post;
    step.sends = {others() + rail_slot(task, owner(task)), 1};
    return step;
  }
  step.destination = kept(task);
  if (task.loop >= own_loops(task.rank, task.channel).begin + under_way) {
    step.after = last_step(task, NvlsRole::Hand, task.loop - under_way);
  }
  return step;
}

Step ScatterProgram::reduce_in_network(const Task& task) const {
  Step step;
  step.movement = Movement::Multimem;
  step.receives = {0, nodes() - 1};
  step.source = kept(task);
  step.destination = kept(task);
  step.after = last_step(task, NvlsRole::Reduce, task.loop);
  return step;
}

Step ScatterProgram::take(const Task& task) const {
  Step step;
  step.source = kept(task);
  step.destination = own_window(task, Buffer::Output);
  step.after = last_step(task, NvlsRole::Network, task.loop);
  return step;
}

}  // namespace

std::unique_ptr<Program> build_nvls_gather_program(const Execution& execution, RankLayout layout,
                                                   std::span<const Rank> heads) {
  const CollectiveKind kind = execution.call.kind;
  const bool gathers = kind == CollectiveKind::AllGather;
  COLLSIM_ENSURE(layout.nodes > 1 && execution.interleaved &&
                     (gathers || kind == CollectiveKind::ReduceScatter),
                 "NVLS's all-gather or reduce-scatter over several nodes");
  NvlsShape shape;
  shape.roles =
      gathers
          ? std::vector{NvlsRole::Gather, NvlsRole::Hand, NvlsRole::Broadcast, NvlsRole::Network}
          : std::vector{NvlsRole::Scatter, NvlsRole::Reduce, NvlsRole::Hand, NvlsRole::Network};
  shape.heads = heads_of_all(kind, heads, static_cast<std::uint32_t>(layout.ranks_per_node));
  shape.ranks_per_node = static_cast<std::uint32_t>(layout.ranks_per_node);
  shape.rounding = size_of(execution.call.type);
  shape.partials = all_partials;
  const auto nodes = static_cast<std::uint32_t>(layout.nodes);
  if (gathers) {
    return std::make_unique<GatherProgram>(execution, std::move(shape), nodes);
  }
  return std::make_unique<ScatterProgram>(execution, std::move(shape), nodes);
}

}  // namespace collsim::nccl
