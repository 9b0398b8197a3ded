#pragma once

// What data can have of each link's nominal rate, at the start of a run and after each change of a
// link's bandwidth. The share is the cost parameters' (share_of), by the kind of the link and of the
// kernels that run in the workload; where several kinds do, the largest counts. Internal to the
// executor.

#include <array>

#include "sim/costs.hpp"
#include "sim/network.hpp"
#include "sim/workload.hpp"
#include "topology/graph.hpp"

namespace collsim::detail {

class LinkCapacities {
 public:
  /// Gives each link of `network` its capacity. `costs` may be null: all of the nominal rate.
  /// Requires: graph and network outlive this.
  /// Throws: InputError for a change of an unknown link, to no bandwidth, or before the run.
  LinkCapacities(const Graph& graph, const Workload& workload, const CostParameters* costs,
                 Network& network);

  /// Makes a change of the workload come true.
  void change(const CapacityChange& change);

 private:
  void find_kernels(const Workload& workload);
  [[nodiscard]] Bandwidth usable(LinkKind kind, Bandwidth nominal) const;

  const Graph* graph_;
  const CostParameters* costs_;
  Network* network_;
  static constexpr std::size_t kernels = static_cast<std::size_t>(Kernel::CopyEngine) + 1;
  std::array<bool, kernels> kernels_{};  ///< that run and cost something, by Kernel
};

}  // namespace collsim::detail
