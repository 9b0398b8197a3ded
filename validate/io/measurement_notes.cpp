#include "validate/io/measurement_notes.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace collsim {

namespace {

constexpr std::size_t most_noted = 1'000;
constexpr std::size_t most_dropped = 10'000;

}  // namespace

SourceLocation place_in(const Measurements& result, std::uint32_t line) {
  return SourceLocation{result.file, line, line == 0 ? 0U : 1U, {}};
}

Measurements read_measurements(const std::string& file,
                               const std::function<void(Measurements& result)>& read) {
  Measurements result;
  result.file = file;
  result.machine = std::filesystem::path(file).stem().string();
  try {
    read(result);
  } catch (const InputError& error) {
    throw error.location().file.empty() ? error.with_location(SourceLocation{file, 0, 0, {}})
                                        : error;
  }
  return result;
}

void add_note(Measurements& result, std::uint32_t line, std::string text) {
  const bool known = std::ranges::any_of(
      result.notes, [&text](const MeasurementNote& note) { return note.text == text; });
  if (!known && result.notes.size() < most_noted) {
    result.notes.push_back({place_in(result, line), std::move(text)});
  }
}

void add_dropped(Measurements& result, std::uint32_t line, std::string text) {
  if (result.dropped.size() < most_dropped) {
    result.dropped.push_back({place_in(result, line), std::move(text)});
  } else if (result.dropped.size() == most_dropped) {
    result.dropped.push_back({place_in(result, line), "and everything wrong from here on"});
  }
}

void require_runs(const Measurements& result) {
  if (!result.runs.empty()) {
    return;
  }
  if (!result.dropped.empty()) {
    const MeasurementNote& first = result.dropped.front();
    const std::size_t others = result.dropped.size() - 1;
    const std::string more =
        others == 0 ? "" : " (and " + std::to_string(others) + " more that cannot be trusted)";
    throw InputError("no measurement: " + first.text + more, {}, {}, first.place);
  }
  if (!result.notes.empty()) {
    throw InputError("no measurement: " + result.notes.front().text, {}, {},
                     result.notes.front().place);
  }
  throw InputError("no measurement", {}, {}, SourceLocation{result.file, 0, 0, {}});
}

}  // namespace collsim
