#pragma once

// The graph whose refinement shows which lanes are alike: see fold.hpp. Internal to the executor.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/connection_route.hpp"
#include "sim/executor.hpp"
#include "sim/lane_shape.hpp"
#include "sim/refinement.hpp"
#include "sim/workload.hpp"
#include "topology/cluster.hpp"

namespace collsim::detail {

/// Thrown where a workload cannot be folded.
struct NotFolded {
  std::string reason;
  std::string remedy{};
  bool too_much = false;  ///< it takes more than is compared all with all
};

/// A program on a communicator, however often a workload runs it, and its vertices.
struct FoldJob {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Communicator> communicator;
  LabelledGraph::Vertex first_rank = 0;
  std::vector<LabelledGraph::Vertex> first_lane;  ///< by rank, and the end
  bool joins = false;                             ///< lanes wait for groups of lanes

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(communicator->size());
  }
  [[nodiscard]] std::uint32_t lanes(std::uint32_t rank) const {
    return first_lane[rank + 1] - first_lane[rank];
  }
};

/// Which lanes of a rank keep their order in all that is alike: those of each channel, whose places others may take
/// on other ranks; or all.
enum class LaneOrder : std::uint8_t { OfChannels, OfAll };

class FoldGraph {
 public:
  using Vertex = LabelledGraph::Vertex;

  /// Fills in the jobs' vertices. Throws: NotFolded; what programs and routes throw that make no sense.
  FoldGraph(const Cluster& cluster, const RunOptions& options, std::vector<FoldJob>& jobs,
            LaneOrder order);

  [[nodiscard]] const LabelledGraph& graph() const { return graph_; }
  /// By link, then by device (the proxy of a GPU): its vertex, or no_index where nobody uses it.
  [[nodiscard]] const std::vector<Vertex>& things() const { return things_; }

 private:
  /// A group of a rank's lanes, see Step::join.
  struct LaneGroup {
    std::uint32_t lanes = 0;
    std::uint32_t channel = 0;  ///< of the last one
    bool mixed = false;         ///< there are others
  };

  void number_lanes(FoldJob& job);
  void add_job(const FoldJob& job, std::size_t number);
  void add_lane(const FoldJob& job, std::size_t number, const LaneOnGpus& at);
  void add_groups(FoldJob& job);
  [[nodiscard]] std::vector<LaneGroup> add_groups_of_rank(const FoldJob& job, std::uint32_t rank);
  void add_order_of_lanes(const FoldJob& job);
  [[nodiscard]] WireProtocol charged_protocol(const Lane& lane) const;
  void add_slot(const FoldJob& job, const LaneOnGpus& at, Vertex vertex, std::uint32_t slot);
  [[nodiscard]] Vertex peer_of(const FoldJob& job, const LaneOnGpus& at, std::uint32_t slot) const;
  void add_path(Vertex lane, const Route& route, std::uint64_t use);
  void add_crossing(Vertex lane, Vertex thing, std::uint64_t label);
  Vertex vertex_of(LinkId link);
  Vertex vertex_of_proxy(DeviceId gpu);
  void check_size(std::size_t to_come) const;

  const Cluster* cluster_;
  const RunOptions* options_;
  LaneOrder order_;
  LabelledGraph graph_;
  std::vector<Vertex> things_;
  LegMemory legs_;
  StepBudget budget_;

  /// A lane some of whose steps wait for a group of its rank.
  struct Joiner {
    std::uint32_t rank = 0;
    Vertex lane = 0;
    std::uint32_t channel = 0;
    std::uint32_t group = 0;
    std::uint64_t label = 0;
  };
  // Of the present job:
  std::vector<Joiner> joiners_;   ///< by rank
  bool across_channels_ = false;  ///< lanes wait for such of other channels
};

}  // namespace collsim::detail
