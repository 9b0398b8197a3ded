#include <algorithm>
#include <chrono>
#include <optional>

#include "tools/launchers.hpp"
#include "tools/sweep_processes.hpp"

namespace collsim {

std::size_t processes_begun() {
  const std::optional<LaunchedProcess> launched = launched_process();
  return launched ? launched->ranks : 1;
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
