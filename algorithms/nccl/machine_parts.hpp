#pragma once
// The parts of a machine in lists, numbered and named as a cluster description names them: gpu0 by
// rank, pcie-switch0, nic0 in the order of the file, cpu0. Parts that NCCL does not use are left out:
// GPUs without a rank where others have one, network devices without a number or with that of another of
// their host, PCIe devices that are neither
// GPU nor NIC nor have any below them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/nccl/machine.hpp"

namespace collsim::nccl {

struct GpuPart {
  const MachineGpu* gpu{nullptr};
  const MachinePci* pci{nullptr};
  std::size_t number{0};
  std::string name{};
  std::string cpu{};  ///< the name of the CPU that it stands below
};

/// By the class of its target: what is neither GPU nor CPU. What hypervisors hide keeps its class.
[[nodiscard]] bool ends_at_switch(const MachineNvlink& nvlink);

struct NetPart {
  const MachineNet* net{nullptr};
  const MachinePci* pci{nullptr};  ///< that it is on; null: it stands at the CPU without PCIe
  std::uint64_t host{0};           ///< the number of its CPU's host_hash
};

/// A link from a part up to the next in the PCIe tree.
struct TreeLink {
  const MachinePci* pci{nullptr};  ///< its lower end; null: a network device at a CPU without PCIe
  const MachineNet* net{nullptr};  ///< its lower end
  std::string lower{};
  std::string upper{};
};

class MachineParts {
 public:
  /// The machine must outlive the parts. Throws: InputError if it has no GPU.
  explicit MachineParts(const Machine& machine);

  /// By number.
  [[nodiscard]] const std::vector<GpuPart>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<const MachinePci*>& switches() const { return switches_; }
  [[nodiscard]] const std::vector<NetPart>& nets() const { return nets_; }
  /// From the CPUs down, in the order of the file.
  [[nodiscard]] const std::vector<TreeLink>& links() const { return links_; }
  [[nodiscard]] bool has_nvswitch() const { return has_nvswitch_; }
  /// The number of the GPU of a bus id.
  [[nodiscard]] std::optional<std::size_t> gpu_at(std::string_view bus_id) const;
  /// Hosts that have as many of every kind as the others, one behind the other; else 1.
  [[nodiscard]] std::size_t hosts() const;

 private:
  void number_gpus();
  void visit(const MachinePci& pci, const std::string& upper, const std::string& cpu);
  void add_nets(const MachineNic& nic, const MachinePci* pci, const std::string& upper);

  const Machine* machine_;
  std::map<std::string, std::size_t, std::less<>> number_of_bus_{};
  std::vector<GpuPart> gpus_{};
  std::vector<const MachinePci*> switches_{};
  std::vector<NetPart> nets_{};
  std::set<std::pair<std::uint64_t, int>> numbers_of_nets_{};  ///< of a host
  std::vector<TreeLink> links_{};
  std::uint64_t host_{0};  ///< of what is visited
  bool has_nvswitch_{false};
};

}  // namespace collsim::nccl
