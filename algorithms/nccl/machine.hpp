#pragma once
// One node as NCCL's topology file describes it: CPUs (NUMA domains) with their PCIe trees, GPUs with
// their NVLinks, NICs with their network devices. Plain structs in the order of the file: NCCL numbers
// devices in that order, and its choices depend on the numbers.
//
// Holds what NCCL 2.28.9 reads from the file, as it stands there (units of the file, texts that NCCL
// interprets itself). Not held: attributes of later versions, comments.
//
// Source: NCCL 2.28.9, src/graph/xml.h, src/graph/topo.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace collsim::nccl {

/// Whose GPUs a file is of: NCCL's files and RCCL's are nearly the same.
enum class Maker : std::uint8_t { Nvidia, Amd };

/// NVLinks (of AMD's GPUs: xGMI links) of a GPU to one peer: another GPU, a switch, or the CPU of the GPU.
struct MachineNvlink {
  std::string target{};        ///< PCI bus id of the peer
  int count{1};                ///< links bonded
  std::string target_class{};  ///< PCI class of the peer: "0x068000" is an NVSwitch

  bool operator==(const MachineNvlink&) const = default;
};

/// The coherent link of a GPU to its CPU.
struct MachineC2c {
  int bandwidth{0};  ///< MB/s a link
  int count{1};

  bool operator==(const MachineC2c&) const = default;
};

struct MachineGpu {
  int dev{0};                 ///< index on its host
  int sm{0};                  ///< compute capability times 10: 90
  std::optional<int> rank{};  ///< a GPU without rank takes no part, if others have one
  bool gdr{true};             ///< can do GPUDirect RDMA
  std::vector<MachineNvlink> nvlinks{};
  std::vector<MachineC2c> c2cs{};
  std::optional<std::string> gcn{};  ///< of AMD's: "910", or "gfx90a" and the like

  bool operator==(const MachineGpu&) const = default;
};

/// A network device (a port of a NIC, as the network plugin counts them).
struct MachineNet {
  std::string name{};
  std::optional<int> dev{};           ///< the plugin's number; a device without is not used
  int speed{0};                       ///< Mb/s; 0 or less: NCCL takes 10000
  std::optional<float> latency{};     ///< us
  std::optional<int> port{};          ///< 0 if absent
  std::optional<std::string> guid{};  ///< devices of one guid and port share its speed
  std::optional<int> max_connections{};
  bool gdr{false};
  bool collective{false};  ///< the device can reduce in the network

  bool operator==(const MachineNet&) const = default;
};

/// What a NIC holds; directly below a CPU, a NIC without a PCIe device (virtual interfaces).
struct MachineNic {
  std::vector<MachineNet> nets{};

  bool operator==(const MachineNic&) const = default;
};

/// A PCIe device or switch with what is below it.
struct MachinePci {
  std::string bus_id{};        ///< "0000:1b:00.0"
  std::string device_class{};  ///< "0x060400", ...; what the device is, by prefix
  std::optional<std::string> vendor{};
  std::optional<std::string> device{};
  std::optional<std::string> subsystem_vendor{};
  std::optional<std::string> subsystem_device{};
  std::string link_speed{};  ///< of one lane: "32.0 GT/s PCIe"; unknown texts count as 8 GT/s
  int link_width{0};         ///< lanes; 0 counts as 16
  std::optional<MachineGpu> gpu{};
  std::optional<MachineNic> nic{};
  std::vector<std::string> peer_switches{};  ///< bus ids of switches linked to this one
  std::vector<MachinePci> children{};

  bool operator==(const MachinePci&) const = default;
};

/// One NUMA domain.
struct MachineCpu {
  int numa_id{0};
  std::optional<std::string> host_hash{};  ///< CPUs with the same are in the same host
  std::optional<std::string> affinity{};
  std::string architecture{};  ///< "x86_64", "arm64", "ppc64"
  std::optional<std::string> vendor{};
  std::optional<int> family_id{};
  std::optional<int> model_id{};
  std::vector<std::variant<MachinePci, MachineNic>> devices{};

  bool operator==(const MachineCpu&) const = default;
};

struct Machine {
  std::vector<MachineCpu> cpus{};
  Maker maker{Maker::Nvidia};

  bool operator==(const Machine&) const = default;
};

}  // namespace collsim::nccl
