#include "sim/step_costs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "sim/block_width.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using detail::scaled;
using detail::whole_block;
using detail::width;

constexpr std::int64_t bytes_per_thread = 8;  // of a pass in LL

/// The time for `bytes` at so many parts of a rate; none where there is no limit.
Duration time_at(std::optional<Bandwidth> rate, Bytes bytes, std::int64_t parts,
                 std::int64_t of_parts) {
  if (!rate || bytes == Bytes(0)) {
    return Duration{};
  }
  std::int64_t units = 0;
  COLLSIM_ENSURE(!__builtin_mul_overflow(rate->units(), parts, &units), "a rate exceeds 64 bits");
  return transfer_time(bytes, Rate(units, of_parts));
}

bool reduces(Primitive primitive) {
  switch (primitive) {
    case Primitive::Reduce:
    case Primitive::ReduceSend:
    case Primitive::ReceiveReduceSend:
    case Primitive::ReceiveReduceCopy:
    case Primitive::ReceiveReduceCopySend:
      return true;
    default:
      return false;
  }
}

bool sends(Primitive primitive) {
  switch (primitive) {
    case Primitive::Send:
    case Primitive::CopySend:
    case Primitive::ReduceSend:
    case Primitive::ReceiveSend:
    case Primitive::ReceiveCopySend:
    case Primitive::ReceiveReduceSend:
    case Primitive::ReceiveReduceCopySend:
      return true;
    default:
      return false;
  }
}

/// By how much of the mean the time of a channel's local copy differs from it: each step deals out the
/// same four parts, which sum to nothing, in another order.
Duration uneven(const CostParameters& costs, const LaneWork& work, std::uint64_t step,
                Duration mean) {
  constexpr std::array<std::int64_t, channel_sorts> thirds{-3, -1, 1, 3};
  constexpr std::uint64_t mixer = 0x9e37'79b9'7f4a'7c15U;  // Fibonacci hashing: 2^64 / golden ratio
  constexpr std::uint32_t top_bits = 62;
  constexpr std::int64_t whole = 3'000'000;
  const std::uint64_t turn = ((step + 1) * mixer) >> top_bits;
  const std::int64_t part =
      thirds.at((work.channel + turn) % channel_sorts) * costs.share(CostItem::SimpleUnevenness);
  return scaled(mean, static_cast<double>(part) / whole);
}

/// What is left of a cost of Simple with blocks like these: a whole at 16 wide ones.
double wide_part(const CostParameters& costs, const LaneWork& work) {
  constexpr double whole = 1'000'000;
  constexpr int of_all = 5;  // bit_width(16)
  const int doublings = std::min(static_cast<int>(std::bit_width(work.channels)), of_all);
  const double wide = width(work.threads) * doublings / of_all;
  const double saving = static_cast<double>(costs.share(CostItem::SimpleNarrowSaving)) / whole;
  return 1 - saving * (1 - wide);
}

StepCost simple_cost(const CostParameters& costs, const LaneWork& work, const StepWork& step) {
  if (step.movement == Movement::Multimem) {
    // The fabric's switches do it, and no block. Messages bring what a reduction takes; where there are
    // none, the first result does, and the others come behind it.
    StepCost cost;
    cost.held.item = CostItem::NetworkReduction;
    if (!sends(step.primitive) && step.index == 0) {
      cost.held.time = costs.time(CostItem::NetworkReduction);
    }
    return cost;
  }
  const Primitive primitive = step.primitive;
  const bool reducing = reduces(primitive);
  StepCost cost;
  cost.held.item = reducing ? CostItem::SimpleSliceReduce : CostItem::SimpleSliceCopy;
  if (!step.continues) {
    cost.held.time = scaled(costs.time(cost.held.item), wide_part(costs, work));
  }
  cost.work.item = CostItem::SimpleLocalRate;
  if (sends(primitive)) {
    const bool narrow = reducing && work.narrow && costs.rate(CostItem::SimpleNarrowRate);
    cost.work.item = narrow ? CostItem::SimpleNarrowRate : CostItem::SimpleChannelRate;
  }
  cost.work.time = time_at(costs.rate(cost.work.item), step.bytes, work.threads, whole_block);
  if (cost.work.item == CostItem::SimpleLocalRate) {
    cost.work.time += uneven(costs, work, step.index, cost.work.time);
  }
  return cost;
}

