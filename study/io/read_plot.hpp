#pragma once

// `plot` of an experiment: which axis or metric stands where.

#include <string>
#include <vector>

#include "study/experiment.hpp"
#include "study/io/experiment_text.hpp"

namespace collsim {

/// Reads it for an experiment whose axes are known. `metrics` are the names of all that it has.
/// Throws: InputError.
[[nodiscard]] PlotSpec read_plot(ReadContext context, const LocatedNode& located,
                                 const Experiment& experiment,
                                 const std::vector<std::string>& metrics);

/// Refuses the experiment's plot, if two points would lie on each other in it without a word. A front shows each
/// point where it lies.
void require_apart(const YamlTree& tree, const LocatedNode& located, const Experiment& experiment,
                   const std::vector<SweepPoint>& points);

}  // namespace collsim
