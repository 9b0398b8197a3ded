#pragma once

// Values that follow a rule: from 1KiB to 1GiB by a factor of 4, from 1 to 8 in steps of 1.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/io/yaml_reader.hpp"

namespace collsim {

/// The most values that an axis may have.
inline constexpr std::size_t most_values = 10'000;

/// How bare numbers are written: as they are, or as sizes with their unit.
enum class RangeOf : std::uint8_t { Numbers, Sizes };

/// The values of `from`, `to` and `factor` or `step`. Of numbers, too, where a bound is a size, values are sizes.
/// Throws: InputError.
[[nodiscard]] std::vector<std::string> read_range(const YamlTree& tree, const MappingReader& reader,
                                                  RangeOf what);

}  // namespace collsim
