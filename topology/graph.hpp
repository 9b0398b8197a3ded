#pragma once

// The cluster as a directed multigraph: devices (GPUs, switches, NICs, CPUs) and links, each link
// with a bandwidth and a latency. Frozen once built; everything is addressed by dense ids.
//
// A link is one direction of a cable. Names are not stored per device but composed on demand
// ("node3.gpu0"), so that a hundred thousand GPUs stay small.
// Ignored: queues, loss, congestion control; a device has no cost of its own (a switch's forwarding
// latency is part of the links that leave it).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim {

enum class DeviceKind : std::uint8_t { Gpu, Nvswitch, PcieSwitch, Cpu, Nic, NetworkSwitch };

enum class LinkKind : std::uint8_t { Generic, Nvlink, Xgmi, Pcie, Socket, Infiniband, Ethernet };

[[nodiscard]] std::string_view name_of(DeviceKind kind);
[[nodiscard]] std::string_view name_of(LinkKind kind);

/// Where a switch stands in a tree of switches.
struct TreePlace {
  std::uint32_t tier = 0;    ///< 0: leaves
  std::uint32_t number = 0;  ///< of its block, among those that a block of the next tier joins
};

/// Where a switch stands in a torus: x, y, z.
using TorusPlace = std::array<std::uint32_t, 3>;

struct Device {
  DeviceKind kind = DeviceKind::Gpu;
  std::optional<NodeId> node;   ///< absent for the fabric's own switches
  std::uint32_t name_stem = 0;  ///< position in the graph's table of name stems
  std::uint32_t number = 0;     ///< its number among those of its stem and node: "gpu3"
  /// The group of a dragonfly's switch: traffic between two groups crosses no third.
  std::optional<std::uint32_t> group;
  std::optional<TreePlace> tree_place;
};

struct Link {
  DeviceId source;
  DeviceId target;
  Bandwidth bandwidth;
  Duration latency{};
  LinkKind kind = LinkKind::Generic;
  LevelId level;
  std::uint16_t bonded = 1;  ///< the maker's links that this one stands for; changes no time
};

class Graph {
 public:
  [[nodiscard]] std::span<const Device> devices() const { return devices_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] const Device& device(DeviceId id) const { return devices_[id.index()]; }
  [[nodiscard]] const Link& link(LinkId id) const { return links_[id.index()]; }
  /// Links that leave (enter) a device, in order of id.
  [[nodiscard]] std::span<const LinkId> links_out(DeviceId id) const;
  [[nodiscard]] std::span<const LinkId> links_in(DeviceId id) const;
  /// The parallel links from one device to another, in order of id; empty where there is none.
  /// Complexity: O(log links of `from`).
  [[nodiscard]] std::span<const LinkId> links_between(DeviceId from, DeviceId to) const;
  /// All GPUs, by node and then by number: the default communicator.
  [[nodiscard]] std::span<const DeviceId> gpus() const { return gpus_; }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  /// The NICs of a node, in order of id.
  [[nodiscard]] std::span<const DeviceId> nics(NodeId node) const;
  /// Of a switch of a torus. Complexity: O(1).
  [[nodiscard]] std::optional<TorusPlace> torus_place(DeviceId id) const;
  /// Names of the levels of the hierarchy that links belong to, innermost first.
  [[nodiscard]] std::span<const std::string> levels() const { return levels_; }

  /// "node3.gpu0"; "gpu0" where there is one node; "leaf2" for the fabric's switches; the given
  /// name where the device has one of its own.
  [[nodiscard]] std::string name(DeviceId id) const;
  /// The same without the node: "gpu0".
  [[nodiscard]] std::string name_in_node(DeviceId id) const;
  /// "node3.gpu0 -> node3.nvswitch"; further parallel links have "#1", "#2", … behind it.
  [[nodiscard]] std::string name(LinkId id) const;
  /// The device of that name. Complexity: O(devices).
  [[nodiscard]] std::optional<DeviceId> find_device(std::string_view name) const;

 private:
  friend class GraphBuilder;
  struct Stem {
    enum class Naming : std::uint8_t {
      Numbered,  ///< "gpu3", behind its node
      Single,    ///< "nvswitch", behind its node
      Own,       ///< the name as given, whatever the node
    };
    std::string text;
    Naming naming = Naming::Numbered;
  };

  /// The switches of a torus follow one another, x first.
  struct Torus {
    DeviceId first;
    TorusPlace size{1, 1, 1};
  };

  [[nodiscard]] bool shows_node(const Device& device) const;
  [[nodiscard]] bool has_name(const Device& device, std::string_view name) const;

  std::vector<Device> devices_;
  std::vector<Link> links_;
  std::vector<DeviceId> gpus_;
  std::vector<DeviceId> nics_;
  std::vector<std::uint32_t> nic_begin_;  ///< by node: where its NICs begin in nics_
  std::vector<std::uint32_t> out_begin_;
  std::vector<LinkId> out_;
  std::vector<LinkId> out_by_target_;  ///< as out_, but each device's links by target, then by id
  std::vector<std::uint32_t> in_begin_;
  std::vector<LinkId> in_;
  std::vector<Stem> stems_;
  std::vector<std::string> levels_;
  std::optional<Torus> torus_;
  std::uint32_t nodes_ = 0;
};

/// Collects devices and links, checks them, and freezes the graph.
class GraphBuilder {
 public:
  /// A stem names a family of devices; the members of a numbered one get "gpu0", "gpu1", …
  std::uint32_t add_stem(std::string text, bool numbered);
  LevelId add_level(std::string_view name);  ///< the same id for the same name
  DeviceId add_device(DeviceKind kind, std::optional<NodeId> node, std::uint32_t stem,
                      std::uint32_t number);
  /// A device with a name of its own (explicit graphs), shown without its node.
  DeviceId add_named_device(DeviceKind kind, std::optional<NodeId> node, std::string name);
  void set_group(DeviceId device, std::uint32_t group) {
    graph_.devices_[device.index()].group = group;
  }
  void set_tree_place(DeviceId device, TreePlace place) {
    graph_.devices_[device.index()].tree_place = place;
  }
  /// The devices from `first` on, as many as the product of the sizes, are the switches of a torus.
  void set_torus(DeviceId first, TorusPlace size) { graph_.torus_ = Graph::Torus{first, size}; }
  /// Throws: InputError if the bandwidth is not positive, the latency is negative, or both ends are
  /// the same device.
  LinkId add_link(const Link& link);
  /// Both directions, one after the other; returns the first.
  LinkId add_cable(const Link& link);
  void reserve(std::size_t devices, std::size_t links);

  /// Throws: InputError if there is no GPU. Complexity: O(devices + links).
  [[nodiscard]] Graph freeze() &&;

 private:
  void index_devices();
  void index_links();

  Graph graph_;
};

}  // namespace collsim
