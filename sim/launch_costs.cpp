// What a GPU and its process pay once a call. See sim/step_costs.hpp.

#include <algorithm>
#include <vector>

#include "sim/block_width.hpp"
#include "sim/step_costs.hpp"

namespace collsim {

using detail::scaled;
using detail::width;

std::vector<CostPart> launch_costs(const CostParameters& costs, const Program& program, Rank rank,
                                   CallIs call, LaunchFrom launch) {
  std::vector<CostPart> parts;
  if (program.lane_count(rank) == 0) {
    return parts;
  }
  const Lane lane = program.lane(rank, 0);
  if (lane.protocol == WireProtocol::None) {
    return parts;
  }
  const auto add = [&](CostItem item, Duration time) {
    if (time > Duration{}) {
      parts.push_back({item, time});
    }
  };
  const auto add_whole = [&](CostItem item) { add(item, costs.time(item)); };
  if (is_symmetric(lane.kernel)) {
    add_whole(CostItem::LaunchSymmetric);
  } else if (lane.kernel == Kernel::CopyEngine) {
    add_whole(CostItem::LaunchCopyEngine);
  } else if (lane.kernel == Kernel::SendRecv) {
    add_whole(CostItem::LaunchSendRecv);
    const std::uint32_t peers = std::max(program.peers(rank), 1U);
    add(CostItem::LaunchPeer,
        static_cast<std::int64_t>(peers - 1) * costs.time(CostItem::LaunchPeer));
  } else {
    add_whole(CostItem::LaunchCollective);
    if (lane.kernel == Kernel::Multicast) {
      add_whole(CostItem::MulticastStart);
    } else if (lane.protocol == WireProtocol::LL) {
      const double wide = 0.4 * width(lane.threads) + (program.channels() > 1 ? 0.6 : 0.0);
      add(CostItem::LLStart, scaled(costs.time(CostItem::LLStart), wide));
    } else if (lane.protocol == WireProtocol::LL128) {
      add_whole(CostItem::LL128Start);
    }
  }
  if (call == CallIs::Isolated) {
    add_whole(CostItem::LaunchIsolated);
  }
  if (launch == LaunchFrom::CudaGraph) {
    add_whole(CostItem::LaunchGraph);
  }
  return parts;
}

Duration host_per_call(const CostParameters& costs, std::int64_t gpus) {
  if (gpus <= 1) {
    return Duration{};
  }
  return costs.time(CostItem::LaunchProcess) + gpus * costs.time(CostItem::LaunchProcessGpu);
}

}  // namespace collsim
