#include "validate/io/nccl_tests_header.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "algorithms/nccl/io/log_scanner.hpp"
#include "topology/error.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

namespace {

using nccl::LogScanner;

constexpr std::uint32_t most_gpus = 4096;  // of a process
constexpr std::uint32_t most_ranks = 1U << 20U;

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The number behind a key: "nGpus 8", "nGpus: 8", "graph: 0".
std::optional<std::uint32_t> number_of(std::string_view line, std::string_view key) {
  LogScanner scanner(line);
  while (scanner.after(key)) {
    scanner.literal("s");
    scanner.literal(":");
    if (const auto number = scanner.blanks().number<std::uint32_t>()) {
      return number;
    }
  }
  return std::nullopt;
}

/// Words of a version: digits, points, letters.
std::string version_word(LogScanner& scanner) {
  const std::string_view word = scanner.until(" +\t,;)(\"'");
  const bool clean = std::ranges::all_of(
      word, [](char c) { return is_word_character(c) || c == '.' || c == '-'; });
  return clean && word.size() <= 32 ? std::string(word) : std::string();
}

}  // namespace

std::string_view without_hash(std::string_view line) {
  const std::size_t begin = line.find_first_not_of("# \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

std::optional<TestParameters> parse_test_parameters(std::string_view line) {
  const std::string_view text = without_hash(line);
  if (!text.starts_with("nThread")) {
    return std::nullopt;
  }
  const auto threads = number_of(text, "nThread");
  const auto gpus = number_of(text, "nGpu");
  if (!threads || !gpus || *threads == 0 || *gpus == 0 || *threads > most_gpus ||
      *gpus > most_gpus) {
    return std::nullopt;
  }
  TestParameters parameters{*threads, *gpus};
  parameters.aggregated = number_of(text, "agg iter").value_or(1);
  parameters.graph = number_of(text, "graph").value_or(0);
  return parameters;
}

std::optional<TestDevice> parse_test_device(std::string_view line) {
  LogScanner scanner(without_hash(line));
  if (!scanner.literal("Rank") || has_nccl_log(line)) {
    return std::nullopt;
  }
  const auto rank = scanner.blanks().number<std::uint32_t>();
  if (!rank || *rank >= most_ranks) {
    return std::nullopt;
  }
  TestDevice device;
  device.rank = *rank;
  if (scanner.blanks().literal("Group")) {
    device.group = scanner.blanks().number<std::uint32_t>().value_or(0);
  }
  if (scanner.blanks().literal("Pid")) {
    device.process = scanner.blanks().number<std::uint64_t>().value_or(0);
  }
  if (!scanner.blanks().literal("on ")) {
    return std::nullopt;
  }
  device.host = scanner.blanks().until(" \t");
  if (!scanner.blanks().literal("device") || !scanner.blanks().number<std::uint32_t>()) {
    return std::nullopt;
  }
  if (scanner.blanks().literal("[") && !scanner.after("]")) {
    return std::nullopt;
  }
  device.gpu = printable(trimmed(scanner.rest()));
  return device;
}

std::optional<TestVersion> parse_test_version(std::string_view line) {
  LogScanner scanner(without_hash(line));
  if (!scanner.literal("nccl-tests version ")) {
    return std::nullopt;
  }
  TestVersion version;
  version.nccl_tests = version_word(scanner.blanks());
  const std::string_view rest = scanner.rest();
  if (LogScanner library(rest); library.after("nccl-library=")) {
    version.nccl = version_of_code(library.number<std::int64_t>().value_or(0));
  }
  if (LogScanner simulated(rest); simulated.after("simulated by ")) {
    const std::vector<std::string_view> words = words_of(simulated.rest(), 2);
    version.simulator = "another program";
    if (words.size() == 2 && words[0] == "collsim") {
      LogScanner number(words[1]);
      version.simulator = "collsim " + version_word(number);
    }
  }
  return version;
}

std::optional<LibraryVersion> parse_library_version(std::string_view line) {
  constexpr std::string_view mark = "CCL version ";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos || at == 0) {
    return std::nullopt;
  }
  const char maker = line[at - 1];
  LogScanner scanner(line.substr(at + mark.size()));
  LibraryVersion version;
  version.nccl = version_word(scanner.blanks());
  if ((maker != 'N' && maker != 'R') || version.nccl.empty() || version.nccl.front() < '0' ||
      version.nccl.front() > '9') {
    return std::nullopt;
  }
  if (maker == 'R') {
    version.nccl = "RCCL " + version.nccl;
  }
  if (scanner.literal("+cuda")) {
    version.cuda = version_word(scanner);
  }
  return version;
}

bool is_telling(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 3> addresses{"NCCL_COMM_ID", "NCCL_HOSTID",
                                                      "NCCL_RAS_ADDR"};
  return name.starts_with("NCCL_") && name.size() <= 64 && value.size() <= 256 &&
         std::ranges::all_of(name, is_word_character) && !name.ends_with("_FILE") &&
         value.find('/') == std::string_view::npos &&
         std::ranges::find(addresses, name) == addresses.end();
}

std::optional<LoggedVariable> parse_logged_variable(std::string_view line) {
  constexpr std::string_view mark = " set by environment to ";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos || !has_nccl_log(line) ||
      line.find(mark, at + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t begin = at;
  while (begin > 0 && is_word_character(line[begin - 1])) {
    --begin;
  }
  const std::string_view name = line.substr(begin, at - begin);
  std::string_view value = trimmed(line.substr(at + mark.size()));
  // A number ends with a point there.
  if (value.size() > 1 && value.ends_with('.')) {
    value.remove_suffix(1);
  }
  if (!is_telling(name, value)) {
    return std::nullopt;
  }
  return LoggedVariable{std::string(name), printable(value, 256)};
}

std::optional<std::string_view> parse_test_start(std::string_view line) {
  if (!without_hash(line).starts_with("Collective test starting:")) {
    return std::nullopt;
  }
  return program_named_in(line);
}

std::optional<std::string_view> program_named_in(std::string_view line) {
  constexpr std::string_view suffix = "_perf";
  const std::size_t at = line.rfind(suffix);
  if (at == std::string_view::npos ||
      (at + suffix.size() < line.size() && is_word_character(line[at + suffix.size()]))) {
    return std::nullopt;
  }
  std::size_t begin = at;
  while (begin > 0 && is_word_character(line[begin - 1])) {
    --begin;
  }
  constexpr std::array<std::string_view, 11> programs{
      "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",   "alltoall",
      "alltoallv",  "gather",     "scatter",        "sendrecv",  "hypercube"};
  const std::string_view name = line.substr(begin, at - begin);
  const auto* const found = std::ranges::find(programs, name);
  return found == programs.end() ? std::nullopt : std::optional(*found);
}

bool is_test_footer(std::string_view line) {
  const std::string_view text = without_hash(line);
  return text.starts_with("Out of bounds values") || text.starts_with("Avg bus bandwidth") ||
         text.starts_with("Collective test concluded");
}

bool has_nccl_log(std::string_view line) {
  constexpr std::array<std::string_view, 4> marks{" NCCL INFO", " NCCL WARN", " NCCL CALL",
                                                  " NCCL TRACE"};
  return std::ranges::any_of(
      marks, [line](std::string_view mark) { return line.find(mark) != std::string_view::npos; });
}

std::string version_of_code(std::int64_t code) {
  constexpr std::int64_t old_codes_end = 10'000;  // 2.8 and before: one digit for the minor version
  if (code < 1000 || code >= 1'000'000) {
    return {};
  }
  const std::int64_t major = code / (code < old_codes_end ? 1000 : 10'000);
  const std::int64_t minor = code < old_codes_end ? code / 100 % 10 : code / 100 % 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(code % 100);
}

}  // namespace collsim
