#pragma once

// The shortest ways from one device to all others, in one breadth-first walk: their figures, not the
// ways themselves. What PathLayers finds for a pair of devices, this tells for all targets at the
// cost of one search: how many links, how wide, and between which latencies and levels. The walk goes
// over the devices that forward; an end is looked at when it is asked for.
//
// Latencies and levels are those of all shortest ways, the narrower ones too: where least and most
// are equal, every way has them; where not, which way a route takes decides.

#include <cstdint>
#include <limits>
#include <vector>

#include "topology/graph.hpp"
#include "topology/path_search.hpp"

namespace collsim::detail {

/// The shortest ways to one device.
struct Ways {
  static constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t links = unreached;
  Bandwidth width;   ///< of the widest: its narrowest link
  Bandwidth common;  ///< not below the narrowest of the links that all of them share
  Duration least_latency{};
  Duration most_latency{};
  LevelId least_level;  ///< the outermost level that a way crosses
  LevelId most_level;
  std::uint64_t looked_at = 0;  ///< links that searches from both ends would about look at
};

class PathSweep {
 public:
  PathSweep(const Graph& graph, Scope scope, DeviceId from);

  /// The ways to a device; links are `unreached` where there is none. Walks no farther than that.
  /// Requires: another device than the first. Throws: std::overflow_error if a latency exceeds the
  /// range of Duration.
  [[nodiscard]] Ways to(DeviceId device);

  [[nodiscard]] bool is_of(Scope scope, DeviceId from) const {
    return scope_ == scope && from_ == from;
  }

 private:
  void expand();
  /// Takes in a link, and the ways to its source. Ways of more links than there are known are left out.
  void extend(Ways& ways, const Link& link, const Ways& before) const;
  std::uint32_t meet(DeviceId device);

  const Graph* graph_;
  Scope scope_;
  DeviceId from_;
  DeviceNumbering numbering_;
  std::vector<Ways> ways_;                ///< by device number
  std::vector<std::uint32_t> frontier_;   ///< device numbers
  std::vector<std::uint32_t> next_;       ///< those of the layer that is being found
  std::vector<std::uint64_t> looked_at_;  ///< by layer: links seen until it was complete
  Bandwidth first_;  ///< of the only link on which all longer ways begin; else no bound
};

}  // namespace collsim::detail
