#include "algorithms/nccl/system.hpp"

#include <string>

#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

const std::string gen4 = "16.0 GT/s PCIe";

/// The link of a kind from a part to the first of another kind, or null.
const PartLink* link_to(const System& system, PartId from, PartKind to) {
  for (const PartLinkId id : system.part(from).links) {
    if (system.part(system.link(id).to).kind == to) {
      return &system.link(id);
    }
  }
  return nullptr;
}

std::string message_of(const Machine& machine) {
  try {
    static_cast<void>(make_system(machine, LinkSpeeds{}));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

/// One CPU with GPUs directly below.
Machine gpus_on_cpu(int gpus) {
  Machine machine{{test::intel_cpu(0, 143)}};
  for (int gpu = 0; gpu < gpus; ++gpu) {
    machine.cpus[0].devices.emplace_back(test::gpu_device(16 * (gpu + 1), gpu, 80, 0, gen4));
  }
  return machine;
}

MachineGpu& gpu_of(Machine& machine, std::size_t number) {
  return *std::get<MachinePci>(machine.cpus[0].devices[number]).gpu;
}

}  // namespace

TEST_CASE("a node has its parts and links with NCCL's bandwidths") {
  const System system = make_system(test::nic_per_gpu(8, 90, 18, 400000, "32.0 GT/s PCIe"), {});
  CHECK(system.count(PartKind::Gpu) == 8);
  CHECK(system.count(PartKind::Pci) == 8);
  CHECK(system.count(PartKind::NvSwitch) == 1);
  CHECK(system.count(PartKind::Net) == 8);
  const PartId gpu = system.all(PartKind::Gpu).front();
  // 18 links of 20.6 GB/s; 16 lanes of 240 · 100 Mb/s; 400 Gb/s = 50 GB/s.
  CHECK(link_to(system, gpu, PartKind::NvSwitch)->bandwidth == 18 * 20.6F);
  CHECK(link_to(system, gpu, PartKind::Pci)->bandwidth == 48);
  const PartId net = system.all(PartKind::Net).front();
  CHECK(link_to(system, net, PartKind::Nic)->bandwidth == 50);
  // Sapphire Rapids.
  const PartId cpu = system.all(PartKind::Cpu).front();
  CHECK(link_to(system, cpu, PartKind::Cpu)->bandwidth == 22);
}

TEST_CASE("NVLinks are faster with each generation") {
  const LinkSpeeds speeds;
  CHECK(nvlink_bandwidth(speeds, 60) == 18.0F);
  CHECK(nvlink_bandwidth(speeds, 70) == 20.0F);
  CHECK(nvlink_bandwidth(speeds, 80) == 20.0F);
  CHECK(nvlink_bandwidth(speeds, 86) == 12.0F);
  CHECK(nvlink_bandwidth(speeds, 90) == 20.6F);
  CHECK(nvlink_bandwidth(speeds, 120) == 40.1F);
  CHECK(nvlink_bandwidth(speeds, 50) == 20.0F);
}

TEST_CASE("the link up the PCIe tree is the last, NVLinks are the first") {
  const System system = make_system(test::nic_per_gpu(2, 90, 18, 400000, "32.0 GT/s PCIe"), {});
  const Part& gpu = system.part(system.all(PartKind::Gpu).front());
  CHECK(system.link(gpu.links.front()).kind == PartLinkKind::Nvlink);
  CHECK(system.link(gpu.links.back()).kind == PartLinkKind::Pci);
  const Part& pci = system.part(system.all(PartKind::Pci).front());
  CHECK(system.part(system.link(pci.links.back()).to).kind == PartKind::Cpu);
}

TEST_CASE("several NVLink entries for a peer are one link, and both directions must be there") {
  Machine machine = gpus_on_cpu(2);
  gpu_of(machine, 0).nvlinks = {{test::bus(32), 2, "0x030200"}, {test::bus(32), 1, "0x030200"}};
  CHECK(message_of(machine) ==
        "error: the link from device 0x10000 to 0x20000 has none back\n"
        "hint: NCCL refuses such a node: describe both directions");
  gpu_of(machine, 1).nvlinks = {{test::bus(16), 3, "0x030200"}};
  const System system = make_system(machine, {});
  CHECK(link_to(system, system.all(PartKind::Gpu).front(), PartKind::Gpu)->bandwidth == 60);
}

TEST_CASE("an NVLink to a GPU that is not there is left out") {
  Machine machine = gpus_on_cpu(2);
  gpu_of(machine, 0).nvlinks = {{test::bus(48), 2, "0x030200"}};
  const System system = make_system(machine, {});
  CHECK(link_to(system, system.all(PartKind::Gpu).front(), PartKind::Gpu) == nullptr);
}

TEST_CASE("ranks of the node are 0, 1, ... in the order of the file's ranks") {
  Machine machine = gpus_on_cpu(3);
  gpu_of(machine, 0).rank = 17;
  gpu_of(machine, 1).rank = 9;
  gpu_of(machine, 2).rank.reset();
  const System system = make_system(machine, {});
  REQUIRE(system.count(PartKind::Gpu) == 2);
  CHECK(system.part(system.all(PartKind::Gpu)[0]).gpu.rank == 1);
  CHECK(system.part(system.all(PartKind::Gpu)[1]).gpu.rank == 0);

  gpu_of(machine, 2).rank = 9;
  CHECK(message_of(machine) == "error: two GPUs have rank 9\nhint: a rank is one GPU's");
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    gpu_of(machine, gpu).rank.reset();
  }
  CHECK(make_system(machine, {}).count(PartKind::Gpu) == 3);
}

