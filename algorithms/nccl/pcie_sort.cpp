#include "algorithms/nccl/pcie_sort.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "algorithms/nccl/machine_text.hpp"

namespace collsim::nccl {

namespace {

struct Generation {
  std::string_view speed;
  int nccl;           ///< NCCL's number for it: hundreds of Mb/s
  std::int64_t lane;  ///< B/s
};
constexpr std::array<Generation, 6> generations{{{"2.5 GT/s PCIe", 15, 250'000'000},
                                                 {"5.0 GT/s PCIe", 30, 500'000'000},
                                                 {"8.0 GT/s PCIe", 60, 984'375'000},
                                                 {"16.0 GT/s PCIe", 120, 1'968'750'000},
                                                 {"32.0 GT/s PCIe", 240, 3'937'500'000},
                                                 {"64.0 GT/s PCIe", 480, 7'562'500'000}}};

}  // namespace

PcieSort pcie_sort(Bandwidth bandwidth) {
  constexpr std::array<int, 5> widths{16, 8, 4, 2, 1};
  const std::int64_t wanted = bandwidth.units() / Bandwidth::units_per_byte_per_second;
  PcieSort best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const int width : widths) {
    for (const Generation& generation : generations) {
      const std::int64_t off = std::abs(generation.lane * width - wanted);
      if (off < least) {
        least = off;
        best = {std::string(generation.speed), width};
      }
    }
  }
  return best;
}

Bandwidth pcie_bandwidth(std::string_view speed, int width) {
  constexpr int default_speed = 60;
  constexpr int default_width = 16;
  constexpr int most_lanes = 32;
  const int known = lane_speed(speed).value_or(default_speed);
  const auto* const found = std::ranges::find(generations, known, &Generation::nccl);
  const std::int64_t lane = found == generations.end() ? generations[2].lane : found->lane;
  const int lanes = width > 0 ? std::min(width, most_lanes) : default_width;
  return Bandwidth::bytes_per_second(lane * lanes);
}

}  // namespace collsim::nccl
