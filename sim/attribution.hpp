#pragma once

// Where the time went. Every lane carries a vector of time by cause that sums to its clock; at each
// wait it is copied from the predecessor that came last (ties: the lane itself, then the local
// dependency, then the lowest slot), so the vector of the rank that ends last sums exactly to the
// total and describes the critical path. Memory: one vector a lane and one a message under way.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/costs.hpp"
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
  /// both relative, as long as the critical path stays. For fits.
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

enum class WithCosts : std::uint8_t { No, Yes };

/// Maps (cause, level or parameter) to positions of a vector of picoseconds.
class AttributionLayout {
 public:
  explicit AttributionLayout(std::size_t levels, WithCosts costs = WithCosts::No)
      : levels_(levels), costs_(costs == WithCosts::Yes ? cost_items : 0) {}
  [[nodiscard]] std::size_t size() const { return 2 + 3 * levels_ + costs_; }
  [[nodiscard]] std::size_t compute() const { return 0; }
  [[nodiscard]] std::size_t credit_wait() const { return 1; }
  [[nodiscard]] std::size_t wire(LevelId level) const { return 2 + level.index(); }
  [[nodiscard]] std::size_t sharing(LevelId level) const { return 2 + levels_ + level.index(); }
  [[nodiscard]] std::size_t latency(LevelId level) const { return 2 + 2 * levels_ + level.index(); }
  /// Requires: WithCosts::Yes.
  [[nodiscard]] std::size_t cost(CostItem item) const {
    return 2 + 3 * levels_ + static_cast<std::size_t>(item);
  }
  /// The parts that are not zero, causes in the order of Cause, then by level.
  [[nodiscard]] std::vector<AttributedTime> parts(const std::int64_t* vector) const;

 private:
  std::size_t levels_;
  std::size_t costs_;
};

}  // namespace collsim
