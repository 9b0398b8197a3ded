#pragma once

// What running a collective costs besides the wire: named parameters, one set per GPU generation and
// library era (configs/parameters/*.yaml). Every time, rate and share that cannot be derived from the
// topology is one of them; nothing in the code is tuned.
//
// They cost the lanes of programs that name a protocol (Lane::protocol); all others cost nothing but
// the wire. Which step pays what: sim/step_costs.hpp. Forms and first values: the published cost
// structure of NCCL's kernels (NCCL 2.28.9, src/device/prims_*.h; Hu et al., "Demystifying NCCL",
// arXiv:2507.04786) and fits to measured tables.
// The bandwidth of a GPU's memory is its description's; what of it copies can have is share.memory.
// Ignored: GPU clocks, power, caches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/calibration_record.hpp"
#include "topology/units.hpp"

namespace collsim {

enum class CostItem : std::uint8_t {
  // Once a call, on each GPU.
  LaunchCollective,
  LaunchSendRecv,
  LaunchPeer,
  LaunchSymmetric,
  LaunchCopyEngine,
  LaunchIsolated,
  LaunchProcess,
  LaunchProcessGpu,
  LaunchGraph,
  LLStart,
  LL128Start,
  MulticastStart,
  // A step, while its lane is held.
  LLWideCopy,
  LLWideReduce,
  LLPassCopy,
  LLPassReduce,
  SimpleSliceCopy,
  SimpleSliceReduce,
  MulticastStage,
  CopyEngineCopy,
  // A message, after its bytes.
  LLHopNvlink,
  LLHopPcie,
  LLHopHost,
  LLHopNetwork,
  LL128HopNvlink,
  LL128HopPcie,
  LL128HopHost,
  LL128HopNetwork,
  SimpleHandoffNvlink,
  SimpleHandoffPcie,
  SimpleHandoffHost,
  SimpleHandoffNetwork,
  SendRecvHandoffNvlink,
  SendRecvHandoffPcie,
  SendRecvHandoffHost,
  SendRecvHandoffNetwork,
  MulticastHandoff,
  SymmetricBarrier,
  CopyEngineBarrier,
  // What threads can move.
  SimpleChannelRate,
  SimpleNarrowRate,
  SimpleLocalRate,
  SimpleUnevenness,
  SimpleNarrowSaving,
  LL128GpuRate,
  SendRecvLLRate,
  SendRecvChannelRate,
  SendRecvReceiveRate,
  MulticastCopyRate,
  SymmetricBlockRate,
  SymmetricMulticastRate,
  SymmetricLLRate,
  // Through the memory of a host.
  HostRate,
  HostLoss,
  // The network's software.
  NetworkMessage,
  NetworkEager,
  NetworkRendezvous,
  NetworkLateness,
  NetworkReduction,
  LLNetworkRate,
  // What of a link's nominal rate data can have.
  ShareNvlink,
  ShareNvlinkSendRecv,
  ShareNvlinkMulticast,
  ShareNvlinkCopyEngine,
  SharePcie,
  ShareSocket,
  ShareNetwork,
  // The same of a GPU's memory.
  ShareMemory,
};
inline constexpr std::size_t cost_items = static_cast<std::size_t>(CostItem::ShareMemory) + 1;

enum class CostUnit : std::uint8_t {
  Picoseconds,
  RateUnits,   ///< 2^-10 B/s, see Bandwidth; 0: no limit
  Millionths,  ///< of a share
  Bytes,       ///< a size
};

/// Where a value comes from.
enum class CostSource : std::uint8_t { Nominal, Literature, Estimate, Measured, Fitted };
[[nodiscard]] std::string_view name_of(CostSource source);

struct CostDefinition {
  CostItem item{};
  std::string_view group;  ///< of the YAML file: "simple"
  std::string_view key;    ///< in the group: "channel_rate"
  CostUnit unit{};
  std::string_view meaning;  ///< one line, for `list` and the reference
};

/// All of them, in the order of CostItem.
[[nodiscard]] std::span<const CostDefinition> cost_definitions();
[[nodiscard]] const CostDefinition& definition_of(CostItem item);
/// "simple.channel_rate".
[[nodiscard]] std::string name_of(CostItem item);

struct CostValue {
  std::int64_t units = 0;  ///< see CostUnit
  CostSource source = CostSource::Estimate;
  double standard_error = 0;  ///< relative, of fitted ones; 0: not told
};

/// Of the network and its software, which differ by fabric and not by GPU.
[[nodiscard]] bool is_of_network(CostItem item);

/// Values of one fabric, which are laid over those of a node.
struct NetworkCosts {
  struct Item {
    CostItem item{};
    CostValue value;
  };
  std::string name;         ///< of the file
  std::string description;  ///< one line
  std::vector<Item> items;  ///< each is_of_network
};

/// A set of values. Times of 0 cost nothing and rates of 0 do not limit, so a new set is free; shares
/// of rates are whole.
class CostParameters {
 public:
  CostParameters();

  [[nodiscard]] Duration time(CostItem item) const;
  /// Absent: no limit.
  [[nodiscard]] std::optional<Bandwidth> rate(CostItem item) const;
  /// In millionths.
  [[nodiscard]] std::int64_t share(CostItem item) const;
  [[nodiscard]] Bytes bytes(CostItem item) const;
  [[nodiscard]] const CostValue& value(CostItem item) const { return values_[index(item)]; }
  /// Requires: times and rates not negative, shares at most 1,000,000 and those of rates at least 1.
  void set(CostItem item, CostValue value);
  /// Takes the values of a fabric, and its name behind the own one: "nccl-hopper+net-ib-ndr".
  void lay_over(const NetworkCosts& network);

  // NOLINTBEGIN(misc-non-private-member-variables-in-classes): plain labels
  std::string name;         ///< of the file
  std::string description;  ///< one line
  std::optional<ParameterTier> tier;
  std::vector<CalibrationRecord> records;  ///< of the set and of those laid over it
      // NOLINTEND(misc-non-private-member-variables-in-classes)

 private:
  [[nodiscard]] static std::size_t index(CostItem item) { return static_cast<std::size_t>(item); }
  [[nodiscard]] std::int64_t units(CostItem item, CostUnit unit) const;

  std::array<CostValue, cost_items> values_{};
};

}  // namespace collsim
