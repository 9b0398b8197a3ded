#include "sim/memory_parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "sim/step_costs.hpp"
#include "topology/described_memory.hpp"

namespace collsim::detail {

namespace {

constexpr U128 whole = 1'000'000;

/// Of a lane of the rank, which all have the same kernel. Absent: nothing that costs.
std::optional<Kernel> kernel_of(const Program& program, Rank rank) {
  if (program.lane_count(rank) == 0) {
    return std::nullopt;
  }
  const Lane lane = program.lane(rank, 0);
  return lane.protocol == WireProtocol::None ? std::nullopt : std::optional(lane.kernel);
}

std::int64_t most_accesses(Kernel kernel) {
  switch (kernel) {
    case Kernel::Multicast:
      return 6;
    case Kernel::CopyEngine:
      return 3;
    default:
      return 5;
  }
}

/// Units of bandwidth that a GPU sends to neighbours of one sort, at most.
U128 rate_of_links(const Graph& graph, const CostParameters& costs, Kernel kernel, DeviceId gpu) {
  constexpr std::size_t sorts = 8;
  std::array<U128, sorts> sums{};
  for (const LinkId id : graph.links_out(gpu)) {
    const Link& link = graph.link(id);
    const auto share = static_cast<U128>(share_of(costs, link.kind, kernel));
    sums.at(static_cast<std::size_t>(graph.device(link.target).kind)) +=
        static_cast<U128>(link.bandwidth.units()) * share / whole;
  }
  return *std::ranges::max_element(sums);
}

/// What copies can have of a GPU's memory, in units. Absent: not described, or more than its links ask for.
std::optional<U128> scarce_memory(const Cluster& cluster, const CostParameters& costs,
                                  const Program& program, Rank rank, DeviceId gpu) {
  const std::optional<Kernel> kernel = kernel_of(program, rank);
  const MemoryLevelSpec* const memory = memory_of(cluster, gpu);
  if (!kernel || memory == nullptr || !memory->bandwidth) {
    return std::nullopt;
  }
  const U128 units = static_cast<U128>(memory->bandwidth->value.units()) *
                     static_cast<U128>(costs.share(CostItem::ShareMemory)) / whole;
  const U128 asked = static_cast<U128>(most_accesses(*kernel)) *
                     rate_of_links(cluster.graph(), costs, wire_kernel(*kernel, program), gpu);
  return units < asked ? std::optional(units) : std::nullopt;
}

/// Lanes of a rank that read and write its memory at once. Of NVLS scatter and gather do.
std::uint64_t lanes_at_once(const Program& program, Rank rank) {
  if (kernel_of(program, rank) == Kernel::Multicast) {
    const bool both = program.call().kind == CollectiveKind::AllReduce;
    return std::uint64_t{program.channels()} * (both ? 2 : 1);
  }
  std::uint64_t lanes = 0;
  for (std::uint32_t number = 0; number < program.lane_count(rank); ++number) {
    const Lane lane = program.lane(rank, number);
    const bool works = lane.threads > 0 && program.step_count(rank, number) > 0;
    lanes += works ? lane.multiplicity : 0;
  }
  return std::max<std::uint64_t>(lanes, 1);
}

}  // namespace

Bandwidth memory_part(const Cluster& cluster, const CostParameters& costs, const Program& program,
                      Rank rank, DeviceId gpu) {
  const std::optional<U128> memory = scarce_memory(cluster, costs, program, rank, gpu);
  if (!memory) {
    return {};
  }
  const U128 part = *memory / lanes_at_once(program, rank);
  return Bandwidth::from_units(std::max<std::int64_t>(static_cast<std::int64_t>(part), 1));
}

bool memory_limits(const Cluster& cluster, const CostParameters& costs, const Workload& workload) {
  for (const Workload::Operation& operation : workload.operations) {
    const auto* const collective = std::get_if<Collective>(&operation);
    if (collective == nullptr) {
      continue;
    }
    const Communicator& gpus = *collective->communicator;
    for (std::uint32_t rank = 0; rank < gpus.size(); ++rank) {
      if (scarce_memory(cluster, costs, *collective->program, Rank(rank), gpus[rank])) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace collsim::detail
