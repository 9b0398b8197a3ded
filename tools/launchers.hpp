#pragma once

// Who began this process, where it is one of several: mpirun or srun, as their variables say.

#include <cstdint>
#include <optional>

namespace collsim {

struct LaunchedProcess {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;  ///< in all
};

/// Absent: nobody who says so, or not in numbers. A shell that Slurm gave (salloc, sbatch) is nobody: only srun begins ranks.
[[nodiscard]] std::optional<LaunchedProcess> launched_process();

}  // namespace collsim
