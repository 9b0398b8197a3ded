#pragma once

// What nccl-tests writes with -J FILE (since October 2025; format versions 1 to 3), also where the file is cut: then the
// whole results are read.
//
// Source: nccl-tests src/util.cu.

#include <string>
#include <string_view>

#include "validate/io/measurement_hints.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// Of the environment, only NCCL's variables are read; of the devices, names of hosts only tell them apart.
/// Throws: InputError if it is not such a file, or nothing of it can be used.
[[nodiscard]] Measurements parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                 const MeasurementHints& hints = {});

}  // namespace collsim
