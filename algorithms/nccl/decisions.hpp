#pragma once
// All that NCCL decides for a communicator, from the description of one node: the graphs its search
// finds, the facts tuning asks for, channels and the tuning table. The one place where the search's
// view of a node and the tuning model's meet.
//
// Nodes are alike, and all their GPUs take part. Not modelled: a communicator split from another one
// (shared resources), network plugins that unpack on the GPU, CUDA 11.8.

#include <optional>

#include "algorithms/nccl/choice.hpp"
#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/configuration.hpp"
#include "algorithms/nccl/constants.hpp"
#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph_search.hpp"
#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/tuning.hpp"

namespace collsim::nccl {

/// What decides: the machine, how many of it, the user's variables, the version's constants.
struct DecisionInput {
  Machine machine{};
  int nodes{1};
  Configuration configuration{};
  TuningConstants constants{};
  /// Graphs of a file (NCCL_GRAPH_FILE), in place of those that would be searched.
  std::optional<Graph> given_ring{};
  std::optional<Graph> given_tree{};
  std::optional<Graph> given_nvls{};
};

class Decisions {
 public:
  /// Throws: InputError if the machine has no GPU or more than NCCL takes for one node, a given graph
  /// is not one of the machine, or the version cannot do what the configuration asks for.
  /// Complexity: the search's budgets, whatever the number of nodes.
  explicit Decisions(const DecisionInput& input);

  [[nodiscard]] const DetectedNode& node() const { return node_; }
  [[nodiscard]] const GraphSet& graphs() const { return graphs_; }
  [[nodiscard]] const Communicator& communicator() const { return communicator_; }
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  [[nodiscard]] const TuningConstants& constants() const { return constants_; }
  [[nodiscard]] const Tuning& tuning() const { return tuning_; }
  [[nodiscard]] RankLayout layout() const {
    return {communicator_.nodes, communicator_.max_ranks_per_node};
  }
  /// For choose(), choices(), launch_shape() and their like. Lives as long as this object does.
  [[nodiscard]] TuningInput input() const {
    return {constants_, configuration_, communicator_, graphs_};
  }

 private:
  Configuration configuration_;
  TuningConstants constants_;
  DetectedNode node_;
  GraphSet graphs_;
  Communicator communicator_;
  Tuning tuning_;
};

}  // namespace collsim::nccl