StepCost ll_cost(const CostParameters& costs, const LaneWork& work, const StepWork& step) {
  const Primitive primitive = step.primitive;
  const bool reducing = reduces(primitive);
  const double q = width(work.threads);
  const double wide = 0.75 * q * std::sqrt(q) + (work.channels > 1 ? 0.25 : 0.0);
  StepCost cost;
  if (sends(primitive)) {
    cost.held.item = reducing ? CostItem::LLWideReduce : CostItem::LLWideCopy;
    cost.held.time = scaled(costs.time(cost.held.item), wide);
  }
  const std::int64_t pass = bytes_per_thread * std::max<std::int64_t>(work.threads, 1);
  const std::int64_t passes = (step.bytes.count() + pass - 1) / pass;
  cost.work.item = reducing ? CostItem::LLPassReduce : CostItem::LLPassCopy;
  cost.work.time = std::max<std::int64_t>(passes - 1, 0) * costs.time(cost.work.item);
  return cost;
}

StepCost send_recv_cost(const CostParameters& costs, const LaneWork& work, const StepWork& step) {
  StepCost cost;
  if (work.protocol == WireProtocol::LL) {
    cost.work.item = CostItem::SendRecvLLRate;
    // The receiver takes each line as it comes.
    if (step.primitive != Primitive::Receive) {
      cost.work.time = time_at(costs.rate(CostItem::SendRecvLLRate), step.bytes, 1, 1);
    }
    return cost;
  }
  cost.work.item = step.primitive == Primitive::Receive ? CostItem::SendRecvReceiveRate
                                                        : CostItem::SendRecvChannelRate;
  // A block's threads are divided among its sends and receives: half of them are one send's.
  const std::uint32_t threads = std::min(work.threads, whole_block / 2);
  cost.work.time = time_at(costs.rate(cost.work.item), step.bytes, threads, whole_block / 2);
  return cost;
}

/// Of NVLS: scatter and gather copy. What one primitive does in several steps is copied once.
bool copies_of_multicast(const StepWork& step) {
  const bool goes_on = step.continues && sends(step.primitive);
  const bool in_registers = (step.movement == Movement::Route && (step.to_scratch || goes_on)) ||
                            (step.movement == Movement::Post && !step.to_scratch && goes_on);
  return step.movement != Movement::Multimem && !in_registers;
}

StepCost multicast_cost(const CostParameters& costs, const StepWork& step) {
  StepCost cost;
  cost.held.item = CostItem::MulticastStage;
  if (!step.continues) {
    cost.held.time = costs.time(CostItem::MulticastStage);
  }
  cost.work.item = CostItem::MulticastCopyRate;
  if (copies_of_multicast(step)) {
    cost.work.time = time_at(costs.rate(CostItem::MulticastCopyRate), step.bytes, 1, 1);
  }
  return cost;
}

StepCost symmetric_cost(const CostParameters& costs, const LaneWork& work, const StepWork& step) {
  StepCost cost;
  if (work.protocol == WireProtocol::LL) {
    cost.work.item = CostItem::SymmetricLLRate;
    // Pushing is quicker than looking at all lines of all peers.
    cost.work.time = time_at(costs.rate(CostItem::SymmetricLLRate),
                             static_cast<std::int64_t>(step.received) * step.bytes, 1, 1);
  } else if (step.movement == Movement::Multimem) {
    cost.work.item = CostItem::SymmetricMulticastRate;
    cost.work.time = time_at(costs.rate(CostItem::SymmetricMulticastRate), step.bytes, 1, 1);
  } else if (step.movement == Movement::Route && sends(step.primitive)) {
    cost.work.item = CostItem::SymmetricBlockRate;
    cost.work.time = time_at(costs.rate(CostItem::SymmetricBlockRate), step.bytes, 1, 1);
  }
  return cost;
}

