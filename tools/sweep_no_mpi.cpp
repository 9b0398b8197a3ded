// Where MPI was not found when this was built.

#include "tools/sweep_processes.hpp"
#include "topology/error.hpp"

namespace collsim {

struct SweepProcesses::State {};

SweepProcesses::SweepProcesses() {
  if (const std::size_t count = processes_begun(); count > 1) {
    throw InputError(std::to_string(count) +
                         " processes were begun together, and this collsim was built without MPI",
                     "",
                     "install MPI and build again, or begin one process: --jobs uses all cores");
  }
}

SweepProcesses::~SweepProcesses() = default;

// NOLINTBEGIN(readability-convert-member-functions-to-static): with MPI they have a state
std::size_t SweepProcesses::count() const { return 1; }

bool SweepProcesses::leads() const { return true; }

bool SweepProcesses::agree(const std::string& text) { return !text.empty(); }

void SweepProcesses::lead(const SweepWork& work, const std::vector<std::size_t>& points,
                          const Take& take) {
  lead_alone(work, points, take);
}

void SweepProcesses::follow(const SweepWork& /*work*/) {
  COLLSIM_ENSURE(false, "a process alone leads");
}
// NOLINTEND(readability-convert-member-functions-to-static)

}  // namespace collsim
