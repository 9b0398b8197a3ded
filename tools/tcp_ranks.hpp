#pragma once

// The processes of the backend tcp: started here, or by somebody else and told who they are.

#include <functional>

#include "tools/cli.hpp"
#include "tools/measure_options.hpp"
#include "validate/tcp/join.hpp"

namespace collsim {

/// Ranks in all: --spawn, --world-size, or as mpirun or Slurm say. Throws: InputError naming the option.
[[nodiscard]] std::uint32_t tcp_ranks(const TcpOptions& options);

/// This process's place; the digest is the caller's to fill in. Throws: InputError naming the option.
[[nodiscard]] TcpPlace tcp_place(const MeasureCommand& command);

/// Starts `ranks` processes that meet on loopback, knowing a secret of their own, and waits for all. When one fails, the others
/// have some seconds to end; none outlives this process. Returns how the first that failed ended.
/// Throws: ExecutionError where one is killed.
[[nodiscard]] Exit spawn_ranks(std::uint32_t ranks, std::chrono::milliseconds patience,
                               const std::function<Exit(const TcpPlace&)>& work);

}  // namespace collsim
