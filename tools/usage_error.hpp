#pragma once

// Turns what the option parser objects to into a message that says what was found, what is accepted
// and where to read on. The words are ours, so they do not depend on the parser's version.

#include <string>
#include <vector>

#include "tools/cli_names.hpp"
#include "topology/error.hpp"

namespace collsim {

/// `words` are the program's arguments.
[[nodiscard]] InputError usage_error(const CLI::App& app, const CLI::ParseError& error,
                                     const std::vector<std::string>& words);

}  // namespace collsim
