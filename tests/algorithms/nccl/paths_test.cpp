#include "algorithms/nccl/paths.hpp"

#include <string>

#include "algorithms/nccl/local_devices.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

const std::string gen4 = "16.0 GT/s PCIe";

/// Two Skylake sockets. Below the first: switch A with GPUs 0 and 1 and NIC 0, and inside it switch B
/// with GPU 2; GPU 3 directly. Below the second: GPU 4.
Machine mixed() {
  Machine machine{{test::intel_cpu(0, 0x55), test::intel_cpu(1, 0x55)}};
  MachinePci a = test::pci_device(0x10, "0x060400", gen4);
  a.children.push_back(test::gpu_device(0x11, 0, 80, 0, gen4));
  a.children.push_back(test::gpu_device(0x12, 1, 80, 0, gen4));
  a.children.push_back(test::nic_device(0x13, 0, 100000, gen4));
  MachinePci b = test::pci_device(0x14, "0x060400", gen4);
  b.children.push_back(test::gpu_device(0x15, 2, 80, 0, gen4));
  a.children.push_back(b);
  machine.cpus[0].devices.emplace_back(a);
  machine.cpus[0].devices.emplace_back(test::gpu_device(0x20, 3, 80, 0, gen4));
  machine.cpus[1].devices.emplace_back(test::gpu_device(0x30, 4, 80, 0, gen4));
  return machine;
}

class Node {
 public:
  explicit Node(const Machine& machine, const DetectOptions& options = {})
      : system(make_system(machine, options.link_speeds)), paths(find_paths(system, options)) {}

  [[nodiscard]] const Path& gpus(std::size_t from, std::size_t to) const {
    return paths.between(system.all(PartKind::Gpu)[from], system.all(PartKind::Gpu)[to]);
  }
  [[nodiscard]] const Path& to_net(std::size_t gpu, std::size_t net) const {
    return paths.between(system.all(PartKind::Gpu)[gpu], system.all(PartKind::Net)[net]);
  }
  [[nodiscard]] const Path& from_net(std::size_t net, std::size_t gpu) const {
    return paths.between(system.all(PartKind::Net)[net], system.all(PartKind::Gpu)[gpu]);
  }

  System system;
  Paths paths;
};

/// GPUs in a chain of two NVLinks a hop, on one CPU.
Machine chain(int gpus) {
  Machine machine{{test::intel_cpu(0, 143)}};
  for (int gpu = 0; gpu < gpus; ++gpu) {
    MachinePci device = test::gpu_device(16 * (gpu + 1), gpu, 70, 0, gen4);
    if (gpu > 0) {
      device.gpu->nvlinks.push_back({test::bus(16 * gpu), 2, "0x030200"});
    }
    if (gpu + 1 < gpus) {
      device.gpu->nvlinks.push_back({test::bus(16 * (gpu + 2)), 2, "0x030200"});
    }
    machine.cpus[0].devices.emplace_back(device);
  }
  return machine;
}

}  // namespace

TEST_CASE("the type of a path is what separates its ends") {
  const Node node(mixed());
  CHECK(node.gpus(0, 0).type == PathType::Loc);
  CHECK(node.gpus(0, 1).type == PathType::Pix);
  CHECK(node.gpus(0, 2).type == PathType::Pxb);
  CHECK(node.gpus(0, 3).type == PathType::Phb);
  CHECK(node.gpus(0, 4).type == PathType::Sys);
  CHECK(node.to_net(0, 0).type == PathType::Pix);
  CHECK(node.to_net(2, 0).type == PathType::Pxb);
  CHECK(node.to_net(3, 0).type == PathType::Phb);
}

TEST_CASE("the bandwidth of a path is that of its slowest link") {
  const Node node(mixed());
  CHECK(node.gpus(0, 1).bandwidth == 24);       // PCIe Gen4 x16
  CHECK(node.gpus(0, 4).bandwidth == 10);       // between Skylakes
  CHECK(node.to_net(0, 0).bandwidth == 12.5F);  // 100 Gb/s
}

TEST_CASE("without P2P a path goes through the CPU") {
  // Through switch A, the CPU, and switch A again: 4 links instead of 2.
  CHECK(Node(mixed()).gpus(0, 1).links.size() == 2);
  DetectOptions options;
  options.p2p_disable = true;
  const Node node(mixed(), options);
  CHECK(node.gpus(0, 1).links.size() == 4);
  CHECK(node.gpus(0, 1).type == PathType::Phb);
  CHECK(node.gpus(0, 0).links.empty());

  options.p2p_disable = false;
  options.p2p_level = PathType::Pix;
  CHECK(Node(mixed(), options).gpus(0, 1).type == PathType::Pix);
  CHECK(Node(mixed(), options).gpus(0, 2).type == PathType::Phb);
}

TEST_CASE("a GPU relays once between others over NVLink") {
  const Node node(chain(4));
  CHECK(node.gpus(0, 1).type == PathType::Nvl);
  CHECK(node.gpus(0, 2).type == PathType::Nvb);
  CHECK(node.gpus(0, 2).bandwidth == 40);  // 2 links of 20 GB/s
  CHECK(node.gpus(0, 3).type == PathType::Phb);
  DetectOptions options;
  options.nvb_disable = true;
  CHECK(Node(chain(4), options).gpus(0, 2).type == PathType::Phb);
}

