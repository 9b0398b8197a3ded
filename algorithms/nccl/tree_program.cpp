#include "algorithms/nccl/tree_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "algorithms/nccl/channel_tables.hpp"
#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/slices.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t most_children = 3;

/// A rank in a tree, and where it stands among its parent's children.
struct TreeNode {
  bool root{true};
  Rank up{};
  bool up_is_root{false};
  std::uint32_t number{0};
  std::uint32_t children{0};
  std::array<Rank, most_children> down{};
};

class TreeTable {
 public:
  explicit TreeTable(const std::vector<TreeLinks>& tree) : nodes_(tree.size()) {
    for (std::size_t rank = 0; rank < tree.size(); ++rank) {
      const TreeLinks& links = tree[rank];
      COLLSIM_ENSURE(links.down.size() <= most_children, "a tree of three children at most");
      TreeNode& node = nodes_[rank];
      node.root = !links.up;
      node.up = links.up.value_or(Rank(0));
      node.up_is_root = links.up && !tree.at(links.up->index()).up;
      for (const Rank child : links.down) {
        nodes_.at(child.index()).number = node.children;
        node.down[node.children++] = child;
      }
    }
  }

  [[nodiscard]] const TreeNode& operator[](Rank rank) const { return nodes_[rank.index()]; }
  [[nodiscard]] std::size_t ranks() const { return nodes_.size(); }

 private:
  std::vector<TreeNode> nodes_;  // by rank
};

/// Threads that move data: all at the root; elsewhere the kernel gives reducing the larger part.
struct TreeThreads {
  int root{0};
  int up{0};
  int down{0};
};

TreeThreads tree_threads(Protocol protocol, int block) {
  constexpr int warp = 32;
  constexpr int many_threads = 256;
  constexpr int more_threads = 64;
  int up = block * 7 / (10 * warp) * warp;
  if (protocol == Protocol::Simple) {
    up = block / 2;
    up += up >= many_threads ? more_threads : 0;
  }
  return {moving_threads(protocol, block), moving_threads(protocol, up),
          moving_threads(protocol, block - up)};
}

class TreeProgram final : public Program {
 public:
  TreeProgram(const Execution& execution, const std::vector<std::vector<TreeLinks>>& trees)
      : execution_(execution),
        trees_(execution.work, trees),
        threads_(tree_threads(execution.protocol, execution.threads)) {
    for (std::size_t i = 0; i < execution_.work.size(); ++i) {
      COLLSIM_ENSURE(trees_[i].ranks() == execution.call.ranks, "a tree has every rank");
    }
  }

  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::string_view algorithm() const override { return "nccl-tree"; }

  [[nodiscard]] std::uint32_t lane_count(Rank) const override {
    return 2 * static_cast<std::uint32_t>(execution_.work.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    const ChannelWork& work = execution_.work[channel_of(lane)];
    const int threads = node(rank, lane).root ? threads_.root
                        : is_up(lane)         ? threads_.up
                                              : threads_.down;
    return {work.channel,
            lane,
            static_cast<std::uint32_t>(execution_.fifo),
            wire_protocol(execution_.protocol),
            Kernel::Collective,
            static_cast<std::uint32_t>(threads),
            work.multiplicity};
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return node(rank, lane).root && !is_up(lane) ? 0 : chunks_of(channel_of(lane)) * slices();
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    const ChannelWork& work = execution_.work[channel_of(lane)];
    const std::uint64_t chunk = index / slices();
    const std::int64_t begin = static_cast<std::int64_t>(chunk) * work.chunk;
    const Slice slice = slice_of(execution_, std::min(work.chunk, work.count - begin),
                                 static_cast<std::int64_t>(index - chunk * slices()));
    const Bytes bytes(slice.count * element_bytes_);
    const Bytes offset((work.first + begin + slice.first) * element_bytes_);

    const TreeNode& node = this->node(rank, lane);
    const bool up = is_up(lane);
    Step step;
    step.bytes = bytes;
    step.receives.count = up ? node.children : 1;
    step.sends.count = up && !node.root ? 1 : node.children;
    if (up) {
      step.source = Span::contiguous(Buffer::Input, offset, bytes);
    }
    if (!up || node.root) {
      step.destination = Span::contiguous(Buffer::Output, offset, bytes);
    }
    if (!up && execution_.call.in_place == InPlace::Yes) {
      step.after = StepRef{lane - 1, index};
    }
    return step;
  }

  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const TreeNode& node = this->node(rank, lane);
    if (!is_up(lane)) {
      return {node.down[slot], lane, 0};
    }
    return node.root ? Connection{node.down[slot], lane + 1, 0}
                     : Connection{node.up, lane, node.number};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const TreeNode& node = this->node(rank, lane);
    if (is_up(lane)) {
      return {node.down[slot], lane, 0};
    }
    return {node.up, node.up_is_root ? lane - 1 : lane, node.number};
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(0); }

  [[nodiscard]] std::uint32_t channels() const override { return channel_count(execution_); }
  [[nodiscard]] std::uint32_t chunks() const override {
    std::uint64_t most = 0;
    for (std::size_t channel = 0; channel < execution_.work.size(); ++channel) {
      most = std::max(most, chunks_of(channel));
    }
    return static_cast<std::uint32_t>(most);
  }
  [[nodiscard]] std::uint64_t transfer_count() const override {
    std::uint64_t chunks = 0;
    for (std::size_t channel = 0; channel < execution_.work.size(); ++channel) {
      chunks += chunks_of(channel);
    }
    return chunks * slices() * 2 * (execution_.call.ranks - 1);
  }

 private:
  // Even lanes reduce up, odd ones broadcast down.
  [[nodiscard]] static std::size_t channel_of(std::uint32_t lane) { return lane / 2; }
  [[nodiscard]] static bool is_up(std::uint32_t lane) { return lane % 2 == 0; }
  [[nodiscard]] const TreeNode& node(Rank rank, std::uint32_t lane) const {
    return trees_[channel_of(lane)][rank];
  }
  [[nodiscard]] std::uint64_t slices() const {
    return static_cast<std::uint64_t>(execution_.slices);
  }
  [[nodiscard]] std::uint64_t chunks_of(std::size_t channel) const {
    const ChannelWork& work = execution_.work[channel];
    return static_cast<std::uint64_t>(divided_up(work.count, work.chunk));
  }

  Execution execution_;
  ChannelTables<TreeTable> trees_;
  TreeThreads threads_;
  std::int64_t element_bytes_ = size_of(execution_.call.type).count();
};

}  // namespace

std::unique_ptr<Program> build_tree_program(const Execution& execution,
                                            const std::vector<std::vector<TreeLinks>>& trees) {
  COLLSIM_ENSURE(execution.algorithm == Algorithm::Tree, "the execution of a tree");
  COLLSIM_ENSURE(execution.call.kind == CollectiveKind::AllReduce,
                 "NCCL has a tree for AllReduce only");
  return std::make_unique<TreeProgram>(execution, trees);
}

}  // namespace collsim::nccl
