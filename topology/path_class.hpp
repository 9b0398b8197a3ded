#pragma once

// How close two devices are, in the words of `nvidia-smi topo -m`: what their best connection
// crosses.
//
// Every way through the node has a class, that of the worst thing it crosses; of all ways the best
// counts, whether or not a route takes it (routes take the fewest links, see routing.hpp). A CPU of
// the description is one host bridge. So two devices below one CPU are PHB; nvidia-smi, which knows
// the bridges inside a CPU, says PHB or NODE. XGMI and LINK are ours.
//
// Source: legend of `nvidia-smi topo -m`, driver 550; NCCL, src/graph/topo.h (the same without NODE).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph.hpp"

namespace collsim {

/// From near to far.
enum class PathClass : std::uint8_t {
  Self,
  Nvlink,  ///< NVLinks and NVSwitches alone: NV1, NV18
  Xgmi,    ///< xGMI alone
  Link,    ///< links of kind generic, and switches inside the node
  Pix,     ///< PCIe, at most one switch of it
  Pxb,     ///< several PCIe switches
  Phb,     ///< one CPU
  Node,    ///< several CPUs, joined by something else than a link between sockets
  Sys,     ///< a link between sockets
  Net,     ///< no way inside the node: NICs and the fabric's switches, if they lead there
};

struct PathType {
  PathClass path_class = PathClass::Net;
  std::uint32_t links = 0;  ///< of Nvlink: how many of the maker's links work as one

  constexpr bool operator==(const PathType&) const = default;
};

/// "X", "NV18", "PIX".
[[nodiscard]] std::string to_text(PathType type);
/// The same without a number of links: "NV#".
[[nodiscard]] std::string_view name_of(PathClass path_class);
/// What a legend says: "at most one PCIe switch".
[[nodiscard]] std::string_view meaning_of(PathClass path_class);

/// From one GPU or NIC to each of `to`, in their order.
/// Complexity: O(links of the node · log), and for each that NVLink reaches the NVSwitches between.
[[nodiscard]] std::vector<PathType> path_types(const Graph& graph, DeviceId from,
                                               std::span<const DeviceId> to);

}  // namespace collsim
