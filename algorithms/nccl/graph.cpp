#include "algorithms/nccl/graph.hpp"

#include <array>
#include <cstddef>

namespace collsim::nccl {

std::string_view name(PathType type) {
  static constexpr std::array<std::string_view, 12> names{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                          "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  return names.at(static_cast<std::size_t>(type));
}

}  // namespace collsim::nccl
