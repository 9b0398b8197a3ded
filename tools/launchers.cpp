#include "tools/launchers.hpp"

#include <array>
#include <cstdlib>

#include "tools/whole_number.hpp"

namespace collsim {

namespace {

struct Launcher {
  const char* rank;
  const char* ranks;
};
/// Open MPI; MPICH and others with PMI; a step of Slurm's. (SLURM_NTASKS is set outside of steps, too.)
constexpr std::array launchers{Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               Launcher{"PMI_RANK", "PMI_SIZE"},
                               Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

std::optional<std::uint32_t> number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) {
    return std::nullopt;
  }
  return whole_number<std::uint32_t>(value);
}

}  // namespace

std::optional<LaunchedProcess> launched_process() {
  for (const Launcher& launcher : launchers) {
    const auto rank = number_of(launcher.rank);
    const auto ranks = number_of(launcher.ranks);
    if (rank && ranks) {
      return LaunchedProcess{*rank, *ranks};
    }
  }
  return std::nullopt;
}

}  // namespace collsim
