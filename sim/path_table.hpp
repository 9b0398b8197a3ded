#pragma once

// Opened routes, flat in one array, and the capacity that every link has now. What the network
// models have in common about where bytes go.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/fair_share.hpp"
#include "sim/network.hpp"
#include "sim/slot_pool.hpp"

namespace collsim {

/// fine_bytes_on() for a hop of a PathTable.
[[nodiscard]] inline U128 fine_bytes_of(Bytes bytes, const ResourceUse& hop) {
  if (hop.numerator == hop.denominator) {
    return to_fine(bytes);  // nearly always
  }
  return fine_bytes_on(bytes, RouteHop{LinkId(hop.resource), hop.numerator, hop.denominator});
}

class PathTable {
 public:
  explicit PathTable(const Graph& graph);

  /// `crowds`: see Network::open. Throws: InternalError if the route has no hop or, without crowds, crosses
  /// a link twice. With crowds a link may stand in it several times, in different parts.
  PathId open(const Route& route, std::span<const std::uint32_t> crowds);
  void close(PathId path);
  /// See Network::expect.
  void expect(std::size_t paths);

  /// The path's links with what a transfer takes of each: `resource` is the position of the link.
  [[nodiscard]] std::span<const ResourceUse> hops(PathId path) const {
    const Path& entry = paths_[path];
    return {hops_.data() + entry.first_hop, entry.hop_count};
  }

  /// Where the path's hops begin in the array of all; for those who have no time to ask the path.
  [[nodiscard]] std::uint32_t first_hop(PathId path) const { return paths_[path].first_hop; }
  [[nodiscard]] const ResourceUse& hop(std::size_t position) const { return hops_[position]; }
  /// A number that no other path of this table has or had.
  [[nodiscard]] std::uint64_t opening(PathId path) const { return paths_[path].opening; }

  /// The largest rate with nothing else about, and the link that sets it (of equals, the first in order).
  struct FullRate {
    Rate rate;
    LinkId link;
  };
  /// Complexity: O(1); O(hops) the first time after a capacity changed.
  [[nodiscard]] FullRate full_rate(PathId path) {
    Path& entry = paths_[path];
    if (entry.computed_at != version_) {
      compute_full_rate(entry);
    }
    return {entry.full_rate, entry.narrowest};
  }

  /// Whether a link of the path is crossed by several transfers for each one that is started, or in several
  /// parts.
  [[nodiscard]] bool is_crowded(PathId path) const { return paths_[path].crowded; }
  /// The rate of each of them with nothing else about, and the link that sets it (of equals, the first in
  /// order).
  [[nodiscard]] FullRate crowded_rate(PathId path, std::uint32_t multiplicity) const;

  /// Of links that limit a transfer alike the one of the lowest level counts, of these the lowest number:
  /// the place of each in this order.
  [[nodiscard]] std::span<const std::uint32_t> tie_order() const { return tie_order_; }
  [[nodiscard]] bool comes_before(LinkId a, LinkId b) const {
    const bool links = a.index() < tie_order_.size() && b.index() < tie_order_.size();
    return links ? tie_order_[a.index()] < tie_order_[b.index()] : a < b;
  }

  [[nodiscard]] std::span<const std::int64_t> capacities() const { return capacities_; }
  /// See Network::add_resource.
  [[nodiscard]] LinkId add_resource(Bandwidth capacity) {
    capacities_.push_back(capacity.units());
    return LinkId(capacities_.size() - 1);
  }
  void set_capacity(LinkId link, Bandwidth bandwidth);

 private:
  struct Path {
    std::uint64_t opening = 0;
    Rate full_rate;
    LinkId narrowest;  ///< that sets it
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count : 31 = 0;
    bool crowded : 1 = false;
    std::uint32_t computed_at = 0;  ///< version_ that full_rate belongs to
  };
  static_assert(sizeof(Path) <= 40, "there may be millions");
  void compute_full_rate(Path& path) const;

  std::vector<std::uint32_t> tie_order_;  ///< by link
  std::vector<std::int64_t> capacities_;  ///< by link and other resource, in 2^-10 B/s
  std::uint32_t version_ = 1;             ///< grows with each change of a capacity
  std::uint64_t openings_ = 0;
  SlotPool<PathId, Path> paths_;
  std::vector<ResourceUse> hops_;
  std::vector<std::vector<std::uint32_t>> free_hops_;  ///< by hop count: first hops of closed paths
};

}  // namespace collsim
