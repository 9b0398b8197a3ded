#include "algorithms/nccl/detect.hpp"

#include <string>

#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

const std::string gen4 = "16.0 GT/s PCIe";

/// Two Skylake sockets (10 GB/s between them), each with a GPU and a NIC on a switch.
Machine two_sockets(int nic_mbps) {
  Machine machine{{test::intel_cpu(0, 0x55), test::intel_cpu(1, 0x55)}};
  for (int i = 0; i < 2; ++i) {
    MachinePci pci = test::pci_device(16 * (i + 1), "0x060400", gen4);
    pci.children.push_back(test::gpu_device(16 * (i + 1) + 1, i, 80, 0, gen4));
    pci.children.push_back(test::nic_device(16 * (i + 1) + 2, i, nic_mbps, gen4));
    machine.cpus[static_cast<std::size_t>(i)].devices.emplace_back(pci);
  }
  return machine;
}

/// Two pairs of GPUs, each pair with NVLinks, on one CPU.
Machine two_pairs() {
  Machine machine{{test::intel_cpu(0, 143)}};
  for (int gpu = 0; gpu < 4; ++gpu) {
    MachinePci device = test::gpu_device(16 * (gpu + 1), gpu, 86, 0, gen4);
    const int peer = gpu % 2 == 0 ? gpu + 1 : gpu - 1;
    device.gpu->nvlinks.push_back({test::bus(16 * (peer + 1)), 4, "0x030200"});
    machine.cpus[0].devices.emplace_back(device);
  }
  return machine;
}

}  // namespace

TEST_CASE("one node alone has no network devices") {
  const Machine machine = test::nic_per_gpu(8, 90, 18, 400000, "32.0 GT/s PCIe");
  CHECK(detect(machine, NodeCount::One).system.count(PartKind::Net) == 0);
  CHECK(detect(machine, NodeCount::Several).system.count(PartKind::Net) == 8);
}

TEST_CASE("what a channel can have at most is a path to a GPU, or to the network") {
  const Machine machine = test::nic_per_gpu(8, 90, 18, 400000, "32.0 GT/s PCIe");
  const DetectedNode one = detect(machine, NodeCount::One);
  CHECK(one.most_bandwidth == 18 * 20.6F);
  CHECK(one.total_bandwidth == 18 * 20.6F);
  const DetectedNode several = detect(machine, NodeCount::Several);
  CHECK(several.most_bandwidth == 48);  // PCIe Gen5 before 50 GB/s of the NIC
  CHECK(several.total_bandwidth == 18 * 20.6F);
}

TEST_CASE("a network faster than the way between sockets splits the node") {
  // 100 Gb/s = 12.5 GB/s > 10 GB/s; 50 Gb/s is slower.
  CHECK(detect(two_sockets(100000), NodeCount::Several).gpus.size() == 1);
  CHECK(detect(two_sockets(50000), NodeCount::Several).gpus.size() == 2);
  const DetectedNode second = detect(two_sockets(100000), NodeCount::Several, {}, 1);
  CHECK(second.system.part(second.gpus.front()).gpu.rank == 1);
  CHECK(second.part_ranks == std::vector<int>{0, 1});
  CHECK(detect(two_sockets(50000), NodeCount::Several).part_ranks == std::vector<int>{0});
  // Split, one host is several nodes: the network devices stay.
  CHECK(detect(two_sockets(100000), NodeCount::One).system.count(PartKind::Net) == 2);

  DetectOptions options;
  options.net_disable_intra = true;
  CHECK(detect(two_sockets(100000), NodeCount::Several, options).gpus.size() == 2);
}

TEST_CASE("without shared memory only P2P holds a node together") {
  DetectOptions options;
  options.shm_disable = true;
  CHECK(detect(two_sockets(50000), NodeCount::Several, options).gpus.size() == 1);
  CHECK(
      detect(test::nic_per_gpu(8, 90, 18, 400000, gen4), NodeCount::Several, options).gpus.size() ==
      8);
}

TEST_CASE("questions about a node with NVSwitch") {
  const DetectedNode node =
      detect(test::nic_per_gpu(8, 90, 18, 400000, "32.0 GT/s PCIe"), NodeCount::Several);
  CHECK(has_nvswitch(node));
  CHECK(all_nvlink(node));
  CHECK(!is_split(node));
  CHECK(gpu_path(node, 0, 7).type == PathType::Nvl);
  CHECK(nvlink_bandwidth(node, 0) == 20.6F);
  CHECK(least_sm(node) == 90);
  CHECK(most_sm(node) == 90);
  CHECK(cpu_of(node).vendor == CpuVendor::Intel);
  CHECK(nets_by_bandwidth(node, 0) == 0);  // a switch stands between GPU and CPU
  CHECK(path_types(node, PartKind::Net).best == PathType::Pix);
  CHECK(path_types(node, PartKind::Net).worst == PathType::Pxn);
}

TEST_CASE("pairs of GPUs with NVLinks are a split node") {
  const DetectedNode node = detect(two_pairs(), NodeCount::One);
  CHECK(is_split(node));
  CHECK(!all_nvlink(node));
  CHECK(!has_nvswitch(node));
  CHECK(gpu_path(node, 0, 1).bandwidth == 48);  // 4 links of 12 GB/s
}

TEST_CASE("NICs fill what a GPU has towards its CPU") {
  Machine machine{{test::intel_cpu(0, 143)}};
  machine.cpus[0].devices.emplace_back(test::gpu_device(16, 0, 80, 0, gen4));
  for (int nic = 0; nic < 3; ++nic) {
    machine.cpus[0].devices.emplace_back(test::nic_device(32 + nic, nic, 100000, gen4));
  }
  // 12.5 + 12.5 GB/s cover the 24 GB/s of PCIe Gen4.
  CHECK(nets_by_bandwidth(detect(machine, NodeCount::Several), 0) == 2);
}

}  // namespace collsim::nccl
