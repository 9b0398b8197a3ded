#pragma once

// The table of algorithms: name → collectives, condition, builder. A new algorithm is a file that
// describes it and its name in table.cpp; see docs/add_an_algorithm.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"
#include "algorithms/program.hpp"
#include "topology/ids.hpp"

namespace collsim {

/// What a program is built for.
struct ProgramRequest {
  CollectiveCall call;
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;
  /// The node of each rank; empty: all on one node. Only hierarchical algorithms look at it.
  std::vector<NodeId> node_of_rank;
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< one line, for `collsim list algorithms`
  std::vector<CollectiveKind> collectives;
  /// Why the algorithm cannot run this request; absent: it can. (Collective already checked.)
  std::optional<std::string> (*obstacle)(const ProgramRequest& request);
  /// Requires: one of `collectives`, no obstacle, at least 2 ranks and 1 element.
  std::unique_ptr<Program> (*build)(const ProgramRequest& request);
};

/// For algorithms that can run any request for their collectives.
[[nodiscard]] std::optional<std::string> no_obstacle(const ProgramRequest& request);

/// All algorithms, in the order in which tables show them.
[[nodiscard]] std::span<const Algorithm> algorithms();

/// Throws: InputError for an unknown name (the nearest one named).
[[nodiscard]] const Algorithm& find_algorithm(std::string_view name);

[[nodiscard]] bool implements(const Algorithm& algorithm, CollectiveKind kind);

/// Those that implement the collective and have no obstacle.
[[nodiscard]] std::vector<const Algorithm*> applicable_algorithms(const ProgramRequest& request);

/// The program for a request; a copy at most for 1 rank or 0 bytes.
/// Throws: InputError if the algorithm does not implement the collective (those that do are named),
/// its obstacle, a root that is no rank, or a collective in place that cannot be; RangeError if it
/// needs 2^63 bytes or more of scratch memory.
[[nodiscard]] std::unique_ptr<Program> build_program(const Algorithm& algorithm,
                                                     const ProgramRequest& request);

}  // namespace collsim
