#include "topology/path_class.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

struct Words {
  PathClass path_class;
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<Words, 10> words{{
    {PathClass::Self, "X", "itself"},
    {PathClass::Nvlink, "NV#", "# NVLinks that work as one"},
    {PathClass::Xgmi, "XGMI", "links of xGMI"},
    {PathClass::Link, "LINK", "links of no particular kind"},
    {PathClass::Pix, "PIX", "PCIe, at most one switch"},
    {PathClass::Pxb, "PXB", "PCIe, several switches and no CPU"},
    {PathClass::Phb, "PHB", "PCIe and one CPU (a host bridge)"},
    {PathClass::Node, "NODE", "PCIe and several CPUs without a link between sockets"},
    {PathClass::Sys, "SYS", "PCIe and a link between sockets"},
    {PathClass::Net, "NET", "no way inside the node: NICs and the network"},
}};

const Words& words_of(PathClass path_class) {
  for (const Words& known : words) {
    if (known.path_class == path_class) {
      return known;
    }
  }
  COLLSIM_ENSURE(false, "unknown class of path");
}

/// What a way crosses, the worst first: the least of all ways is one of the best class, since a
/// class says which of these numbers are 0.
struct Crossings {
  std::uint32_t sockets = 0;
  std::uint32_t cpus = 0;
  std::uint32_t pcie_switches = 0;
  std::uint32_t pcie_links = 0;
  std::uint32_t other_links = 0;
  std::uint32_t xgmi_links = 0;
  std::uint32_t nvlinks = 0;

