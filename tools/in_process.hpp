#pragma once

// Work that must not leave its traces in this process: CUDA, once it has been asked for anything, does not survive a fork.

#include <sys/types.h>

#include <functional>

#include "tools/cli.hpp"

namespace collsim {

/// Of a process that was just forked: ends with its parent, at once if that is gone already.
void end_with(pid_t parent);

/// Does the work in a process of its own, which ends with this one, and waits for it. Returns how it ended; what it throws stands
/// on stderr. Throws: ExecutionError where it cannot be started, or is killed.
[[nodiscard]] Exit in_process(const std::function<Exit()>& work);

}  // namespace collsim
