#pragma once

// From the located tree of a cluster description to plain structs. docs/yaml_reference.md is the
// user's view of what is accepted here.

#include "topology/io/yaml_tree.hpp"
#include "topology/spec.hpp"

namespace collsim {

/// Reads the document at `root`, in which `node` is a mapping already and the shorthand `gpus` has
/// been moved into it (see overlay.hpp). Throws: InputError with path and location.
[[nodiscard]] ClusterSpec read_cluster_spec(const YamlTree& tree, YamlId root);

}  // namespace collsim