  auto operator<=>(const Crossings&) const = default;
};

void add_link(Crossings& crossings, LinkKind kind) {
  switch (kind) {
    case LinkKind::Nvlink:
      ++crossings.nvlinks;
      break;
    case LinkKind::Xgmi:
      ++crossings.xgmi_links;
      break;
    case LinkKind::Pcie:
      ++crossings.pcie_links;
      break;
    case LinkKind::Socket:
      ++crossings.sockets;
      break;
    case LinkKind::Generic:
    case LinkKind::Infiniband:
    case LinkKind::Ethernet:
      ++crossings.other_links;
      break;
  }
}

/// What forwards inside a node: neither GPUs nor NICs, nor the fabric's switches.
bool forwards_in_node(const Device& device) {
  return device.kind != DeviceKind::Gpu && device.kind != DeviceKind::Nic &&
         (device.kind != DeviceKind::NetworkSwitch || device.node);
}

void add_device(Crossings& crossings, DeviceKind kind) {
  if (kind == DeviceKind::Cpu) {
    ++crossings.cpus;
  } else if (kind == DeviceKind::PcieSwitch) {
    ++crossings.pcie_switches;
  }
}

PathClass class_of(const Crossings& crossings) {
  if (crossings.sockets > 0) {
    return PathClass::Sys;
  }
  if (crossings.cpus > 0) {
    return crossings.cpus > 1 ? PathClass::Node : PathClass::Phb;
  }
  if (crossings.pcie_switches > 1) {
    return PathClass::Pxb;
  }
  if (crossings.pcie_switches + crossings.pcie_links > 0) {
    return PathClass::Pix;
  }
  if (crossings.other_links > 0) {
    return PathClass::Link;
  }
  return crossings.xgmi_links > 0 ? PathClass::Xgmi : PathClass::Nvlink;
}

/// Dijkstra's algorithm with crossings for lengths. Absent: no way inside the node.
std::vector<std::optional<Crossings>> least_crossings(const Graph& graph, DeviceId from) {
  using Reached = std::pair<Crossings, DeviceId>;
  std::vector<std::optional<Crossings>> least(graph.devices().size());
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> frontier;
  const auto reach = [&](DeviceId device, const Crossings& crossings) {
    std::optional<Crossings>& known = least[device.index()];
    if (!known || crossings < *known) {
      known = crossings;
      frontier.emplace(crossings, device);
    }
  };
  reach(from, {});
  while (!frontier.empty()) {
    auto [crossings, device] = frontier.top();
    frontier.pop();
    if (*least[device.index()] < crossings) {
      continue;  // a better way has been found since
    }
    if (device != from) {
      if (!forwards_in_node(graph.device(device))) {
        continue;
      }
      add_device(crossings, graph.device(device).kind);
    }
    for (const LinkId id : graph.links_out(device)) {
      Crossings beyond = crossings;
      add_link(beyond, graph.link(id).kind);
      reach(graph.link(id).target, beyond);
    }
  }
  return least;
}

enum class End : std::uint8_t { Source, Target };

DeviceId end_of(const Link& link, End end) {
  return end == End::Source ? link.source : link.target;
}

std::span<const LinkId> links_at(const Graph& graph, DeviceId device, End end) {
  return end == End::Source ? graph.links_out(device) : graph.links_in(device);
}

/// The device and all that can be reached from it (or that reaches it) by NVLink through NVSwitches
/// alone, sorted.
std::vector<DeviceId> nvlink_domain(const Graph& graph, DeviceId start, End start_is) {
  std::vector<DeviceId> found{start};
  const End other = start_is == End::Source ? End::Target : End::Source;
  // NOLINTNEXTLINE(modernize-loop-convert): it grows meanwhile
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const LinkId id : links_at(graph, found[i], start_is)) {
      const Link& link = graph.link(id);
      const DeviceId beyond = end_of(link, other);
      if (link.kind == LinkKind::Nvlink && graph.device(beyond).kind == DeviceKind::Nvswitch &&
          std::ranges::find(found, beyond) == found.end()) {
        found.push_back(beyond);
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

/// The maker's NVLinks of a device that end in a set of devices.
std::uint32_t nvlinks_into(const Graph& graph, DeviceId device, End end,
                           const std::vector<DeviceId>& set) {
  std::uint32_t links = 0;
  for (const LinkId id : links_at(graph, device, end)) {
    const Link& link = graph.link(id);
    const DeviceId beyond = end_of(link, end == End::Source ? End::Target : End::Source);
    if (link.kind == LinkKind::Nvlink && std::ranges::binary_search(set, beyond)) {
      links += link.bonded;
    }
  }
  return links;
}

/// Direct links where there are some; else as many as both ends have to the NVSwitches between.
std::uint32_t nvlinks_between(const Graph& graph, DeviceId from, DeviceId to) {
  const std::uint32_t direct = nvlinks_into(graph, from, End::Source, {to});
  if (direct > 0) {
    return direct;
  }
  const auto behind = nvlink_domain(graph, from, End::Source);
  const auto before = nvlink_domain(graph, to, End::Target);
  return std::min(nvlinks_into(graph, from, End::Source, before),
                  nvlinks_into(graph, to, End::Target, behind));
}

}  // namespace

std::string_view name_of(PathClass path_class) { return words_of(path_class).name; }

std::string_view meaning_of(PathClass path_class) { return words_of(path_class).meaning; }

std::string to_text(PathType type) {
  if (type.path_class == PathClass::Nvlink) {
    return "NV" + std::to_string(type.links);
  }
  return std::string(name_of(type.path_class));
}

std::vector<PathType> path_types(const Graph& graph, DeviceId from, std::span<const DeviceId> to) {
  const auto least = least_crossings(graph, from);
  std::vector<PathType> types;
  types.reserve(to.size());
  for (const DeviceId device : to) {
    PathType type;
    if (device == from) {
      type.path_class = PathClass::Self;
    } else if (const auto& crossings = least[device.index()]) {
      type.path_class = class_of(*crossings);
    }
    if (type.path_class == PathClass::Nvlink) {
      type.links = nvlinks_between(graph, from, device);
    }
    types.push_back(type);
  }
  return types;
}

}  // namespace collsim
