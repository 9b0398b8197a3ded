#pragma once

// Files that tests read: those of this repository, and those of the folder `shared` beside it,
// which holds measurements and samples too large for the repository and need not be there.

#include <filesystem>
#include <optional>
#include <string_view>

namespace collsim::test {

/// The path of a file of the source tree, given relative to its root.
std::filesystem::path source_path(std::string_view relative);

/// The path of a file or folder in ../shared. If it is missing, prints that and has the test
/// reported as skipped; the case then returns:
///   const auto path = test::shared_path("measurements/README.md");
///   if (!path) return;
std::optional<std::filesystem::path> shared_path(std::string_view relative);

/// Prints why, and has the test reported as skipped; the case then returns.
void skip(std::string_view why);

}  // namespace collsim::test
