#pragma once

// A program by the GPU's interpreter in several processes of one machine, a rank each: every process lays out the whole program, makes
// its rank's arena, maps those of the others, and runs its own lanes. Messages, flags and counts go through mapped memory alone; the
// group is for addresses, for beginning together, and for noticing that a process is lost.

#include <string>
#include <vector>

#include "algorithms/program.hpp"
#include "validate/cuda/lane_machine.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/process_group.hpp"

namespace collsim {

/// Times a program and checks its data, together with all other ranks; returns the same outcome on each.
/// Throws: as LaneProgram and the machine; InputError where the blocks of processes that share a device do not fit on it together;
/// ExecutionError where a rank is lost, or a wait took too long.
[[nodiscard]] ExecutionOutcome execute_in_group(const Program& program,
                                                const ExecutionRequest& request, LaneWire wire,
                                                ProcessGroup& group, LaneMachine& machine);

/// `hosts` by rank. Throws: InputError where they are several: memory is mapped within one machine.
void require_one_host(const std::vector<std::string>& hosts);

}  // namespace collsim
