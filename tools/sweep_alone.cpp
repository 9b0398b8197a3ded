#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "tools/sweep_processes.hpp"

namespace collsim {

bool begun_by_mpi() {
  // Open MPI; MPICH and those of its family; Slurm's srun --mpi=pmi2; PMIx.
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMI_SIZE", "PMI_RANK",
                                 "PMIX_RANK"};
  return std::ranges::any_of(variables,
                             [](const char* variable) { return std::getenv(variable) != nullptr; });
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
