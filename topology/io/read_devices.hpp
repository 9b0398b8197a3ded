#pragma once

// The devices of a node: `node.devices[i]`, with what is told of processors, NICs and PCIe switches.

#include <span>
#include <string>

#include "topology/io/yaml_reader.hpp"
#include "topology/spec.hpp"

namespace collsim {

[[nodiscard]] std::span<const Choice<DeviceKind>> device_kinds();

/// Throws: InputError at a key that does not belong to the kind, and at values that are none.
[[nodiscard]] DeviceGroupSpec read_device_group(ReadContext context, const LocatedNode& item);

/// `true` or `false`; `otherwise` where the key is absent.
[[nodiscard]] bool read_flag(const MappingReader& reader, const std::string& key, bool otherwise);

}  // namespace collsim
