#pragma once

// Where the time went. Every lane carries a vector of time by cause that sums to its clock; at each
// wait it is copied from the predecessor that came last (ties: the lane itself, then the local
// dependency, then the lowest slot), so the vector of the rank that ends last sums exactly to the
// total and describes the critical path. Memory: one vector a lane and one a message under way.

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/costs.hpp"
#include "topology/error.hpp"
#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim {

enum class Cause : std::uint8_t {
  Compute,     ///< Compute operations
  Launch,      ///< of kernels; by parameter, as all up to Proxy
  Step,        ///< synchronisation of steps, passes of LL
  Copy,        ///< bytes that a block's threads move more slowly than the wire could
  HandOff,     ///< until the peer sees flags
  Proxy,       ///< the thread that drives the network
  CreditWait,  ///< a send that waits for a free FIFO slot at its peer
  Wire,        ///< bytes at the route's full rate; by level of the narrowest link
  Sharing,     ///< the rest of a flow's time: others on the same links; by level of the bottleneck
  Latency,     ///< route latency; by level
};
[[nodiscard]] std::string_view name_of(Cause cause);

/// What the time of bytes is ascribed to.
enum class AttributeTo : std::uint8_t {
  Causes,  ///< the wire at its full rate, then what made them slower: for people
  /// All of it to the one that decided, threads or link, and all of an LL hop even where the wire hides a part of
  /// it: then a parameter's part over the total is by how much a change of the parameter changes the total,
  /// both relative, as long as the critical path stays. A wait for credit is what the lane that gave it back was doing
  /// until then. For fits.
  Limits,
};

/// One part of a total.
struct AttributedTime {
  Cause cause = Cause::Wire;
  std::optional<LevelId> level;
  std::optional<CostItem> parameter;
  Duration time{};
};

[[nodiscard]] Cause cause_of(CostItem item);

/// By number of the item.
using CostItemSet = std::bitset<cost_items>;

/// Maps (cause, level or parameter) to positions of a vector of picoseconds.
class AttributionLayout {
 public:
  /// `items`: those that have a place.
  explicit AttributionLayout(std::size_t levels, const CostItemSet& items = {});
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t compute() const { return 0; }
  [[nodiscard]] std::size_t credit_wait() const { return 1; }
  [[nodiscard]] std::size_t wire(LevelId level) const { return 2 + level.index(); }
  [[nodiscard]] std::size_t sharing(LevelId level) const { return 2 + levels_ + level.index(); }
  [[nodiscard]] std::size_t latency(LevelId level) const { return 2 + 2 * levels_ + level.index(); }
  /// Requires: the item has a place.
  [[nodiscard]] std::size_t cost(CostItem item) const {
    const std::size_t place = places_[static_cast<std::size_t>(item)];
    COLLSIM_ENSURE(place != 0, "a cost has no place in the attribution");
    return place;
  }
  /// The parts that are not zero, causes in the order of Cause, then by level.
  [[nodiscard]] std::vector<AttributedTime> parts(const std::int64_t* vector) const;

 private:
  std::size_t levels_;
  std::size_t size_;
  std::array<std::uint16_t, cost_items> places_{};  ///< by item; 0: it has none
};

}  // namespace collsim
