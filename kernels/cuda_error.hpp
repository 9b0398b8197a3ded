#pragma once

// Thrown where a call of the CUDA runtime, or of NCCL, fails. Needs neither.

#include <string>

#include "topology/error.hpp"

namespace collsim {

/// Exit code 1.
class CudaError : public Error {
 public:
  CudaError(const char* call, const std::string& what, const char* file, int line)
      : Error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + what) {}
};

}  // namespace collsim
