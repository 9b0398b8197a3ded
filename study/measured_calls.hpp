#pragma once

// Measured tables on a described cluster: the program that NCCL runs for each row, and what it is predicted to take.
//
// A table says how many ranks on how many nodes: these are the first GPUs of the first nodes. Programs do not depend
// on cost parameters, so that a fit makes them once. Not modelled: what differs between nodes of one machine, noise.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/decisions.hpp"
#include "sim/collective_run.hpp"
#include "sim/costs.hpp"
#include "study/nccl_job.hpp"
#include "topology/cluster.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// NCCL on the GPUs of a table. What it points to outlives it.
struct MeasuredTable {
  std::string machine;  ///< of the measurements
  const MeasuredRun* run = nullptr;
  const Cluster* cluster = nullptr;
  std::shared_ptr<const nccl::Decisions> decisions;
  std::string nccl;  ///< the version that decides
  Communicator gpus;
  std::uint32_t nodes = 1;  ///< of the cluster
  MeasuredLaunch launch;
  std::optional<NetworkCosts> network;  ///< of its fabric, laid over what calls are predicted with
};

/// A row of a table, ready to be predicted.
struct MeasuredCall {
  const MeasuredTable* table = nullptr;
  const MeasuredRow* row = nullptr;
  CollectiveCall call;
  NcclProgram program;
};

/// The first GPUs of the first nodes. Throws: InputError where there are not so many.
[[nodiscard]] Communicator first_gpus(const Cluster& cluster, std::uint32_t nodes,
                                      std::uint32_t gpus_per_node);

/// Absent where the size is less than an element a rank, or there is no time. Throws: InputError where NCCL has no program for the table's
/// collective.
[[nodiscard]] std::optional<MeasuredCall> measured_call(const MeasuredTable& table,
                                                        const MeasuredRow& row);

/// The time of one of many calls back to back, as nccl-tests measures it, with its attribution.
[[nodiscard]] CollectiveResult predict(const MeasuredCall& call, const CostParameters& costs,
                                       AttributeTo attribute = AttributeTo::Causes);

}  // namespace collsim
