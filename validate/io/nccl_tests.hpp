#pragma once

// The output of nccl-tests and rccl-tests as text, of all eras, as people have it: with the prefixes of launchers, with
// lines of NCCL between and inside its lines, cut, copied through Markdown, as CSV (docs/measurements.md).

#include <string>
#include <string_view>

#include "validate/io/measurement_hints.hpp"
#include "validate/measurement.hpp"

namespace collsim {

/// Never throws for what a line holds: what cannot be trusted is dropped and listed.
/// Throws: InputError if nothing is left, or where neither the text nor the hints tell a table's collective or ranks.
[[nodiscard]] Measurements parse_nccl_tests(std::string_view bytes, const std::string& file,
                                            const MeasurementHints& hints = {});

}  // namespace collsim
