#include "validate/io/read_measurements.hpp"

#include <fstream>

#include "topology/io/source.hpp"
#include "validate/io/inspector_json.hpp"
#include "validate/io/json_outline.hpp"
#include "validate/io/measurements_json.hpp"
#include "validate/io/nccl_tests.hpp"
#include "validate/io/nccl_tests_json.hpp"

namespace collsim {

namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;
// A parsed document takes many times its text.
constexpr std::size_t largest_json = std::size_t{16} << 20;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& file, const std::string& message,
                         const std::string& hint = {}) {
  throw InputError(message, {}, hint, SourceLocation{file, 0, 0, {}});
}

std::string too_large(std::size_t limit) {
  return "larger than " + std::to_string(limit >> 20) + " MiB";
}

bool begins_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// What our own schema does not say, as it may leave out all but the ranks.
void apply(const MeasurementHints& hints, Measurements& read) {
  for (MeasuredRun& run : read.runs) {
    if (run.nodes == 0 && hints.nodes && *hints.nodes <= run.ranks) {
      run.nodes = *hints.nodes;
    }
    if (run.software.nccl.empty()) {
      run.software.nccl = hints.nccl;
    }
    if (!hints.launch.empty()) {
      run.software.launch = hints.launch;
      run.software.mode = parse_launch(hints.launch, run.ranks, run.nodes);
    }
  }
}

Measurements parse_json(std::string_view text, const std::string& file,
                        const MeasurementHints& hints) {
  if (contains(text, "\"coll_perf\"") && contains(text, "\"header\"")) {
    return parse_inspector_json(text, file, hints);
  }
  if (text.size() > largest_json) {
    refuse(file, too_large(largest_json));
  }
  if (contains(text, "\"nccl_version\"") && contains(text, "\"config\"")) {
    return parse_nccl_tests_json(text, file, hints);
  }
  if (is_measurements_json(text)) {
    try {
      require_shallow_json(text);
    } catch (const InputError& error) {
      throw error.with_location(SourceLocation{file, 0, 0, {}});
    }
    Measurements read = parse_measurements_json(text, file);
    apply(hints, read);
    return read;
  }
  refuse(file,
         "JSON, but neither of measurements/1, nor of nccl-tests (-J), nor of NCCL's inspector");
}

}  // namespace

Measurements parse_measurements(std::string_view bytes, const std::string& file,
                                const MeasurementHints& hints) {
  return begins_json(bytes) ? parse_json(bytes, file, hints) : parse_nccl_tests(bytes, file, hints);
}

Measurements load_measurements(const std::string& path, const MeasurementHints& hints) {
  std::ifstream file = open_file(path, Endless::Refused);
  std::string text;
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (file && text.size() <= largest_file) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    file.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) {
    throw unreadable(path, "read error");
  }
  if (text.size() > largest_file) {
    refuse(path, too_large(largest_file));
  }
  return parse_measurements(text, path, hints);
}

}  // namespace collsim
