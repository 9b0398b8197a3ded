#pragma once

// What reading a file of measurements has to say: rows that are dropped, what was assumed, what is odd. Each with its
// line in the file; bounded, whatever the file holds.

#include <cstdint>
#include <functional>
#include <string>

#include "validate/measurement.hpp"

namespace collsim {

[[nodiscard]] SourceLocation place_in(const Measurements& result, std::uint32_t line);

/// What a file holds: `read` fills it in; the machine is named after the file until it is told. Throws: what `read` throws,
/// of an InputError with the file where it has no place.
[[nodiscard]] Measurements read_measurements(const std::string& file,
                                             const std::function<void(Measurements& result)>& read);

/// Once for a text: what holds for several tables of a file is said at the first.
void add_note(Measurements& result, std::uint32_t line, std::string text);
void add_dropped(Measurements& result, std::uint32_t line, std::string text);

/// Throws: InputError if there is no run, with the first reason why a row or a test was dropped.
void require_runs(const Measurements& result);

}  // namespace collsim
