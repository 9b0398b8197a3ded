#include "study/sensitivities.hpp"

#include <algorithm>

#include "sim/step_costs.hpp"

namespace collsim {

namespace {

CostItem share_item(LinkKind kind, Kernel kernel) {
  switch (kind) {
    case LinkKind::Pcie:
      return CostItem::SharePcie;
    case LinkKind::Socket:
      return CostItem::ShareSocket;
    case LinkKind::Infiniband:
    case LinkKind::Ethernet:
      return CostItem::ShareNetwork;
    case LinkKind::Generic:
    case LinkKind::Nvlink:
    case LinkKind::Xgmi:
      break;
  }
  switch (kernel) {
    case Kernel::SendRecv:
      return CostItem::ShareNvlinkSendRecv;
    case Kernel::Multicast:
      return CostItem::ShareNvlinkMulticast;
    case Kernel::CopyEngine:
      return CostItem::ShareNvlinkCopyEngine;
    case Kernel::Collective:
    case Kernel::Symmetric:
    case Kernel::SymmetricMulticast:
      break;
  }
  return CostItem::ShareNvlink;
}

LinkKind kind_of_level(const Graph& graph, LevelId level) {
  const auto links = graph.links();
  const auto found = std::ranges::find(links, level, &Link::level);
  return found == links.end() ? LinkKind::Generic : found->kind;
}

}  // namespace

Sensitivities sensitivities(const Cluster& cluster, const Program& program,
                            const CollectiveResult& result) {
  Sensitivities parts{};
  const Kernel kernel = program.lane_count(Rank(0)) == 0
                            ? Kernel::Collective
                            : wire_kernel(program.lane(Rank(0), 0).kernel, program);
  const auto total = static_cast<double>(std::max<std::int64_t>(result.time.count(), 1));
  for (const AttributedTime& part : result.attribution) {
    const double of_total = static_cast<double>(part.time.count()) / total;
    if (part.parameter) {
      // The more of a rate or a share, the less time.
      const bool time = definition_of(*part.parameter).unit == CostUnit::Picoseconds;
      parts.at(static_cast<std::size_t>(*part.parameter)) += time ? of_total : -of_total;
    } else if (part.level && (part.cause == Cause::Wire || part.cause == Cause::Sharing)) {
      const CostItem item = share_item(kind_of_level(cluster.graph(), *part.level), kernel);
      parts.at(static_cast<std::size_t>(item)) -= of_total;
    }
  }
  return parts;
}

}  // namespace collsim
