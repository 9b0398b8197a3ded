#include "algorithms/nccl/machine_text.hpp"

#include <limits>

#include "algorithms/nccl/graph.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl {

TEST_CASE("classes of PCI devices are known by their prefix") {
  CHECK(kind_of_class("0x060400") == PartKind::Pci);
  CHECK(kind_of_class("0x068000") == PartKind::NvSwitch);
  CHECK(kind_of_class("0x068001") == PartKind::Cpu);
  CHECK(kind_of_class("0x030200") == PartKind::Gpu);
  CHECK(kind_of_class("0x020700") == PartKind::Nic);
  CHECK(!kind_of_class("0x060000"));
  CHECK(!kind_of_class(""));
}

TEST_CASE("speeds of PCIe lanes are known by their prefix, in both spellings of the kernel") {
  // GB/s at x16 is 16 · value / 80: 3 (Gen1), 12 (Gen3), 24, 48, 96.
  CHECK(lane_speed("2.5 GT/s PCIe") == 15);
  CHECK(lane_speed("8 GT/s") == 60);
  CHECK(lane_speed("8.0 GT/s PCIe") == 60);
  CHECK(lane_speed("16.0 GT/s PCIe") == 120);
  CHECK(lane_speed("32 GT/s") == 240);
  CHECK(lane_speed("64.0 GT/s PCIe") == 480);
  // Without "PCIe" the spelling with a decimal is unknown.
  CHECK(!lane_speed("16.0 GT/s"));
  CHECK(!lane_speed(""));
}

TEST_CASE("a bus id is the number of its hexadecimal digits") {
  CHECK(bus_number("0000:1b:00.0") == 0x1b000);
  CHECK(bus_number("0001:00:00.1") == 0x100001);
  CHECK(bus_number("fffffff:ff:ff.0") == 0xfffffffffff0U);
  CHECK(bus_number("0000:1B:00.0") == 0x1b000);
  CHECK(bus_number("x") == 0);
  // No more than 16 digits count.
  CHECK(bus_number("11111111222222223") == 0x1111111122222222U);
}

TEST_CASE("numbers are read as C does") {
  CHECK(c_number("0x10de") == 0x10de);
  CHECK(c_number("16") == 16);
  CHECK(c_number("010") == 8);
  CHECK(c_number(" -3") == -3);
  CHECK(c_number("0x") == 0);
  CHECK(c_number("") == 0);
  CHECK(c_number("--1") == 0);
  CHECK(c_number("99999999999999999999") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a guid is hexadecimal, with and without 0x") {
  CHECK(asic_of_guid("0x1f") == 0x1f);
  CHECK(asic_of_guid("0X1F") == 0x1f);
  CHECK(asic_of_guid("1f") == 0x1f);
  CHECK(asic_of_guid("10") == 0x10);
  CHECK(asic_of_guid("  7") == 7);
  CHECK(asic_of_guid("port") == 0);
  CHECK(asic_of_guid("") == 0);
  CHECK(asic_of_guid("0xfffffffffffffffff") == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("hosts are told apart by the number of their hash") {
  CHECK(host_number("0x1f") == 0x1f);
  CHECK(host_number("1f") == 0x1f);
  CHECK(host_number("") == 0);
}

TEST_CASE("models of CPUs are told apart as far as their links differ") {
  CHECK(cpu_facts(test::intel_cpu(0, 0x54)).model == CpuModel::Broadwell);
  CHECK(cpu_facts(test::intel_cpu(0, 0x55)).model == CpuModel::Skylake);
  CHECK(cpu_facts(test::intel_cpu(0, 0x8F)).model == CpuModel::SapphireRapids);
  CHECK(cpu_facts(test::intel_cpu(0, 0xCF)).model == CpuModel::EmeraldRapids);
  CHECK(cpu_facts(test::amd_cpu(0)).vendor == CpuVendor::Amd);
  MachineCpu zhaoxin = test::intel_cpu(0, 0x5B);
  zhaoxin.vendor = "  Shanghai  ";
  zhaoxin.family_id = 7;
  CHECK(cpu_facts(zhaoxin).model == CpuModel::Yongfeng);
  // Only of x86 the vendor counts.
  MachineCpu arm = test::intel_cpu(0, 0x8F);
  arm.architecture = "arm64";
  CHECK(cpu_facts(arm).architecture == CpuArchitecture::Arm);
  CHECK(cpu_facts(arm).vendor == CpuVendor::Unknown);
}

TEST_CASE("levels of path types are names, or numbers of old versions") {
  CHECK(path_level("NVL") == PathType::Nvl);
  CHECK(path_level("SYS") == PathType::Sys);
  CHECK(path_level("0") == PathType::Loc);
  CHECK(path_level("2") == PathType::Pxb);
  CHECK(path_level("9") == PathType::Sys);
  CHECK(!path_level("NET"));
  CHECK(!path_level("nvl"));
  CHECK(!path_level("2x"));
}

}  // namespace collsim::nccl
