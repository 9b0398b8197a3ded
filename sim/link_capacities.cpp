#include "sim/link_capacities.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "sim/step_costs.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

void check_changes(const Graph& graph, const Workload& workload) {
  for (std::size_t number = 0; number < workload.capacity_changes.size(); ++number) {
    const CapacityChange& change = workload.capacity_changes[number];
    const std::string path = "capacity_changes[" + std::to_string(number) + "]";
    if (change.link.index() >= graph.links().size()) {
      throw InputError("there is no link " + std::to_string(change.link.value()), path);
    }
    if (change.bandwidth <= Bandwidth{}) {
      throw InputError("a link's bandwidth must be positive", path);
    }
    if (change.time < Time{}) {
      throw InputError("lies before the start of the run", path);
    }
  }
}

}  // namespace

LinkCapacities::LinkCapacities(const Graph& graph, const Workload& workload,
                               const CostParameters* costs, Network& network)
    : graph_(&graph), costs_(costs), network_(&network) {
  check_changes(graph, workload);
  if (costs == nullptr) {
    return;
  }
  find_kernels(workload);
  for (std::uint32_t number = 0; number < graph.links().size(); ++number) {
    const Link& link = graph.links()[number];
    const Bandwidth rate = usable(link.kind, link.bandwidth);
    if (rate != link.bandwidth) {
      network.set_capacity(LinkId(number), rate);
    }
  }
  network.settle();
}

void LinkCapacities::change(const CapacityChange& change) {
  network_->set_capacity(change.link, usable(graph_->link(change.link).kind, change.bandwidth));
}

void LinkCapacities::find_kernels(const Workload& workload) {
  for (const Workload::Operation& operation : workload.operations) {
    const auto* collective = std::get_if<Collective>(&operation);
    if (collective == nullptr || collective->program->lane_count(Rank(0)) == 0) {
      continue;
    }
    const Lane lane = collective->program->lane(Rank(0), 0);
    if (lane.protocol != WireProtocol::None) {
      kernels_.at(static_cast<std::size_t>(wire_kernel(lane.kernel, *collective->program))) = true;
    }
  }
}

Bandwidth LinkCapacities::usable(LinkKind kind, Bandwidth nominal) const {
  constexpr std::int64_t whole = 1'000'000;
  std::int64_t share = 0;
  for (const Kernel kernel :
       {Kernel::Collective, Kernel::SendRecv, Kernel::Multicast, Kernel::CopyEngine}) {
    if (kernels_.at(static_cast<std::size_t>(kernel))) {
      share = std::max(share, share_of(*costs_, kind, kernel));
    }
  }
  if (share == 0 || share == whole) {
    return nominal;
  }
  const auto units = static_cast<std::int64_t>(static_cast<U128>(nominal.units()) *
                                               static_cast<U128>(share) / whole);
  return Bandwidth::from_units(std::max<std::int64_t>(units, 1));
}

}  // namespace collsim::detail
