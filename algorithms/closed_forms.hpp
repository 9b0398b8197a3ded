#pragma once

// Closed forms: what an algorithm costs, as a formula, written without the simulator. Each is the
// one printed in docs/algorithms.md; messages call transfer_time() once each, so that the simulator
// must agree to the picosecond.
//
// The `mesh` forms assume that every pair of ranks has a link of its own (or that sharing is
// ignored: network model `ideal`), equal for all pairs. The `star` forms assume one switch with
// equal links and fair sharing (network model `flow`).

#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/collective.hpp"
#include "topology/units.hpp"

namespace collsim {

/// A machine in which all pairs are alike: alpha and beta of the textbooks.
struct UniformMachine {
  Duration latency{};   ///< of a route: alpha
  Bandwidth bandwidth;  ///< of a route, or of a GPU's link to the switch: 1 / beta
};

/// Time of `algorithm` with 1 channel and 1 chunk where no transfers share links; absent: no form
/// for this algorithm and collective.
[[nodiscard]] std::optional<Duration> closed_form_mesh(std::string_view algorithm,
                                                       const CollectiveCall& call,
                                                       const UniformMachine& machine);

/// The same on a star with fair sharing; naive, direct and ring only.
[[nodiscard]] std::optional<Duration> closed_form_star(std::string_view algorithm,
                                                       const CollectiveCall& call,
                                                       const UniformMachine& machine);

/// Time of `hierarchical` on `nodes` equal nodes of `gpus_per_node` (ranks in blocks), inside and
/// between nodes uniform, network model `ideal`.
[[nodiscard]] std::optional<Duration> closed_form_hierarchical(const CollectiveCall& call,
                                                               std::uint32_t gpus_per_node,
                                                               const UniformMachine& inside,
                                                               const UniformMachine& between);

}  // namespace collsim