TEST_CASE("what stands below a GPU is not there") {
  Machine machine = gpus_on_cpu(1);
  std::get<MachinePci>(machine.cpus[0].devices[0])
      .children.push_back(test::gpu_device(99, 1, 80, 0, gen4));
  CHECK(make_system(machine, {}).count(PartKind::Gpu) == 1);
}

TEST_CASE("a node without GPUs is refused") {
  CHECK(message_of(gpus_on_cpu(0)) ==
        "error: the node has no GPU\n"
        "hint: templates of clouds leave the GPUs to NCCL: take a dump of a running job "
        "(NCCL_TOPO_DUMP_FILE), or name the machine with --cluster and the template with --env "
        "NCCL_TOPO_FILE=FILE");
}

TEST_CASE("NCCL has room for 576 devices of a kind") {
  CHECK(message_of(gpus_on_cpu(576)) == "accepted");
  CHECK(message_of(gpus_on_cpu(577)) ==
        "error: the node has more than 576 devices of a kind\nhint: NCCL refuses such a node");
}

TEST_CASE("the two levels of a Broadcom switch become one") {
  Machine machine{{test::intel_cpu(0, 143)}};
  MachinePci upper = test::pci_device(16, "0x060400", gen4);
  upper.vendor = "0x1000";
  upper.device = "0xc010";
  upper.subsystem_vendor = "0x1000";
  upper.subsystem_device = "0xa096";
  MachinePci lower = upper;
  lower.bus_id = test::bus(17);
  lower.children.push_back(test::gpu_device(18, 0, 80, 0, gen4));
  lower.children.push_back(test::gpu_device(19, 1, 80, 0, gen4));
  upper.children.push_back(lower);
  machine.cpus[0].devices.emplace_back(upper);
  const System system = make_system(machine, {});
  REQUIRE(system.count(PartKind::Pci) == 1);
  for (const PartId gpu : system.all(PartKind::Gpu)) {
    CHECK(link_to(system, gpu, PartKind::Pci)->to == system.all(PartKind::Pci).front());
  }
}

TEST_CASE("NICs without a PCIe device are one NIC, and a device number is used once") {
  Machine machine = gpus_on_cpu(1);
  machine.cpus.push_back(test::intel_cpu(1, 143));
  for (MachineCpu& cpu : machine.cpus) {
    MachineNet net;
    net.name = "eth0";
    net.dev = 0;
    MachineNet other = net;
    other.dev = cpu.numa_id + 1;
    MachineNet unused = net;
    unused.dev.reset();
    cpu.devices.emplace_back(MachineNic{{net, other, unused}});
  }
  const System system = make_system(machine, {});
  CHECK(system.count(PartKind::Nic) == 1);
  REQUIRE(system.count(PartKind::Net) == 3);
  // Without a speed: 10 Gb/s.
  CHECK(system.part(system.all(PartKind::Net).front()).net.bandwidth == 1.25F);
}

TEST_CASE("without some parts their links are gone and the others stay in order") {
  const System system = make_system(gpus_on_cpu(3), {});
  std::vector<bool> leave_out(system.parts().size(), false);
  leave_out[system.all(PartKind::Gpu)[1].index()] = true;
  const System less = system.without(leave_out);
  REQUIRE(less.count(PartKind::Gpu) == 2);
  CHECK(less.part(less.all(PartKind::Gpu)[1]).gpu.rank == 2);
  // Three GPUs had two directions each.
  CHECK(less.links().size() == system.links().size() - 2);
}

}  // namespace collsim::nccl
