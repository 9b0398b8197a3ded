#pragma once

// The part of a description that says what joins the nodes: from YAML to FabricSpec.

#include <array>
#include <cstddef>
#include <span>

#include "topology/io/yaml_reader.hpp"
#include "topology/spec.hpp"

namespace collsim {

/// The words for kinds of links, in nodes and fabrics.
[[nodiscard]] std::span<const Choice<LinkKind>> link_kinds();

template <class Value, std::size_t Count>
[[nodiscard]] std::span<const Choice<Value>> choices(
    const std::array<Choice<Value>, Count>& table) {
  return table;
}

/// Reads `fabric`. Throws: InputError at the place in the document: keys that are unknown or that the
/// kind of fabric does not take, values of the wrong type or out of range.
[[nodiscard]] FabricSpec read_fabric(const MappingReader& cluster);

/// Reads `fabric.reduction`: whether the switches reduce what NICs send (SHARP).
/// Requires: `fabric` is what read_fabric() made of it. Throws: InputError where it cannot be so.
[[nodiscard]] bool read_reduction(const MappingReader& cluster, const FabricSpec& fabric);

}  // namespace collsim
