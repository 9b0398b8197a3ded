#pragma once

// JSON that may be hostile or cut: how deeply it is nested, and what is whole of it, told without parsing it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace collsim {

/// Throws: InputError for more than 64 brackets inside each other, which no file of measurements has.
void require_shallow_json(std::string_view text);

/// The text of a cut document up to the last whole element of the list under `key` (of the outermost object), its
/// brackets closed. Absent if there is no such list, or nothing in it.
[[nodiscard]] std::optional<std::string> whole_part_of_json(std::string_view text,
                                                            std::string_view key);

}  // namespace collsim