// From GPU 0 to GPU 2 there are two links by the PCIe switch (PIX, 24 GB/s) and two by GPU 1 (NVB, one
// NVLink of sm 86: 12 GB/s).
TEST_CASE(
    "of two paths, the shorter, then the wider one, and from 2.30 on that of the better type") {
  Machine machine{{test::intel_cpu(0, 143)}};
  MachinePci pci_switch = test::pci_device(0x08, "0x060400", gen4);
  for (int gpu = 0; gpu < 3; ++gpu) {
    MachinePci device = test::gpu_device(16 * (gpu + 1), gpu, 86, 0, gen4);
    for (const int other : {gpu - 1, gpu + 1}) {
      if (other >= 0 && other < 3) {
        device.gpu->nvlinks.push_back({test::bus(16 * (other + 1)), 1, "0x030200"});
      }
    }
    pci_switch.children.push_back(device);
  }
  machine.cpus[0].devices.emplace_back(pci_switch);
  CHECK(Node(machine).gpus(0, 2).type == PathType::Pix);
  CHECK(Node(machine).gpus(0, 2).bandwidth == 24);
  DetectOptions options;
  options.path_preference = PathPreference::BestType;
  CHECK(Node(machine, options).gpus(0, 2).type == PathType::Nvb);
  CHECK(Node(machine, options).gpus(0, 2).bandwidth == 12);
  CHECK(Node(machine, options).gpus(0, 1).type == PathType::Nvl);
}

TEST_CASE("a GPU sends through the GPU that is close to the NIC, and receives directly") {
  const Machine machine = test::nic_per_gpu(2, 90, 18, 400000, "32.0 GT/s PCIe");
  const Node node(machine);
  CHECK(node.to_net(0, 0).type == PathType::Pix);
  CHECK(node.to_net(0, 1).type == PathType::Pxn);
  CHECK(node.to_net(0, 1).bandwidth == 48);
  // The other way stays what it is: between the sockets.
  CHECK(node.from_net(1, 0).type == PathType::Sys);
  DetectOptions options;
  options.pxn_disable = true;
  CHECK(Node(machine, options).to_net(0, 1).type == PathType::Sys);
}

TEST_CASE("without GPUDirect RDMA the way to the NIC leads through the CPU") {
  Machine machine = test::nic_per_gpu(1, 90, 0, 400000, "32.0 GT/s PCIe");
  CHECK(Node(machine).to_net(0, 0).type == PathType::Pix);
  DetectOptions options;
  options.net_gdr_level = PathType::Loc;
  CHECK(Node(machine, options).to_net(0, 0).type == PathType::Phb);
  CHECK(Node(machine, options).from_net(0, 0).type == PathType::Phb);
  auto& pci = std::get<MachinePci>(machine.cpus[1].devices[0]);
  pci.children[1].nic->nets[0].gdr = false;
  CHECK(Node(machine).to_net(0, 0).type == PathType::Phb);
}

TEST_CASE("a NIC of the CPU is close to a GPU with a coherent link") {
  const Node node(test::grace_domain(2));
  CHECK(node.gpus(0, 1).type == PathType::Nvl);
  CHECK(node.to_net(0, 0).type == PathType::P2c);
  CHECK(node.from_net(0, 0).type == PathType::P2c);
}

TEST_CASE("GPUs share out the NICs that are equally near") {
  // Two GPUs and two NICs below one switch: a GPU has its own.
  Machine machine{{test::intel_cpu(0, 143)}};
  MachinePci pci = test::pci_device(0x10, "0x060400", gen4);
  for (int i = 0; i < 2; ++i) {
    pci.children.push_back(test::gpu_device(0x11 + i, i, 80, 0, gen4));
    pci.children.push_back(test::nic_device(0x18 + i, i, 100000, gen4));
  }
  machine.cpus[0].devices.emplace_back(pci);
  const Node node(machine);
  const auto& gpus = node.system.all(PartKind::Gpu);
  const auto& nets = node.system.all(PartKind::Net);
  CHECK(local_nets(node.system, node.paths, {}, gpus[0]) == std::vector<PartId>{nets[0]});
  CHECK(local_nets(node.system, node.paths, {}, gpus[1]) == std::vector<PartId>{nets[1]});
  CHECK(local_gpu(node.system, node.paths, {}, nets[1]) == gpus[1]);
  DetectOptions options;
  options.nics_per_gpu = NicsPerGpu::All;
  CHECK(local_nets(node.system, node.paths, options, gpus[1]) ==
        std::vector<PartId>{nets[1], nets[0]});
  options.nics_per_gpu = NicsPerGpu::Most;
  options.most_nics_per_gpu = 1;
  CHECK(local_nets(node.system, node.paths, options, gpus[1]) == std::vector<PartId>{nets[1]});
}

}  // namespace collsim::nccl
