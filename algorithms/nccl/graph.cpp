#include "algorithms/nccl/graph.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace collsim::nccl {

std::string_view name(PathType type) {
  static constexpr std::array<std::string_view, 12> names{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                          "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  return names.at(static_cast<std::size_t>(type));
}

std::optional<PathType> path_level(std::string_view text) {
  for (int type = 0; type <= static_cast<int>(PathType::Sys); ++type) {
    if (text == name(static_cast<PathType>(type))) {
      return static_cast<PathType>(type);
    }
  }
  static constexpr std::array<PathType, 5> old{PathType::Loc, PathType::Pix, PathType::Pxb,
                                               PathType::Phb, PathType::Sys};
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return old.at(std::min(number, old.size() - 1));
}

}  // namespace collsim::nccl
