#pragma once

// What an exception means for the exit code, and the text it leaves on stderr.

#include <functional>
#include <iosfwd>

#include "tools/cli.hpp"

namespace collsim {

/// Runs the action. An exception becomes a message on `err` and an exit code; none gets out.
[[nodiscard]] int exit_code_of(const std::function<Exit()>& action, std::ostream& err);

}  // namespace collsim
