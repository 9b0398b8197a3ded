#include "study/parameter_ratios.hpp"

namespace collsim {

std::optional<CostItem> leader_of(CostItem item) {
  using enum CostItem;
  switch (item) {
    case LLStart:
    case LaunchSendRecv:
      return LaunchCollective;
    case LLWideCopy:
    case LLWideReduce:
    case LLPassCopy:
    case LLPassReduce:
    case LL128HopNvlink:
    case LaunchPeer:
      return LLHopNvlink;
    case SendRecvHandoffNvlink:
      return SimpleHandoffNvlink;
    case SimpleSliceReduce:
      return SimpleSliceCopy;
    case ShareNvlinkSendRecv:
    case SimpleChannelRate:
    case SimpleNarrowRate:
    case LL128GpuRate:
      return ShareNvlink;
    case SendRecvLLRate:
    case SendRecvChannelRate:
    case SendRecvReceiveRate:
    case MulticastCopyRate:
      return SimpleLocalRate;
    case MulticastHandoff:
    case MulticastStart:
      return MulticastStage;
    default:
      return std::nullopt;
  }
}

}  // namespace collsim
