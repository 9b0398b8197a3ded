#pragma once

// Which GPUs a workload runs on, and which rank each of them has in which operation. Operations
// that share a communicator share its tables. Internal to the executor.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/workload.hpp"
#include "topology/graph.hpp"

namespace collsim::detail {

using GpuIndex = std::uint32_t;  ///< position in Participants::gpus()

class Participants {
 public:
  /// Throws: InputError for a communicator that is empty, or holds a GPU twice or a device that is
  /// none; for a program of another number of ranks; for a Wait for a later operation, or for one
  /// that a GPU of the Wait takes no part in.
  Participants(const Graph& graph, const Workload& workload);

  /// All GPUs of all communicators, by device.
  [[nodiscard]] std::span<const DeviceId> gpus() const { return gpus_; }
  /// The GPU of each rank of an operation.
  [[nodiscard]] std::span<const GpuIndex> ranks(OperationId operation) const {
    return communicators_[communicator_of_[operation.index()]].gpu_of_rank;
  }
  /// A GPU's rank in an operation; absent: it takes no part. Complexity: O(log ranks).
  [[nodiscard]] std::optional<Rank> rank_of(OperationId operation, GpuIndex gpu) const;

 private:
  struct Entry {
    GpuIndex gpu = 0;
    Rank rank;
  };
  struct Table {
    const Communicator* communicator = nullptr;
    std::vector<GpuIndex> gpu_of_rank;
    std::vector<Entry> by_gpu;  ///< ascending
  };
  void collect(const Graph& graph, const Workload& workload);
  void number_gpus();
  void check_waits(const Graph& graph, const Workload& workload) const;

  std::vector<DeviceId> gpus_;
  std::vector<Table> communicators_;
  std::vector<std::uint32_t> communicator_of_;  ///< by OperationId
};

/// The communicator of any kind of operation.
[[nodiscard]] const Communicator* communicator_of(const Workload::Operation& operation);

}  // namespace collsim::detail
