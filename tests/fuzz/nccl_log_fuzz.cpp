// Any bytes as a log of NCCL. Nothing but InputError may come out, whatever the pieces in which the
// bytes come; what is read is compared with a prediction without more.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "algorithms/nccl/io/log_reader.hpp"
#include "algorithms/nccl/log_comparison.hpp"
#include "algorithms/nccl/machine.hpp"
#include "topology/error.hpp"

namespace {

/// Two GPUs below one CPU.
collsim::nccl::Decisions prediction() {
  collsim::nccl::DecisionInput input;
  collsim::nccl::MachineCpu cpu;
  cpu.architecture = "x86_64";
  cpu.vendor = "GenuineIntel";
  for (int i = 0; i < 2; ++i) {
    collsim::nccl::MachinePci pci;
    pci.bus_id = i == 0 ? "0000:01:00.0" : "0000:02:00.0";
    pci.device_class = "0x030200";
    pci.link_speed = "16.0 GT/s PCIe";
    pci.link_width = 16;
    pci.gpu = collsim::nccl::MachineGpu{};
    pci.gpu->dev = i;
    pci.gpu->sm = 80;
    pci.gpu->rank = i;
    cpu.devices.emplace_back(pci);
  }
  input.machine.cpus.push_back(cpu);
  input.constants.max_channels = 64;
  input.constants.max_ranks_per_node = 72;
  input.constants.max_nvls_heads = 32;
  input.constants.speeds = {{0, {24, 20, 12, 6, 3}, {24, 12, 6, 3}}};
  return collsim::nccl::Decisions(input);
}

}  // namespace

// The name and the types are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const collsim::nccl::Decisions decisions = prediction();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as characters
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const collsim::nccl::NcclLog log = collsim::nccl::parse_nccl_log(text, "fuzz.log");
    for (const collsim::nccl::LoggedCommunicator& communicator : log.communicators) {
      static_cast<void>(collsim::nccl::compare_with_log(decisions, communicator));
    }
  } catch (const collsim::InputError& error) {
    static_cast<void>(error.render());
  }
  return 0;
}
