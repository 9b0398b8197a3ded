#include "sim/costs.hpp"

#include "topology/error.hpp"

namespace collsim {

namespace {

using enum CostItem;

constexpr std::int64_t whole = 1'000'000;

constexpr std::array<CostDefinition, cost_items> definitions{{
    {LaunchCollective, "launch", "collective", CostUnit::Picoseconds,
     "a collective: launch, start and end"},
    {LaunchSendRecv, "launch", "send_recv", CostUnit::Picoseconds,
     "a group of sends and receives: the same"},
    {LaunchPeer, "launch", "peer", CostUnit::Picoseconds, "each further peer of such a group"},
    {LaunchSymmetric, "launch", "symmetric", CostUnit::Picoseconds,
     "a kernel on symmetric memory: launch, start and end"},
    {LaunchCopyEngine, "launch", "copy_engine", CostUnit::Picoseconds,
     "a collective by copy engines: the same"},
    {LaunchIsolated, "launch", "isolated", CostUnit::Picoseconds,
     "more for a call that follows no other"},
    {LaunchProcess, "launch", "process", CostUnit::Picoseconds,
     "a process that launches for several GPUs: a call"},
    {LaunchProcessGpu, "launch", "process_gpu", CostUnit::Picoseconds,
     "the same, for each of its GPUs"},
    {LaunchGraph, "launch", "graph", CostUnit::Picoseconds, "more for a call in a CUDA graph"},
    {LLStart, "ll", "start", CostUnit::Picoseconds, "LL once a call, with the widest blocks"},
    {LL128Start, "ll128", "start", CostUnit::Picoseconds, "LL128 once a call"},
    {MulticastStart, "multicast", "start", CostUnit::Picoseconds, "NVLS once a call"},
    {LLWideCopy, "ll", "wide_copy", CostUnit::Picoseconds,
     "LL step of the widest block that copies: more than of the narrowest"},
    {LLWideReduce, "ll", "wide_reduce", CostUnit::Picoseconds,
     "LL step of the widest block that reduces: the same"},
    {LLPassCopy, "ll", "pass_copy", CostUnit::Picoseconds,
     "8 bytes a thread more in an LL step that copies"},
    {LLPassReduce, "ll", "pass_reduce", CostUnit::Picoseconds,
     "8 bytes a thread more in an LL step that reduces"},
    {SimpleSliceCopy, "simple", "slice_copy", CostUnit::Picoseconds,
     "a slice that is copied: synchronisation"},
    {SimpleSliceReduce, "simple", "slice_reduce", CostUnit::Picoseconds,
     "a slice that is reduced: synchronisation"},
    {MulticastStage, "multicast", "stage", CostUnit::Picoseconds,
     "a stage of NVLS for a loop: synchronisation"},
    {CopyEngineCopy, "copy_engine", "copy", CostUnit::Picoseconds, "a copy: its start"},
    {LLHopNvlink, "ll", "hop_nvlink", CostUnit::Picoseconds,
     "until the peer sees the flags, over NVLink, without the wire"},
    {LLHopPcie, "ll", "hop_pcie", CostUnit::Picoseconds, "the same over PCIe"},
    {LLHopHost, "ll", "hop_host", CostUnit::Picoseconds, "the same through the memory of the host"},
    {LLHopNetwork, "ll", "hop_network", CostUnit::Picoseconds,
     "the same over the network, without proxy and wire"},
    {LL128HopNvlink, "ll128", "hop_nvlink", CostUnit::Picoseconds,
     "until the peer sees the flags, over NVLink, without the wire"},
    {LL128HopPcie, "ll128", "hop_pcie", CostUnit::Picoseconds, "the same over PCIe"},
    {LL128HopHost, "ll128", "hop_host", CostUnit::Picoseconds,
     "the same through the memory of the host"},
    {LL128HopNetwork, "ll128", "hop_network", CostUnit::Picoseconds,
     "the same over the network, without proxy and wire"},
    {SimpleHandoffNvlink, "simple", "handoff_nvlink", CostUnit::Picoseconds,
     "until the peer sees that a slice is there, over NVLink, without the wire"},
    {SimpleHandoffPcie, "simple", "handoff_pcie", CostUnit::Picoseconds, "the same over PCIe"},
    {SimpleHandoffHost, "simple", "handoff_host", CostUnit::Picoseconds,
     "the same through the memory of the host"},
    {SimpleHandoffNetwork, "simple", "handoff_network", CostUnit::Picoseconds,
     "the same over the network, without proxy and wire"},
    {SendRecvHandoffNvlink, "send_recv", "handoff_nvlink", CostUnit::Picoseconds,
     "until the receiver sees a slice of a send, over NVLink, without the wire"},
    {SendRecvHandoffPcie, "send_recv", "handoff_pcie", CostUnit::Picoseconds, "the same over PCIe"},
    {SendRecvHandoffHost, "send_recv", "handoff_host", CostUnit::Picoseconds,
     "the same through the memory of the host"},
    {SendRecvHandoffNetwork, "send_recv", "handoff_network", CostUnit::Picoseconds,
     "the same over the network, without proxy and wire"},
    {MulticastHandoff, "multicast", "handoff", CostUnit::Picoseconds,
     "until a stage of NVLS sees the one before, without the wire"},
    {SymmetricBarrier, "symmetric", "barrier", CostUnit::Picoseconds,
     "until a block sees the flags of its peers, without the wire"},
    {CopyEngineBarrier, "copy_engine", "barrier", CostUnit::Picoseconds,
     "until a stream sees the flags of other GPUs, without the wire"},
    {SimpleChannelRate, "simple", "channel_rate", CostUnit::RateUnits,
     "what a block of 512 threads sends"},
    {SimpleNarrowRate, "simple", "narrow_rate", CostUnit::RateUnits,
     "the same where it reduces types of one byte"},
    {SimpleLocalRate, "simple", "local_rate", CostUnit::RateUnits,
     "what such a block receives into its own memory"},
    {SimpleUnevenness, "simple", "unevenness", CostUnit::Millionths,
     "by how much of the mean time blocks differ when they receive into their own memory"},
    {SimpleNarrowSaving, "simple", "narrow_saving", CostUnit::Millionths,
     "what of a slice's synchronisation and hand-off inside a node one narrow block saves"},
    {LL128GpuRate, "ll128", "gpu_rate", CostUnit::RateUnits,
     "what all blocks of a GPU move together"},
    {SendRecvLLRate, "send_recv", "ll_rate", CostUnit::RateUnits, "a send in LL, on a channel"},
    {SendRecvChannelRate, "send_recv", "channel_rate", CostUnit::RateUnits,
     "a send in Simple, on a channel"},
    {SendRecvReceiveRate, "send_recv", "receive_rate", CostUnit::RateUnits,
     "a receive, on a channel"},
    {MulticastCopyRate, "multicast", "copy_rate", CostUnit::RateUnits,
     "what a channel copies into and out of NVLS's staging buffers"},
    {SymmetricBlockRate, "symmetric", "block_rate", CostUnit::RateUnits,
     "a block that loads from peers or stores to them"},
    {SymmetricMulticastRate, "symmetric", "multicast_rate", CostUnit::RateUnits,
     "a block that reads or writes through the switch: bytes of its own part"},
    {SymmetricLLRate, "symmetric", "ll_rate", CostUnit::RateUnits,
     "a block that takes what peers push in LL"},
    {HostRate, "host", "rate", CostUnit::RateUnits,
     "what flows through the memory of a host have together, with one GPU that sends"},
    {HostLoss, "host", "loss", CostUnit::Millionths,
     "by how much of their time more each further GPU that sends makes them take"},
    {NetworkMessage, "network", "message", CostUnit::Picoseconds,
     "the proxy thread's work for a message"},
    {NetworkEager, "network", "eager", CostUnit::Bytes,
     "messages of more bytes on the wire ask the receiver first"},
    {NetworkRendezvous, "network", "rendezvous", CostUnit::Picoseconds,
     "until the receiver has answered them"},
    {NetworkLateness, "network", "lateness", CostUnit::Picoseconds,
     "by how much messages are late in the mean: of several GPUs' the last one counts"},
    {NetworkReduction, "network", "reduction", CostUnit::Picoseconds,
     "until the result of a reduction by switches is there, without the wire"},
    {LLNetworkRate, "ll", "network_rate", CostUnit::RateUnits,
     "lines that a block reads in host memory, where they arrive; in bytes on the wire"},
    {ShareNvlink, "share", "nvlink", CostUnit::Millionths,
     "of NVLink's and xGMI's nominal rate: rings and trees"},
    {ShareNvlinkSendRecv, "share", "nvlink_send_recv", CostUnit::Millionths,
     "the same: sends to several GPUs at once"},
    {ShareNvlinkMulticast, "share", "nvlink_multicast", CostUnit::Millionths, "the same: NVLS"},
    {ShareNvlinkCopyEngine, "share", "nvlink_copy_engine", CostUnit::Millionths,
     "the same: copy engines"},
    {SharePcie, "share", "pcie", CostUnit::Millionths, "of PCIe's nominal rate"},
    {ShareSocket, "share", "socket", CostUnit::Millionths, "of the nominal rate between sockets"},
    {ShareNetwork, "share", "network", CostUnit::Millionths,
     "of the NICs' and the fabric's nominal rate"},
    {ShareMemory, "share", "memory", CostUnit::Millionths,
     "of the nominal bandwidth of a GPU's memory: reads and writes together"},
}};

bool is_share_of_rate(CostItem item) { return item >= ShareNvlink; }

}  // namespace

std::string_view name_of(CostSource source) {
  switch (source) {
    case CostSource::Nominal:
      return "nominal";
    case CostSource::Literature:
      return "literature";
    case CostSource::Estimate:
      return "estimate";
    case CostSource::Measured:
      return "measured";
    case CostSource::Fitted:
      return "fitted";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::span<const CostDefinition> cost_definitions() { return definitions; }

const CostDefinition& definition_of(CostItem item) {
  return definitions[static_cast<std::size_t>(item)];
}

std::string name_of(CostItem item) {
  const CostDefinition& definition = definition_of(item);
  return std::string(definition.group) + "." + std::string(definition.key);
}

bool is_of_network(CostItem item) {
  switch (item) {
    case LLHopNetwork:
    case LL128HopNetwork:
    case SimpleHandoffNetwork:
    case SendRecvHandoffNetwork:
    case NetworkMessage:
    case NetworkEager:
    case NetworkRendezvous:
    case NetworkLateness:
    case NetworkReduction:
    case LLNetworkRate:
    case ShareNetwork:
      return true;
    default:
      return false;
  }
}

CostParameters::CostParameters() {
  for (const CostDefinition& definition : definitions) {
    if (is_share_of_rate(definition.item)) {
      values_[index(definition.item)].units = whole;
    }
  }
}

std::int64_t CostParameters::units(CostItem item, [[maybe_unused]] CostUnit unit) const {
  COLLSIM_DCHECK(definition_of(item).unit == unit, "a parameter read in another unit");
  return values_[index(item)].units;
}

Duration CostParameters::time(CostItem item) const {
  return Duration(units(item, CostUnit::Picoseconds));
}

std::optional<Bandwidth> CostParameters::rate(CostItem item) const {
  const std::int64_t value = units(item, CostUnit::RateUnits);
  return value == 0 ? std::nullopt : std::optional(Bandwidth::from_units(value));
}

std::int64_t CostParameters::share(CostItem item) const {
  return units(item, CostUnit::Millionths);
}

Bytes CostParameters::bytes(CostItem item) const { return Bytes(units(item, CostUnit::Bytes)); }

void CostParameters::set(CostItem item, CostValue value) {
  const std::int64_t least = is_share_of_rate(item) ? 1 : 0;
  const bool share = definition_of(item).unit == CostUnit::Millionths;
  const bool fits = value.units >= least && (!share || value.units <= whole);
  COLLSIM_ENSURE(fits, name_of(item) + " is out of range");
  values_[index(item)] = value;
}

void CostParameters::lay_over(const NetworkCosts& network) {
  for (const NetworkCosts::Item& item : network.items) {
    COLLSIM_ENSURE(is_of_network(item.item), name_of(item.item) + " is not of the network");
    set(item.item, item.value);
  }
  name += "+" + network.name;
}

}  // namespace collsim
