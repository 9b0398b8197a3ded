#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "tools/sweep_processes.hpp"

namespace collsim {

std::size_t processes_begun() {
  // Open MPI; MPICH and its family; a step of Slurm's.
  for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(variable);
    std::size_t count = 0;
    if (value != nullptr &&
        std::from_chars(value, value + std::strlen(value), count).ec == std::errc()) {
      return count;
    }
  }
  return 1;
}

void lead_alone(const SweepWork& work, const std::vector<std::size_t>& points,
                const SweepProcesses::Take& take) {
  WorkerPool pool(std::min(work.workers, points.size()), work.make_worker);
  for (std::size_t next = 0; next < points.size() || pool.under_way() > 0;) {
    while (next < points.size() && pool.free() > 0) {
      pool.submit(points[next++]);
    }
    if (std::optional<FinishedLine> line = pool.take(std::chrono::seconds(1))) {
      take(*std::move(line));
    }
  }
}

}  // namespace collsim
