#pragma once

// What this machine is, for the measurements made on it.

#include <string>

namespace collsim {

struct MachineFacts {
  std::string host;      ///< its name
  std::string cpu;       ///< "INTEL(R) XEON(R) PLATINUM 8581C, 2 cores"
  std::string kernel;    ///< "Linux 6.1.0"
  std::string compiler;  ///< that built this program
  std::string date;      ///< today, "2026-11-30"
  unsigned cores = 1;    ///< that this process may use
};

/// What cannot be found out is "unknown", or 1.
[[nodiscard]] MachineFacts machine_facts();

}  // namespace collsim
