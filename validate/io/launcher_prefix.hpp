#pragma once

// What launchers, schedulers and log collectors put before each line of a program:
//   srun -l                 ` 3: text`
//   mpirun --tag-output     `[1,3]<stdout>:text`, `[prterun-…@1,3]<stdout>: text`
//   mpiexec, torchrun       `[3] text`, `[rank3]: text`, `rank3: text`
//   time stamps             `2025-03-01T12:00:00.25Z text`, `[2025-03-01 12:00:00] text`, `12:00:00 text`
//   quoted in a message     `> text`
// alone or stacked. Names of machines in them go nowhere.

#include <cstdint>
#include <optional>
#include <string_view>

namespace collsim {

struct StrippedLine {
  std::string_view text;
  std::optional<std::uint32_t> rank{};  ///< of the process that wrote it
};

[[nodiscard]] StrippedLine strip_launcher_prefix(std::string_view line);

}  // namespace collsim
