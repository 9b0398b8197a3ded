#pragma once

// One call on data of the user's: JSON in, JSON out. For comparisons with other libraries.
//
//   {"inputs": [[0, 1], [2, 3]]}   one list a rank; of collectives with a root that sends, the others' may be empty

#include <string>

#include "tools/measure_options.hpp"

namespace collsim {

/// Runs the call on threads of this machine; what every rank has in the end as `collsim/data/1`.
/// Throws: InputError where the file is no such thing, or its lists do not fit the collective.
[[nodiscard]] std::string run_on_data(const MeasureCommand& command, const std::string& file);

}  // namespace collsim
