#pragma once

// Which of a machine's GPUs each rank gets, as numbers alone: no GPU is asked.

#include <cstdint>
#include <string>
#include <vector>

namespace collsim {

/// A rank a GPU, the first ones, where there are enough; else all GPUs, in blocks of ranks whose sizes differ by one at most.
/// Shapes: by rank. Requires: there is a GPU.
[[nodiscard]] std::vector<std::uint32_t> gpus_by_rank(std::uint32_t ranks, std::uint32_t gpus);

/// Of a rank among those of its own host.
struct HostShare {
  std::uint32_t index = 0;
  std::uint32_t ranks = 0;
};
/// `hosts` by rank.
[[nodiscard]] HostShare share_of_host(const std::vector<std::string>& hosts, std::uint32_t rank);

}  // namespace collsim
