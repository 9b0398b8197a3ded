#pragma once

// What closed forms are made of: all times in us, bytes a us (MB/s) for rates.

#include "algorithms/nccl/execution.hpp"
#include "sim/costs.hpp"
#include "tests/study/nccl_machine.hpp"

namespace collsim::test {

inline double microseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }
inline double megabytes_per_second(Bandwidth rate) {
  return static_cast<double>(rate.units()) / 1024 / 1e6;
}

/// A machine's costs and routes.
class FormTerms {
 public:
  explicit FormTerms(const NcclMachine& machine) : costs_(machine.costs()) {
    const Graph& graph = machine.cluster().graph();
    const Route route = machine.cluster().router().route(graph.gpus()[0], graph.gpus()[1]);
    latency_ = microseconds(route.latency);
    nominal_ = megabytes_per_second(graph.link(route.hops[0].link).bandwidth);
  }

  [[nodiscard]] double time(CostItem item) const { return microseconds(costs_.time(item)); }
  [[nodiscard]] double rate(CostItem item) const {
    return megabytes_per_second(costs_.rate(item).value());
  }
  /// 0 … 1.
  [[nodiscard]] double share(CostItem item) const {
    return static_cast<double>(costs_.share(item)) / 1e6;
  }
  /// Of a route from GPU to GPU.
  [[nodiscard]] double latency() const { return latency_; }
  /// What data can have of a GPU's link, by the share of a kernel.
  [[nodiscard]] double link(CostItem share) const {
    return nominal_ * static_cast<double>(costs_.share(share)) / 1e6;
  }

 private:
  const CostParameters& costs_;
  double latency_ = 0;
  double nominal_ = 0;
};

/// What NCCL makes of a call by an algorithm and protocol that are named.
inline nccl::Execution execution_by_name(const NcclMachine& machine, const CollectiveCall& call,
                                         nccl::Algorithm algorithm, nccl::Protocol protocol) {
  nccl::TunedChoice choice;
  choice.contender.algorithm = algorithm;
  choice.contender.protocol = protocol;
  return nccl::execution_of(machine.decisions(), call, choice);
}

}  // namespace collsim::test
