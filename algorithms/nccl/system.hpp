#pragma once
// NCCL's model of a node: parts (GPUs, PCIe switches, one NVSwitch for all, CPUs, NICs, network
// devices) and directed links with a bandwidth. Made from a Machine; frozen once made.
//
// The order of the parts of a kind and of the links of a part is NCCL's own: whoever walks them in
// order meets ties as NCCL does. Links of a part stand by falling bandwidth, those down the PCIe tree
// before the one up. All NVSwitches are one part. Units: GB/s, us.
//
// Source: NCCL 2.28.9, src/graph/topo.cc.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/options.hpp"
#include "topology/ids.hpp"

namespace collsim::nccl {

using PartId = Id<struct PartTag>;          ///< position in System::parts()
using PartLinkId = Id<struct PartLinkTag>;  ///< position in System::links()

enum class PartKind : std::uint8_t { Gpu, Pci, NvSwitch, Cpu, Nic, Net };
inline constexpr std::size_t part_kinds = 6;

enum class PartLinkKind : std::uint8_t { Local, Nvlink, C2c, Pci, Socket, Network };

/// One direction of a link.
struct PartLink {
  PartId from{};
  PartId to{};
  PartLinkKind kind{PartLinkKind::Local};
  float bandwidth{0};
  PartLinkId reverse{};  ///< of the same kind, from `to` to `from`
};

enum class CpuArchitecture : std::uint8_t { Unknown, X86, Power, Arm };
enum class CpuVendor : std::uint8_t { Unknown, Intel, Amd, Zhaoxin };
/// Of Intel and Zhaoxin only, as far as NCCL tells them apart.
enum class CpuModel : std::uint8_t {
  Other,
  Broadwell,
  Skylake,
  SapphireRapids,
  EmeraldRapids,
  Yongfeng,
};

struct CpuFacts {
  CpuArchitecture architecture{CpuArchitecture::Unknown};
  CpuVendor vendor{CpuVendor::Unknown};
  CpuModel model{CpuModel::Other};
};

struct GpuFacts {
  int dev{0};
  int sm{0};
  int rank{0};  ///< within the node: 0, 1, ... by the ranks of the file
  bool gdr{false};
};

struct NetFacts {
  int dev{0};
  std::uint64_t asic{0};  ///< devices of one asic and port share its bandwidth
  int port{0};
  float bandwidth{0};
  float latency{0};
  bool gdr{false};
  bool collective{false};
};

/// A part of the node; of the facts those of its kind hold.
struct Part {
  PartKind kind{PartKind::Pci};
  std::size_t host{0};       ///< of an NVLink domain over several hosts
  std::uint64_t address{0};  ///< PCI bus id as a number; NUMA id; device number
  std::uint64_t pci_model{0};
  GpuFacts gpu{};
  CpuFacts cpu{};
  NetFacts net{};
  std::vector<PartLinkId> links{};  ///< those from here
};

class System {
 public:
  /// Requires: `links` have both directions.
  System(std::vector<Part> parts, std::vector<PartLink> links);

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const Part& part(PartId id) const { return parts_[id.index()]; }
  [[nodiscard]] const std::vector<PartLink>& links() const { return links_; }
  [[nodiscard]] const PartLink& link(PartLinkId id) const { return links_[id.index()]; }
  /// The parts of a kind, in NCCL's order.
  [[nodiscard]] const std::vector<PartId>& all(PartKind kind) const {
    return of_kind_[static_cast<std::size_t>(kind)];
  }
  /// How many of a kind there are.
  [[nodiscard]] std::size_t count(PartKind kind) const { return all(kind).size(); }
  [[nodiscard]] std::size_t hosts() const;

  /// The system without some parts and their links. Shapes: `leave_out[part]`.
  [[nodiscard]] System without(const std::vector<bool>& leave_out) const;

 private:
  std::vector<Part> parts_;
  std::vector<PartLink> links_;
  std::array<std::vector<PartId>, part_kinds> of_kind_;
};

/// The system of all that takes part: GPUs with a rank (all GPUs, if none has one), devices with a
/// number. Throws: InputError if there is no GPU, two have one rank, a link goes one way only, or the
/// GPUs are AMD's.
[[nodiscard]] System make_system(const Machine& machine, const LinkSpeeds& speeds);

/// Of one NVLink, GB/s.
[[nodiscard]] float nvlink_bandwidth(const LinkSpeeds& speeds, int sm);

}  // namespace collsim::nccl
