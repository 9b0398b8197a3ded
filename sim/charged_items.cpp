#include "sim/charged_items.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

#include "sim/memory_parts.hpp"

namespace collsim::detail {

namespace {

using enum CostItem;

void add(CostItemSet& set, std::initializer_list<CostItem> items) {
  for (const CostItem item : items) {
    set.set(static_cast<std::size_t>(item));
  }
}

void add_launch(CostItemSet& set, WireProtocol protocol, Kernel kernel) {
  add(set, {LaunchIsolated, LaunchGraph});
  if (kernel == Kernel::SendRecv) {
    add(set, {LaunchSendRecv, LaunchPeer});
    return;
  }
  if (is_symmetric(kernel)) {
    add(set, {LaunchSymmetric});
    return;
  }
  if (kernel == Kernel::CopyEngine) {
    add(set, {LaunchCopyEngine});
    return;
  }
  add(set, {LaunchCollective});
  if (kernel == Kernel::Multicast) {
    add(set, {MulticastStart});
  } else if (protocol == WireProtocol::LL) {
    add(set, {LLStart});
  } else if (protocol == WireProtocol::LL128) {
    add(set, {LL128Start});
  }
}

void add_steps(CostItemSet& set, WireProtocol protocol, Kernel kernel) {
  add(set, {ShareMemory});
  if (kernel == Kernel::SendRecv) {
    add(set, {SendRecvLLRate, SendRecvChannelRate, SendRecvReceiveRate});
  } else if (kernel == Kernel::Multicast) {
    add(set, {MulticastStage, MulticastCopyRate});
  } else if (is_symmetric(kernel)) {
    add(set, {SymmetricBlockRate, SymmetricMulticastRate, SymmetricLLRate});
  } else if (kernel == Kernel::CopyEngine) {
    add(set, {CopyEngineCopy});
  } else if (protocol == WireProtocol::LL) {
    add(set, {LLWideCopy, LLWideReduce, LLPassCopy, LLPassReduce});
  } else if (protocol == WireProtocol::LL128) {
    add(set, {LL128GpuRate});
  } else {
    add(set,
        {SimpleSliceCopy, SimpleSliceReduce, SimpleChannelRate, SimpleNarrowRate, SimpleLocalRate});
  }
}

void add_messages(CostItemSet& set, WireProtocol protocol, Kernel kernel) {
  add(set, {HostRate, NetworkMessage, NetworkRendezvous, NetworkLateness, NetworkReduction});
  if (protocol == WireProtocol::LL) {
    add(set, {LLHopNvlink, LLHopPcie, LLHopHost, LLHopNetwork, LLNetworkRate});
  } else if (protocol == WireProtocol::LL128) {
    add(set, {LL128HopNvlink, LL128HopPcie, LL128HopHost, LL128HopNetwork});
  } else if (kernel == Kernel::SendRecv) {
    add(set,
        {SendRecvHandoffNvlink, SendRecvHandoffPcie, SendRecvHandoffHost, SendRecvHandoffNetwork});
  } else if (is_symmetric(kernel)) {
    add(set, {SymmetricBarrier});
  } else if (kernel == Kernel::CopyEngine) {
    add(set, {CopyEngineBarrier});
  } else if (kernel == Kernel::Multicast) {
    add(set, {MulticastHandoff, SimpleHandoffNetwork});
  } else {
    add(set, {SimpleHandoffNvlink, SimpleHandoffPcie, SimpleHandoffHost, SimpleHandoffNetwork});
  }
}

}  // namespace

CostItemSet charged_items(WireProtocol protocol, Kernel kernel) {
  CostItemSet set;
  if (protocol != WireProtocol::None) {
    add_launch(set, protocol, kernel);
    add_steps(set, protocol, kernel);
    add_messages(set, protocol, kernel);
  }
  return set;
}

CostItemSet charged_items(const Cluster& cluster, const Workload& workload,
                          const CostParameters& costs) {
  CostItemSet set;
  std::vector<const Program*> seen;
  std::vector<std::pair<WireProtocol, Kernel>> sorts;
  for (const Workload::Operation& operation : workload.operations) {
    const auto* collective = std::get_if<Collective>(&operation);
    if (collective == nullptr || std::ranges::find(seen, collective->program.get()) != seen.end()) {
      continue;
    }
    const Program& program = *seen.emplace_back(collective->program.get());
    for (std::uint32_t rank = 0; rank < collective->communicator->size(); ++rank) {
      for (std::uint32_t number = 0; number < program.lane_count(Rank(rank)); ++number) {
        const Lane lane = program.lane(Rank(rank), number);
        const std::pair sort(lane.protocol, lane.kernel);
        if (std::ranges::find(sorts, sort) == sorts.end()) {
          sorts.push_back(sort);
          set |= charged_items(lane.protocol, lane.kernel);
        }
      }
    }
  }
  if (!memory_limits(cluster, costs, workload)) {
    set.reset(static_cast<std::size_t>(ShareMemory));
  }
  return set;
}

}  // namespace collsim::detail
