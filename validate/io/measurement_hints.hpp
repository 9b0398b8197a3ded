#pragma once

// What the user knows of measurements and their file does not say. Used where the file is silent; the launch mode also
// where it is not, since what a file says of it is little.

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/collective.hpp"

namespace collsim {

struct MeasurementHints {
  std::optional<std::uint32_t> ranks;
  std::optional<std::uint32_t> nodes;
  std::string launch;  ///< as parse_launch takes it; empty: none
  std::string nccl;    ///< "2.28.3"; empty: none
  std::optional<CollectiveKind> collective;
  std::optional<DataType> datatype;
};

}  // namespace collsim