StepCost copy_engine_cost(const CostParameters& costs, const StepWork& step) {
  StepCost cost;
  cost.held.item = CostItem::CopyEngineCopy;
  const bool copies = sends(step.primitive) || step.primitive == Primitive::Copy;
  if (copies && step.bytes > Bytes(0)) {
    cost.held.time = costs.time(CostItem::CopyEngineCopy);
  }
  return cost;
}

/// What messages pay on paths of each kind.
struct ByPath {
  CostItem nvlink;
  CostItem pcie;
  CostItem host;
  CostItem network;
};

CostItem of_path(PathKind path, const ByPath& items) {
  switch (path) {
    case PathKind::Nvlink:
      return items.nvlink;
    case PathKind::Pcie:
      return items.pcie;
    case PathKind::Host:
      return items.host;
    case PathKind::Network:
      return items.network;
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

CostItem message_item(const LaneWork& work, PathKind path) {
  using enum CostItem;
  if (work.protocol == WireProtocol::LL) {
    return of_path(path, {LLHopNvlink, LLHopPcie, LLHopHost, LLHopNetwork});
  }
  if (work.protocol == WireProtocol::LL128) {
    return of_path(path, {LL128HopNvlink, LL128HopPcie, LL128HopHost, LL128HopNetwork});
  }
  if (is_symmetric(work.kernel)) {
    return SymmetricBarrier;
  }
  if (work.kernel == Kernel::CopyEngine) {
    return CopyEngineBarrier;
  }
  if (work.kernel == Kernel::SendRecv) {
    return of_path(path, {SendRecvHandoffNvlink, SendRecvHandoffPcie, SendRecvHandoffHost,
                          SendRecvHandoffNetwork});
  }
  if (work.kernel == Kernel::Multicast && path != PathKind::Network) {
    return MulticastHandoff;
  }
  return of_path(path,
                 {SimpleHandoffNvlink, SimpleHandoffPcie, SimpleHandoffHost, SimpleHandoffNetwork});
}

}  // namespace

PathKind kind_of(const Graph& graph, const Route& route) {
  PathKind kind = PathKind::Nvlink;
  for (const RouteHop& hop : route.hops) {
    switch (graph.link(hop.link).kind) {
      case LinkKind::Infiniband:
      case LinkKind::Ethernet:
        return PathKind::Network;
      case LinkKind::Pcie:
      case LinkKind::Socket:
        kind = PathKind::Pcie;
        break;
      case LinkKind::Generic:
      case LinkKind::Nvlink:
      case LinkKind::Xgmi:
        break;
    }
  }
  return kind;
}

namespace {

/// What a step costs with all the memory's bandwidth it wants.
StepCost cost_of_threads(const CostParameters& costs, const LaneWork& work, const StepWork& step) {
  if (work.kernel == Kernel::SendRecv) {
    return send_recv_cost(costs, work, step);
  }
  if (work.kernel == Kernel::Multicast) {
    return multicast_cost(costs, step);
  }
  if (is_symmetric(work.kernel)) {
    return symmetric_cost(costs, work, step);
  }
  if (work.kernel == Kernel::CopyEngine) {
    return copy_engine_cost(costs, step);
  }
  switch (work.protocol) {
    case WireProtocol::Simple:
      return simple_cost(costs, work, step);
    case WireProtocol::LL:
      return ll_cost(costs, work, step);
    case WireProtocol::LL128: {
      StepCost cost;
      cost.work.item = CostItem::LL128GpuRate;
      cost.work.time = time_at(costs.rate(CostItem::LL128GpuRate), step.bytes, 1, work.channels);
      return cost;
    }
    case WireProtocol::None:
      break;
  }
  COLLSIM_ENSURE(false, "a step without a protocol costs nothing");
}

}  // namespace

StepCost step_cost(const CostParameters& costs, const LaneWork& work, const StepWork& step) {
  StepCost cost = cost_of_threads(costs, work, step);
  if (work.memory > Bandwidth{}) {
    const Duration in_memory = time_at(work.memory, memory_bytes(work, step), 1, 1);
    if (in_memory > cost.work.time) {
      cost.work = {CostItem::ShareMemory, in_memory};
    }
  }
  return cost;
}

bool is_uneven(const CostParameters& costs, WireProtocol protocol, Kernel kernel) {
  return protocol == WireProtocol::Simple && kernel == Kernel::Collective &&
         costs.share(CostItem::SimpleUnevenness) != 0;
}

Bytes memory_bytes(const LaneWork& work, const StepWork& step) {
  constexpr std::int64_t copy_and_switch = 3;
  if (work.kernel == Kernel::Multicast) {
    return copies_of_multicast(step) ? copy_and_switch * step.bytes : Bytes(0);
  }
  if (step.movement == Movement::Multimem && !is_symmetric(work.kernel)) {
    return Bytes(0);
  }
  const std::int64_t own = std::int64_t{step.own_reads} + std::int64_t{step.own_writes};
  const bool has_fifo = work.kernel == Kernel::Collective || work.kernel == Kernel::SendRecv ||
                        work.protocol == WireProtocol::LL;
  const std::int64_t of_fifo = has_fifo ? 2 * std::int64_t{step.received} : 0;
  return own * step.bytes + of_fifo * on_wire(work.protocol, step.bytes);
}

CostPart message_cost(const CostParameters& costs, const LaneWork& work, PathKind path) {
  const CostItem item = message_item(work, path);
  const bool simple = item == CostItem::SimpleHandoffNvlink ||
                      item == CostItem::SimpleHandoffPcie || item == CostItem::SimpleHandoffHost;
  return {item, simple ? scaled(costs.time(item), wide_part(costs, work)) : costs.time(item)};
}

WireFactor wire_factor(WireProtocol protocol) {
  switch (protocol) {
    case WireProtocol::LL:
      return {2, 1};
    case WireProtocol::LL128:
      return {16, 15};
    default:
      return {1, 1};
  }
}

Bytes on_wire(WireProtocol protocol, Bytes data) {
  const WireFactor factor = wire_factor(protocol);
  const auto parts = static_cast<std::int64_t>(factor.denominator);
  return Bytes((data.count() * static_cast<std::int64_t>(factor.numerator) + parts - 1) / parts);
}

NetworkDelay network_delay(const CostParameters& costs, const LaneWork& work, Bytes on_wire) {
  NetworkDelay delay;
  if (on_wire > costs.bytes(CostItem::NetworkEager)) {
    delay.rendezvous = costs.time(CostItem::NetworkRendezvous);
  }
  const Duration mean = costs.time(CostItem::NetworkLateness);
  for (std::int64_t k = 2; k <= static_cast<std::int64_t>(work.proxies); ++k) {
    delay.lateness += mean / k;
  }
  if (work.protocol == WireProtocol::LL) {
    delay.lines = time_at(costs.rate(CostItem::LLNetworkRate), on_wire, 1, 1);
  }
  return delay;
}

Kernel wire_kernel(Kernel kernel, const Program& program) {
  constexpr std::uint32_t itself_and_one = 2;
  const bool one = kernel == Kernel::SendRecv && program.peers(Rank(0)) <= itself_and_one;
  if (kernel == Kernel::SymmetricMulticast) {
    return Kernel::Multicast;
  }
  return one || kernel == Kernel::Symmetric ? Kernel::Collective : kernel;
}

std::int64_t share_of(const CostParameters& costs, LinkKind kind, Kernel kernel) {
  switch (kind) {
    case LinkKind::Nvlink:
    case LinkKind::Xgmi:
      switch (kernel) {
        case Kernel::Collective:
        case Kernel::Symmetric:
          return costs.share(CostItem::ShareNvlink);
        case Kernel::SendRecv:
          return costs.share(CostItem::ShareNvlinkSendRecv);
        case Kernel::Multicast:
        case Kernel::SymmetricMulticast:
          return costs.share(CostItem::ShareNvlinkMulticast);
        case Kernel::CopyEngine:
          return costs.share(CostItem::ShareNvlinkCopyEngine);
      }
      break;
    case LinkKind::Pcie:
      return costs.share(CostItem::SharePcie);
    case LinkKind::Socket:
      return costs.share(CostItem::ShareSocket);
    case LinkKind::Infiniband:
    case LinkKind::Ethernet:
      return costs.share(CostItem::ShareNetwork);
    case LinkKind::Generic:
      break;
  }
  constexpr std::int64_t whole = 1'000'000;
  return whole;
}

}  // namespace collsim
