#pragma once

// Before the first point of a sweep: whether any can begin. Where none can, all for the same reason, something that
// they share is wrong, and is said once, where it stands in the experiment, instead of at every point.
//
// Assumes that it is enough to look at points that together have every value of every axis.

#include <string>

#include "study/io/read_experiment.hpp"

namespace collsim {

/// Throws: InputError, at its place in `base` where that can be told, if all points have the same fault.
void require_a_possible_point(const LoadedExperiment& experiment,
                              const std::string& config_directory);

}  // namespace collsim
