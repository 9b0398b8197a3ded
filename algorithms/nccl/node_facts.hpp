#pragma once
// What a description of a node and a log of NCCL both tell of its devices: the same facts from either,
// so that they can be compared.

#include <optional>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/nccl_log.hpp"

namespace collsim::nccl {

struct NodeFacts {
  CpuFacts cpu{};               ///< of the first CPU
  std::vector<float> pcie{};    ///< GB/s of each GPU's link up, by rank; empty: not told
  std::vector<float> nvlink{};  ///< GB/s of each GPU's NVLinks together, by rank
  std::vector<float> nics{};    ///< GB/s of each network device, falling
};

[[nodiscard]] NodeFacts node_facts(const DetectedNode& node);
[[nodiscard]] NodeFacts node_facts(const LoggedSystem& system);

}  // namespace collsim::nccl
