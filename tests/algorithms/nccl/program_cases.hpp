#pragma once

// Calls for which the tests of NCCL's programs build programs: communicators of every shape, without
// a graph search.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/nccl/execution.hpp"
#include "algorithms/nccl/trees.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"

namespace collsim::nccl::test {

/// Nodes of H100, `gpus` each, with two search channels that visit them in different orders: four
/// channels run, each ring on two of them, each of the four trees on one.
ReferenceMachine small_machine(int nodes, int gpus);

/// Every way to have 2 to 16 ranks, 1 to 8 of them a node.
[[nodiscard]] std::vector<RankLayout> small_layouts();
/// Some with 24, 32 and 64 ranks.
[[nodiscard]] std::vector<RankLayout> large_layouts();

[[nodiscard]] RankLayout layout_of(const ReferenceMachine& machine);
[[nodiscard]] std::vector<std::vector<Rank>> rings_of(const ReferenceMachine& machine);
[[nodiscard]] std::vector<std::vector<TreeLinks>> trees_of(const ReferenceMachine& machine);

/// The call by all ranks of the machine, in place, of 4-byte floats.
[[nodiscard]] CollectiveCall call_on(const ReferenceMachine& machine, CollectiveKind kind,
                                     std::int64_t count);

[[nodiscard]] Execution execution_on(const ReferenceMachine& machine, const CollectiveCall& call,
                                     Algorithm algorithm, Protocol protocol);

/// Ring or Tree.
[[nodiscard]] std::unique_ptr<Program> program_on(const ReferenceMachine& machine,
                                                  const Execution& execution);

/// Fails if the program breaks a law of all programs or leaves a rank without its data.
void require_right(const Program& program);

/// Bytes sent from a rank to another one.
using Traffic = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;
[[nodiscard]] Traffic traffic_of(const Program& program);

/// Messages one after the other, each sent because the one before was received: the longest such
/// chain. What a lane does in order also counts as cause.
[[nodiscard]] std::uint64_t serial_hops(const Program& program);

}  // namespace collsim::nccl::test
