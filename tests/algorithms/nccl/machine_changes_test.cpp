// A change of a description is what NCCL then finds in the node.

#include "algorithms/nccl/machine_changes.hpp"

#include <vector>

#include "algorithms/nccl/node_facts.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

namespace {

Machine h100() { return test::nic_per_gpu(4, 90, 18, 400'000, "32.0 GT/s PCIe"); }

NodeFacts facts_of(const Machine& machine) {
  return node_facts(detect(machine, NodeCount::Several));
}

}  // namespace

TEST_CASE("the facts of a description", "[nccl][log]") {
  const NodeFacts facts = facts_of(h100());
  CHECK(facts.cpu.vendor == CpuVendor::Intel);
  CHECK(facts.nics == std::vector<float>(4, 50.0F));  // 400 Gb/s
  CHECK(facts.pcie == std::vector<float>(4, 48.0F));  // NCCL counts 24 Gb/s a lane of 32 GT/s
  CHECK(facts.nvlink == std::vector<float>(4, 18 * 20.6F));
}

TEST_CASE("GPUs that are not kept take no part", "[nccl][log]") {
  Machine machine = h100();
  keep_gpus(machine, 3);
  CHECK(facts_of(machine).pcie.size() == 3);
}

TEST_CASE("all CPUs become such ones", "[nccl][log]") {
  for (const CpuModel model : {CpuModel::Broadwell, CpuModel::Skylake, CpuModel::SapphireRapids,
                               CpuModel::EmeraldRapids}) {
    Machine machine = h100();
    set_cpus(machine, {CpuArchitecture::X86, CpuVendor::Intel, model});
    CHECK(facts_of(machine).cpu.model == model);
  }
  Machine machine = h100();
  set_cpus(machine, {CpuArchitecture::X86, CpuVendor::Amd, CpuModel::Other});
  CHECK(facts_of(machine).cpu.vendor == CpuVendor::Amd);
  set_cpus(machine, {CpuArchitecture::X86, CpuVendor::Zhaoxin, CpuModel::Yongfeng});
  CHECK(facts_of(machine).cpu.model == CpuModel::Yongfeng);
  set_cpus(machine, {CpuArchitecture::Arm, CpuVendor::Unknown, CpuModel::Other});
  CHECK(facts_of(machine).cpu.architecture == CpuArchitecture::Arm);
  set_cpus(machine, {CpuArchitecture::Power, CpuVendor::Unknown, CpuModel::Other});
  CHECK(facts_of(machine).cpu.architecture == CpuArchitecture::Power);
}

TEST_CASE("links become as fast as a log says", "[nccl][log]") {
  Machine machine = h100();
  set_nic_speed(machine, 12.5F);
  CHECK(facts_of(machine).nics == std::vector<float>(4, 12.5F));
  CHECK(set_gpu_pcie(machine, 12.0F));  // 8 GT/s on 16 lanes, 6 Gb/s each
  CHECK(facts_of(machine).pcie == std::vector<float>(4, 12.0F));
  CHECK_FALSE(set_gpu_pcie(machine, 13.0F));
  CHECK(facts_of(machine).pcie == std::vector<float>(4, 12.0F));
  CHECK(set_nvlinks(machine, 8));
  CHECK(facts_of(machine).nvlink == std::vector<float>(4, 8 * 20.6F));
  Machine none = test::nic_per_gpu(4, 90, 0, 400'000, "32.0 GT/s PCIe");
  CHECK_FALSE(set_nvlinks(none, 8));
}

}  // namespace collsim::nccl
