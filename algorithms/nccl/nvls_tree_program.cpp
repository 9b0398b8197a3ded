#include "algorithms/nccl/nvls_tree_program.hpp"

#include <array>
#include <utility>
#include <vector>

#include "algorithms/nccl/nvls_lanes.hpp"
#include "algorithms/nccl/trees.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t warp = 32;
constexpr std::uint32_t warps_of_block = 20;

/// A node's neighbours in one of the trees.
struct Neighbours {
  std::optional<std::uint32_t> parent{};
  std::uint32_t number{0};  ///< among the children of its parent
  std::vector<std::uint32_t> children{};

  [[nodiscard]] std::uint32_t child_count() const {
    return static_cast<std::uint32_t>(children.size());
  }
};

/// One of the two trees. Shapes: by node.
std::vector<Neighbours> tree_over(int nodes, int tree) {
  std::vector<Neighbours> neighbours(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node) {
    const NodeTree place = double_tree(nodes, node, tree);
    Neighbours& here = neighbours[static_cast<std::size_t>(node)];
    for (const std::optional<int>& child : {place.first_down, place.second_down}) {
      if (child) {
        neighbours[static_cast<std::size_t>(*child)].number = here.child_count();
        here.children.push_back(static_cast<std::uint32_t>(*child));
      }
    }
    if (place.up) {
      here.parent = static_cast<std::uint32_t>(*place.up);
    }
  }
  return neighbours;
}

/// What the heads keep between steps; each is used by one lane.
enum class Partial : std::uint8_t { OfNode, OfChildren, FromParent };

class NvlsTreeProgram final : public NvlsLanes {
 public:
  NvlsTreeProgram(const Execution& execution, NvlsShape shape, int nodes)
      : NvlsLanes(execution, std::move(shape)),
        trees_{tree_over(nodes, 0), tree_over(nodes, 1)},
        nodes_(static_cast<std::uint32_t>(nodes)) {}

  [[nodiscard]] std::string_view algorithm() const override { return "nvls-tree"; }

