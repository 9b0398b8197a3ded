#include "validate/io/nccl_tests_placement.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim {

DeviceList::Added DeviceList::add(const TestDevice& device) {
  constexpr std::size_t most_devices = 65'536;
  const Process process{device.host, device.process};
  const auto [at, is_new] = ranks_.try_emplace(device.rank, process);
  if (!is_new) {
    return at->second == process ? Added::Again : Added::OfAnotherProcess;
  }
  if (ranks_.size() > most_devices) {
    throw InputError("more than " + std::to_string(most_devices) + " devices of a test");
  }
  processes_.insert(process);
  groups_.insert(device.group);
  std::uint32_t& beside = ++on_host_[device.host];
  placement_.ranks = std::max(placement_.ranks, device.rank + 1);
  placement_.listed = static_cast<std::uint32_t>(ranks_.size());
  placement_.nodes = static_cast<std::uint32_t>(on_host_.size());
  placement_.processes = static_cast<std::uint32_t>(processes_.size());
  placement_.groups = static_cast<std::uint32_t>(groups_.size());
  placement_.gpus_per_node = std::max(placement_.gpus_per_node, beside);
  placement_.gpus_differ =
      placement_.gpus_differ || (!placement_.gpu.empty() && placement_.gpu != device.gpu);
  placement_.gpu = placement_.gpu.empty() ? device.gpu : placement_.gpu;
  placement_.has_first_rank = placement_.has_first_rank || device.rank == 0;
  return Added::Yes;
}

}  // namespace collsim
