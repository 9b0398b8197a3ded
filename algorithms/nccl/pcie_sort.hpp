#pragma once
// PCIe links by generation and lanes, as NCCL's topology file tells them, and their nominal bandwidth,
// as our descriptions do. Nominal: 2.5 and 5 GT/s in 8b/10b, 8 to 32 GT/s in 128b/130b, 64 GT/s in
// flits of 256 B with 242 B of data.

#include <string>
#include <string_view>

#include "topology/units.hpp"

namespace collsim::nccl {

/// A sort of PCIe link.
struct PcieSort {
  std::string speed{};  ///< of a lane: "32.0 GT/s PCIe"
  int width{16};        ///< lanes

  bool operator==(const PcieSort&) const = default;
};

/// The sort whose bandwidth is nearest; of equals the one with most lanes.
[[nodiscard]] PcieSort pcie_sort(Bandwidth bandwidth);

/// What a link carries in each direction. A text that NCCL does not know counts as 8 GT/s, 0 lanes as
/// 16.
[[nodiscard]] Bandwidth pcie_bandwidth(std::string_view speed, int width);

}  // namespace collsim::nccl