 protected:
  [[nodiscard]] std::uint32_t threads(Rank rank, LanePlace place) const override;
  [[nodiscard]] std::uint64_t steps_per_loop(Rank rank, LanePlace place) const override;
  [[nodiscard]] Step head_step(const Task& task, NvlsRole role,
                               std::uint64_t number) const override;
  [[nodiscard]] std::uint64_t reading_step(Rank head, std::uint32_t channel) const override {
    return is_root(head, channel) ? 1 : 0;
  }
  [[nodiscard]] NvlsRole writer(Rank head, std::uint32_t channel) const override {
    return is_root(head, channel) ? NvlsRole::Reduce : NvlsRole::Broadcast;
  }
  [[nodiscard]] Connection send_away(Rank rank, LanePlace place, std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from_away(Rank rank, LanePlace place,
                                             std::uint32_t slot) const override;
  /// Each edge of the tree, up and down, for each head.
  [[nodiscard]] std::uint64_t messages_away(std::uint32_t) const override {
    return 2 * std::uint64_t{nodes_ - 1} * head_count();
  }

 private:
  [[nodiscard]] const Neighbours& neighbours(std::uint32_t node, std::uint32_t channel) const {
    return trees_[execution().work[channel].channel % 2][node];
  }
  [[nodiscard]] const Neighbours& neighbours(Rank rank, std::uint32_t channel) const {
    return neighbours(node_of(rank), channel);
  }
  [[nodiscard]] bool is_root(Rank rank, std::uint32_t channel) const {
    return !neighbours(rank, channel).parent;
  }
  [[nodiscard]] Span partial(std::uint32_t channel, Partial which, Bytes bytes) const {
    return NvlsLanes::partial(channel, static_cast<std::uint32_t>(which), bytes);
  }
  /// The slots of a lane's children, after those of the other ranks of the node.
  [[nodiscard]] SlotRange children(Rank rank, std::uint32_t channel) const {
    return {others(), neighbours(rank, channel).child_count()};
  }

  [[nodiscard]] Step node_sum(const Task& task) const;
  [[nodiscard]] Step send_sum(const Task& task) const;
  [[nodiscard]] Step forward_total(const Task& task) const;
  [[nodiscard]] Step spread_total(const Task& task) const;
  [[nodiscard]] Step root_step(const Task& task, std::uint64_t number) const;

  std::array<std::vector<Neighbours>, 2> trees_;
  std::uint32_t nodes_;
};

/// Where there is a parent, 4 warps broadcast; scatter and gather share what is left, the odd one
/// to scatter.
std::uint32_t NvlsTreeProgram::threads(Rank rank, LanePlace place) const {
  const bool root = is_root(rank, place.channel);
  const std::uint32_t broadcast = root ? 0 : 4;
  const std::uint32_t reduce = root && call().ranks <= 6 ? 7 : 5;
  const std::uint32_t left = warps_of_block - reduce - broadcast;
  switch (place.role) {
    case NvlsRole::Scatter:
      return warp * ((left + 1) / 2);
    case NvlsRole::Gather:
      return warp * (left / 2);
    case NvlsRole::Reduce:
      return warp * reduce;
    case NvlsRole::Broadcast:
    case NvlsRole::Network:
    case NvlsRole::Hand:
      break;
  }
  return warp * broadcast;
}

std::uint64_t NvlsTreeProgram::steps_per_loop(Rank rank, LanePlace place) const {
  if (place.role == NvlsRole::Reduce) {
    return is_root(rank, place.channel) ? 3 : 2;
  }
  return is_root(rank, place.channel) ? 0 : 2;
}

Step NvlsTreeProgram::head_step(const Task& task, NvlsRole role, std::uint64_t number) const {
  Step step;
  if (role == NvlsRole::Broadcast) {
    step = number == 0 ? forward_total(task) : spread_total(task);
  } else if (is_root(task.rank, task.channel)) {
    step = root_step(task, number);
  } else {
    step = number == 0 ? node_sum(task) : send_sum(task);
  }
  step.phase = slot_phase(task.loop);
  return step;
}

Step NvlsTreeProgram::node_sum(const Task& task) const {
  Step step = read_node(task);
  step.destination = partial(task.channel, Partial::OfNode, task.bytes);
  return step;
}

/// Adds the children's sums and sends the result to the parent.
Step NvlsTreeProgram::send_sum(const Task& task) const {
  Step step;
  step.receives = children(task.rank, task.channel);
  step.source = partial(task.channel, Partial::OfNode, task.bytes);
  step.sends = {others(), 1};
  return step;
}

/// The root's one primitive: with the children's sums there, what the switch reads from the node is written
/// back to it at once, all added, and goes to the children.
Step NvlsTreeProgram::root_step(const Task& task, std::uint64_t number) const {
  Step step;
  if (number == 0) {
    step.receives = children(task.rank, task.channel);
    step.destination = partial(task.channel, Partial::OfChildren, task.bytes);
  } else if (number == 1) {
    step = read_node(task);
    step.operand = partial(task.channel, Partial::OfChildren, task.bytes);
    write_node(step, task);
  } else {
    step.sends = children(task.rank, task.channel);
    step.source = staging(task.channel, task.head, Half::Broadcast, task.loop, task.bytes);
  }
  return step;
}

Step NvlsTreeProgram::forward_total(const Task& task) const {
  Step step;
  step.receives = {0, 1};
  step.sends = children(task.rank, task.channel);
  step.destination = partial(task.channel, Partial::FromParent, task.bytes);
  // The total contains what the head has sent up, so it was sent.
  const LanePlace reduce{task.channel, NvlsRole::Reduce};
  step.after = {lane_of(reduce), (task.loop + 1) * steps_per_loop(task.rank, reduce) - 1};
  return step;
}

Step NvlsTreeProgram::spread_total(const Task& task) const {
  Step step;
  step.source = partial(task.channel, Partial::FromParent, task.bytes);
  write_node(step, task);
  return step;
}

Connection NvlsTreeProgram::send_away(Rank rank, LanePlace place, std::uint32_t slot) const {
  const Neighbours& here = neighbours(rank, place.channel);
  if (place.role == NvlsRole::Reduce && here.parent) {
    return {counterpart(rank, *here.parent), lane_of({place.channel, NvlsRole::Reduce}),
            others() + here.number};
  }
  return {counterpart(rank, here.children[slot - others()]),
          lane_of({place.channel, NvlsRole::Broadcast}), 0};
}

Connection NvlsTreeProgram::receive_from_away(Rank rank, LanePlace place,
                                              std::uint32_t slot) const {
  const Neighbours& here = neighbours(rank, place.channel);
  if (place.role == NvlsRole::Reduce) {
    return {counterpart(rank, here.children[slot - others()]),
            lane_of({place.channel, NvlsRole::Reduce}), others()};
  }
  const Rank parent = counterpart(rank, here.parent.value());
  return {parent, lane_of({place.channel, writer(parent, place.channel)}), others() + here.number};
}

}  // namespace

std::unique_ptr<Program> build_nvls_tree_program(const Execution& execution, RankLayout layout,
                                                 std::span<const Rank> heads) {
  COLLSIM_ENSURE(execution.call.kind == CollectiveKind::AllReduce && layout.nodes > 1,
                 "NVLSTree is for AllReduce over several nodes");
  NvlsShape shape;
  shape.roles = {NvlsRole::Scatter, NvlsRole::Gather, NvlsRole::Reduce, NvlsRole::Broadcast};
  shape.heads.assign(heads.begin(), heads.end());
  shape.ranks_per_node = static_cast<std::uint32_t>(layout.ranks_per_node);
  shape.rounding = Bytes(16);
  shape.partials = 3;
  return std::make_unique<NvlsTreeProgram>(execution, std::move(shape), layout.nodes);
}

}  // namespace collsim::nccl
