#pragma once

// Where ranks of a measurement run, and how ranks that are processes tell each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/execution/process_group.hpp"

namespace collsim {

/// The GPU of a rank.
struct RankGpu {
  std::uint32_t device = 0;  ///< as its process counts
  std::string bus;           ///< "0000:1b:00.0": which one of the machine it is
  std::string name;          ///< "NVIDIA H200"
};

/// Where a rank runs.
struct RankPlace {
  std::string host;
  std::uint32_t process = 0;
  std::optional<RankGpu> gpu;  ///< of backends that have any
};

/// This process, on the machine of that name.
[[nodiscard]] RankPlace place_here(const std::string& host);

/// Everyone's, by rank. What others say is made printable. Throws: as ProcessGroup::exchange.
[[nodiscard]] std::vector<RankPlace> exchange_places(ProcessGroup& group, const RankPlace& own);

/// GPUs that have a rank; 0: the ranks are not on GPUs.
[[nodiscard]] std::uint32_t gpus_of(const std::vector<RankPlace>& places);

}  // namespace collsim
