#pragma once

// What a run executes: per GPU an ordered list of operations, plus timed changes of link capacity.
// One collective is the workload of length one; back-to-back iterations, several communicators,
// overlap and faults are longer ones.

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "algorithms/program.hpp"
#include "topology/graph.hpp"

namespace collsim {

using Communicator = std::vector<DeviceId>;  ///< GPUs in rank order: any subset, any order

using OperationId = Id<struct OperationTag>;  ///< position in Workload::operations

/// Whether a GPU's next operation waits for this one.
enum class Launch : std::uint8_t {
  Blocking,      ///< the next one starts when this one is over on that GPU (one CUDA stream)
  Asynchronous,  ///< the next one may start at once (another stream); see Wait
};

/// One program on one communicator.
struct Collective {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Communicator> communicator;
  Launch launch = Launch::Blocking;
};

/// Every GPU of the communicator computes for a time.
struct Compute {
  std::shared_ptr<const Communicator> communicator;
  Duration time{};
  Launch launch = Launch::Blocking;
};

/// Every GPU of the communicator waits until an earlier operation is over on that GPU.
struct Wait {
  std::shared_ptr<const Communicator> communicator;
  OperationId operation;
};

struct CapacityChange {
  Time time;
  LinkId link;
  Bandwidth bandwidth;
};

/// `operations` in program order: a GPU runs those whose communicator holds it, in this order.
struct Workload {
  using Operation = std::variant<Collective, Compute, Wait>;
  std::vector<Operation> operations;
  std::vector<CapacityChange> capacity_changes;
};

}  // namespace collsim
