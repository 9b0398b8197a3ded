#pragma once

// Ctrl-C: a flag that long work looks at. The work stops with Interrupted, so nothing is half-written.

#include <exception>

namespace collsim {

struct Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT and SIGTERM set the flag; a broken pipe is an error of the write, not a signal.
void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace collsim
