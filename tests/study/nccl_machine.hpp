#pragma once

// A cluster of those that ship, with what NCCL decides on it and what its kernels cost.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/nccl/decisions.hpp"
#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/machine_changes.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "sim/executor.hpp"
#include "sim/io/read_costs.hpp"
#include "study/nccl_job.hpp"
#include "tests/shared_data.hpp"
#include "topology/io/load.hpp"

namespace collsim::test {

/// The set that closed forms are evaluated with.
inline const std::string closed_form_costs =
    source_path("tests/study/closed_form_costs.yaml").string();

class NcclMachine {
 public:
  /// The first `nodes` nodes of a cluster, with the first `gpus` GPUs of each.
  NcclMachine(const std::string& cluster, std::uint32_t nodes, std::uint32_t gpus,
              const std::string& costs, const nccl::Configuration& configuration = {})
      : NcclMachine(load_cluster(cluster, {}, shipped()), nodes, gpus, costs, configuration) {}
  NcclMachine(const LoadedCluster& cluster, std::uint32_t nodes, std::uint32_t gpus,
              const std::string& costs, const nccl::Configuration& configuration)
      : cluster_(build_cluster(cluster)), costs_(find_costs(shipped(), costs)) {
    nccl::DecisionInput input;
    input.machine = nccl::machine_of_node(cluster_, NodeId(0));
    nccl::keep_gpus(input.machine, gpus);
    input.configuration = configuration;
    input.nodes = static_cast<int>(nodes);
    input.constants = nccl::find_constants(shipped(), "2.28");
    decisions_ = std::make_unique<nccl::Decisions>(input);
    Communicator communicator;
    const std::uint32_t gpus_of_node = cluster_.spec().node.gpus;
    for (std::uint32_t rank = 0; rank < nodes * gpus; ++rank) {
      communicator.push_back(cluster_.graph().gpus()[rank / gpus * gpus_of_node + rank % gpus]);
    }
    communicator_ = std::make_shared<const Communicator>(std::move(communicator));
  }

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const nccl::Decisions& decisions() const { return *decisions_; }
  [[nodiscard]] const CostParameters& costs() const { return costs_; }
  [[nodiscard]] CostParameters& costs() { return costs_; }
  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(communicator_->size());
  }
  /// In place where the collective may be, of 4-byte floats.
  [[nodiscard]] CollectiveCall call(CollectiveKind kind, Bytes size) const {
    CollectiveCall call = call_for_size(kind, ranks(), size, DataType::Float32);
    call.in_place = allows_in_place(kind) ? InPlace::Yes : InPlace::No;
    return call;
  }
  [[nodiscard]] NcclProgram program(const CollectiveCall& call, const NcclWish& wish = {},
                                    ChannelsRun channels = ChannelsRun::Joined) const {
    return nccl_program(*decisions_, {}, call, wish, channels);
  }
  /// Pays what this machine's costs are.
  [[nodiscard]] RunResult run(std::shared_ptr<const Program> program) const {
    RunOptions options;
    options.costs = &costs_;
    Workload workload;
    workload.operations = {Collective{std::move(program), communicator_}};
    return run_workload(cluster_, workload, options);
  }
  static ConfigPath shipped() { return ConfigPath{{source_path("configs").string()}}; }

 private:
  Cluster cluster_;
  CostParameters costs_;
  std::unique_ptr<nccl::Decisions> decisions_;
  std::shared_ptr<const Communicator> communicator_;
};

/// Nodes of 8 H100 on a fabric whose switches reduce, and CollNet on.
inline NcclMachine sharp_machine(std::uint32_t nodes, std::uint32_t gpus) {
  nccl::Configuration configuration;
  configuration.collnet = true;
  return {load_cluster("dgx-h100-x4", {{"fabric.reduction", "sharp"}}, NcclMachine::shipped()),
          nodes, gpus, closed_form_costs, configuration};
}

}  // namespace collsim::test
