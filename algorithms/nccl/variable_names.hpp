#pragma once
// Variables that NCCL has and this model does not: to say so, rather than call them unknown.
//
// Not the whole of NCCL's list, only what its user guide documents or people commonly set.
// Source: NCCL user guide 2.30, environment variables.

#include <string_view>

namespace collsim::nccl {

[[nodiscard]] bool is_unmodelled_variable(std::string_view name);

}  // namespace collsim::nccl
