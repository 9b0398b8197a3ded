#pragma once

// The machine in parts, from the nodes outwards, and what can leave each part.
//
// The first division is that into nodes. Each further one joins the parts that links of the next
// level lead to: "leaf" gives the groups of nodes whose NICs hang on the same switches (directly or
// through each other), "spine" the groups of those, and so on until all is one part. In a machine
// whose NVLink leaves the node, "nvlink" comes between.
// Ignored: which of the links routes use.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/graph.hpp"

namespace collsim {

struct Division {
  std::string name;         ///< "node", or the level whose links were the last to join
  std::uint32_t parts = 0;  ///< those that have GPUs
  /// By device. Parts with GPUs come first, in order of their first GPU; then those without.
  std::vector<std::uint32_t> part_of;
};

/// From the nodes to the whole; at least one. Complexity: O(links) for each.
[[nodiscard]] std::vector<Division> divisions(const Graph& graph);

/// The division "half" of a torus or a dragonfly into two parts, of which the first is the smaller one
/// if they cannot be equal: a torus is cut through the middle of its longest dimension, where there are
/// two switches at least, a dragonfly between its groups, where there are two at least (a node whose
/// NICs are in both halves is where its first one is). Absent for others, and where a half has no GPU.
/// Requires: the description of this graph. Complexity: O(links).
[[nodiscard]] std::optional<Division> fabric_halves(const Graph& graph, const FabricSpec& fabric);

/// The bandwidths of any number of links together, exactly.
class TotalBandwidth {
 public:
  constexpr TotalBandwidth() = default;
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): one link's is a total, too
  constexpr TotalBandwidth(Bandwidth bandwidth) : units_(static_cast<U128>(bandwidth.units())) {}

  constexpr TotalBandwidth& operator+=(TotalBandwidth other) {
    units_ += other.units_;
    return *this;
  }
  constexpr auto operator<=>(const TotalBandwidth&) const = default;
  /// Absent where it is more than a Bandwidth can be, 9 PB/s.
  [[nodiscard]] std::optional<Bandwidth> bandwidth() const;
  /// For output only.
  [[nodiscard]] double as_bytes_per_second() const;

 private:
  U128 units_ = 0;  ///< those of Bandwidth
};

/// As a Bandwidth; beyond, in whole PB/s, rounded.
[[nodiscard]] std::string to_text(TotalBandwidth total);

struct TotalCut {
  TotalBandwidth out;
  TotalBandwidth in;
};

struct PartCut {
  std::uint32_t gpus = 0;
  TotalCut cut;     ///< over the links between the part and the rest
  TotalCut inside;  ///< the sum of the cuts of the parts inside it; of a node: of its GPUs
  TotalCut nodes;   ///< the sum of the cuts of its nodes: what its NICs carry
};

/// By part with GPUs. `inner` is the division before this one; null: that into GPUs.
/// Complexity: O(links).
[[nodiscard]] std::vector<PartCut> part_cuts(const Graph& graph, const Division& division,
                                             const Division* inner);

}  // namespace collsim
