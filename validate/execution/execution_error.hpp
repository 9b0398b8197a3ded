#pragma once

// Thrown where a run on real machines cannot finish, which is nobody's mistake in the input.

#include "topology/error.hpp"

namespace collsim {

/// A peer is lost or late, or nothing moves any more: says who, at which step, for how long. Exit code 1.
class ExecutionError : public Error {
 public:
  using Error::Error;
};

}  // namespace collsim
