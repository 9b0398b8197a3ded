#pragma once

// What the flows of a node through the memory of its host have together (NCCL's SHM transport: the sender writes there, the
// receiver reads). No link shows it. With k GPUs that send so it is
//   C(k) = host.rate / (1 + host.loss · (k − 1)).
// A loss of 0 is a rate that is shared. With a loss of 1 the total falls as 1 / k, where the writes, reads and address
// translations of each further GPU push the others' out: 4 and 8 L40S have 20 and 11 GB/s in all (all-reduce, [AIC] in
// configs/README.md). k counts GPUs with an open connection, not those that send at the moment.
// Ignored: which CPU's memory it is; GPUs that talk directly, though over root ports; NICs. Internal to the executor.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/costs.hpp"
#include "sim/network.hpp"
#include "topology/graph.hpp"

namespace collsim::detail {

class HostPaths {
 public:
  /// No `costs`, or a rate without limit: routes have no such resource. Requires: all outlive it.
  HostPaths(const Graph& graph, Network& network, const CostParameters* costs);

  /// A GPU opens a connection through the memory at a CPU. Absent: nothing limits it there.
  [[nodiscard]] std::optional<LinkId> enter(DeviceId cpu, DeviceId sender);
  /// It closes it. Requires: entered, and not left yet.
  void leave(LinkId resource, DeviceId sender);

 private:
  struct Host {
    LinkId resource;
    std::unordered_map<std::uint32_t, std::uint32_t> connections;  ///< by sender
  };
  [[nodiscard]] Bandwidth capacity(std::size_t senders) const;
  Host& host_at(DeviceId cpu);

  const Graph* graph_;
  Network* network_;
  std::optional<Bandwidth> rate_;
  std::int64_t loss_ = 0;                                   ///< in millionths
  std::unordered_map<std::uint32_t, Host> hosts_;           ///< by node
  std::unordered_map<std::uint32_t, std::uint32_t> nodes_;  ///< by resource
};

}  // namespace collsim::detail
