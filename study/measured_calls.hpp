#pragma once

// Measured tables on a described cluster: the program that NCCL runs for each row, and what it is predicted to take.
// Of tables that an executor of ours measured, the program is the one that it ran, and nothing but the cluster's links costs
// anything: no parameters describe threads or sockets.
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

/// Whether a program of ours ran (`collsim measure --backend host`, tcp, cuda), and not NCCL's.
[[nodiscard]] bool ran_our_program(const MeasuredRun& run);

/// A table on the GPUs that stand for its ranks. What it points to outlives it.
struct MeasuredTable {
  std::string machine;  ///< of the measurements
  const MeasuredRun* run = nullptr;
  const Cluster* cluster = nullptr;
  bool is_of_our_program = false;
  std::shared_ptr<const nccl::Decisions> decisions;  ///< null: of our program
  std::string nccl;                                  ///< the version that decides
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
  NcclProgram program;  ///< of our program: its name and channels alone
};

/// The first GPUs of the first nodes. Throws: InputError where there are not so many.
[[nodiscard]] Communicator first_gpus(const Cluster& cluster, std::uint32_t nodes,
                                      std::uint32_t gpus_per_node);

/// Absent where the size is less than an element a rank, or there is no time. Throws: InputError where NCCL has no program for the table's
/// collective.
[[nodiscard]] std::optional<MeasuredCall> measured_call(const MeasuredTable& table,
                                                        const MeasuredRow& row);

/// The time of one of many calls back to back, as nccl-tests measures it, with its attribution.
/// Requires: not of our program.
[[nodiscard]] CollectiveResult predict(const MeasuredCall& call, const CostParameters& costs,
                                       AttributeTo attribute = AttributeTo::Causes);

/// The same of a table of our program. Throws: InputError where there is no such program.
[[nodiscard]] CollectiveResult predict_our_program(const MeasuredCall& call);

}  // namespace collsim
