#pragma once

// Changes to a document before it is read: --set, and the shorthand `gpus`.

#include <functional>

#include "topology/io/load.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim {

/// Replaces the reference in `node` of the document by the contents of the node file.
using IncludeNode = std::function<void(YamlTree&, YamlId)>;

/// Gives the value at the setting's path a new value, and creates keys and the next item of a list
/// where they are not there; whether they mean anything is for the reader to say. The number of
/// GPUs goes to the shorthand `gpus`, whichever way it is spelled, so that the last setting counts.
/// Requires: the root is a mapping. Throws: InputError located at the setting.
void apply_setting(YamlTree& tree, YamlId root, const Setting& setting,
                   const IncludeNode& include_node);

/// Turns `gpus: N` into `node: { gpus: N }`. Leaves documents alone in which that means nothing.
void move_gpus_into_node(YamlTree& tree, YamlId root);

}  // namespace collsim
