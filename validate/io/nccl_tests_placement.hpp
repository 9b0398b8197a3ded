#pragma once

// Where a test ran, by its lines of devices: ranks, nodes, processes, GPUs. Names of hosts only tell them apart.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "validate/io/nccl_tests_header.hpp"

namespace collsim {

struct Placement {
  std::uint32_t ranks = 0;   ///< 0: unknown
  std::uint32_t listed = 0;  ///< ranks of which there is a line
  std::uint32_t nodes = 0;
  std::uint32_t processes = 0;
  std::uint32_t gpus_per_node = 0;
  std::uint32_t groups = 0;
  std::string gpu;
  bool gpus_differ = false;
  bool has_first_rank = false;
};

class DeviceList {
 public:
  enum class Added : std::uint8_t { Yes, Again, OfAnotherProcess };

  /// Throws: InputError for more than 65,536 ranks.
  Added add(const TestDevice& device);
  [[nodiscard]] const Placement& placement() const { return placement_; }

 private:
  using Process = std::pair<std::string, std::uint64_t>;

  Placement placement_;
  std::map<std::uint32_t, Process> ranks_;
  std::set<Process> processes_;
  std::set<std::uint32_t> groups_;
  std::map<std::string, std::uint32_t> on_host_;
};

}  // namespace collsim
