#include "sim/attribution.hpp"

namespace collsim {

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::Compute:
      return "compute";
    case Cause::Launch:
      return "launch";
    case Cause::Step:
      return "step";
    case Cause::Copy:
      return "copy";
    case Cause::HandOff:
      return "hand_off";
    case Cause::Proxy:
      return "proxy";
    case Cause::CreditWait:
      return "credit_wait";
    case Cause::Wire:
      return "wire";
    case Cause::Sharing:
      return "sharing";
    case Cause::Latency:
      return "latency";
  }
  return "unknown";
}

Cause cause_of(CostItem item) {
  switch (item) {
    case CostItem::LaunchCollective:
    case CostItem::LaunchSendRecv:
    case CostItem::LaunchPeer:
    case CostItem::LaunchSymmetric:
    case CostItem::LaunchCopyEngine:
    case CostItem::LaunchIsolated:
    case CostItem::LaunchProcess:
    case CostItem::LaunchProcessGpu:
    case CostItem::LaunchGraph:
    case CostItem::LLStart:
    case CostItem::LL128Start:
    case CostItem::MulticastStart:
      return Cause::Launch;
    case CostItem::LLWideCopy:
    case CostItem::LLWideReduce:
    case CostItem::LLPassCopy:
    case CostItem::LLPassReduce:
    case CostItem::SimpleSliceCopy:
    case CostItem::SimpleSliceReduce:
    case CostItem::MulticastStage:
    case CostItem::CopyEngineCopy:
      return Cause::Step;
    case CostItem::SimpleChannelRate:
    case CostItem::SimpleNarrowRate:
    case CostItem::SimpleLocalRate:
    case CostItem::SimpleUnevenness:
    case CostItem::SimpleNarrowSaving:
    case CostItem::LL128GpuRate:
    case CostItem::SendRecvLLRate:
    case CostItem::SendRecvChannelRate:
    case CostItem::SendRecvReceiveRate:
    case CostItem::MulticastCopyRate:
    case CostItem::SymmetricBlockRate:
    case CostItem::SymmetricMulticastRate:
    case CostItem::SymmetricLLRate:
    case CostItem::ShareMemory:
      return Cause::Copy;
    case CostItem::HostRate:
    case CostItem::HostLoss:
      return Cause::Sharing;
    case CostItem::NetworkMessage:
      return Cause::Proxy;
    case CostItem::ShareNvlink:
    case CostItem::ShareNvlinkSendRecv:
    case CostItem::ShareNvlinkMulticast:
    case CostItem::ShareNvlinkCopyEngine:
    case CostItem::SharePcie:
    case CostItem::ShareSocket:
    case CostItem::ShareNetwork:
    case CostItem::NetworkEager:
      return Cause::Wire;  // these change what others take: no time is theirs
    default:
      return Cause::HandOff;
  }
}

AttributionLayout::AttributionLayout(std::size_t levels, const CostItemSet& items)
    : levels_(levels), size_(2 + 3 * levels) {
  for (std::size_t item = 0; item < cost_items; ++item) {
    if (items.test(item)) {
      places_[item] = static_cast<std::uint16_t>(size_++);
    }
  }
}

std::vector<AttributedTime> AttributionLayout::parts(const std::int64_t* vector) const {
  std::vector<AttributedTime> parts;
  const auto add = [&](Cause cause, std::optional<LevelId> level, std::size_t position) {
    if (vector[position] != 0) {
      parts.push_back({cause, level, std::nullopt, Duration(vector[position])});
    }
  };
  add(Cause::Compute, std::nullopt, compute());
  for (std::size_t i = 0; i < cost_items; ++i) {
    if (places_[i] != 0 && vector[places_[i]] != 0) {
      const auto item = static_cast<CostItem>(i);
      parts.push_back({cause_of(item), std::nullopt, item, Duration(vector[places_[i]])});
    }
  }
  add(Cause::CreditWait, std::nullopt, credit_wait());
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::Wire, LevelId(l), wire(LevelId(l)));
  }
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::Sharing, LevelId(l), sharing(LevelId(l)));
  }
  for (std::size_t l = 0; l < levels_; ++l) {
    add(Cause::Latency, LevelId(l), latency(LevelId(l)));
  }
  return parts;
}

}  // namespace collsim
