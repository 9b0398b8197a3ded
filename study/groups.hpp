#pragma once

// Ranks in groups, as parallel training has them: the same collective runs in all groups at once.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload.hpp"

namespace collsim {

/// How ranks fall into groups of `size`.
struct Grouping {
  enum class Kind : std::uint8_t {
    TensorParallel,  ///< "tp=8": ranks that follow each other
    DataParallel,    ///< "dp=8": ranks as far apart as there are groups; across the groups of tp
  };
  Kind kind = Kind::TensorParallel;
  std::uint32_t size = 1;
};

/// Reads "tp=8" or "dp=8". Throws: InputError("--groups").
[[nodiscard]] Grouping parse_grouping(std::string_view text);

/// The groups, each in the order of its ranks. Throws: InputError("--groups") if the size does not divide
/// the number of ranks.
[[nodiscard]] std::vector<Communicator> split(const Communicator& ranks, Grouping grouping);

}  // namespace collsim
