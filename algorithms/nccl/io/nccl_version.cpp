#include "algorithms/nccl/io/nccl_version.hpp"

#include <charconv>
#include <limits>
#include <system_error>
#include <tuple>

namespace collsim::nccl {

namespace {

constexpr int any_patch = std::numeric_limits<int>::max();

/// Takes a number of at most four digits from the front of the text.
std::optional<int> take_number(std::string_view& text) {
  constexpr std::size_t most_digits = 4;
  int value = 0;
  const std::from_chars_result result =
      std::from_chars(text.data(), text.data() + text.size(), value);
  const auto digits = static_cast<std::size_t>(result.ptr - text.data());
  if (result.ec != std::errc{} || digits > most_digits || text.front() == '-') {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

auto order(const NcclVersion& version, int patch) {
  return std::tuple(version.major, version.minor, version.patch.value_or(patch));
}

}  // namespace

std::optional<NcclVersion> parse_version(std::string_view text) {
  const std::optional<int> major = take_number(text);
  if (!major || !take(text, '.')) {
    return std::nullopt;
  }
  const std::optional<int> minor = take_number(text);
  if (!minor) {
    return std::nullopt;
  }
  NcclVersion version{*major, *minor, std::nullopt};
  if (take(text, '.')) {
    version.patch = take_number(text);
    if (!version.patch) {
      return std::nullopt;
    }
    if (take(text, '-') && !take_number(text)) {
      return std::nullopt;
    }
  }
  return text.empty() ? std::optional(version) : std::nullopt;
}

std::string to_text(const NcclVersion& version) {
  std::string text = std::to_string(version.major) + "." + std::to_string(version.minor);
  if (version.patch) {
    text += "." + std::to_string(*version.patch);
  }
  return text;
}

bool VersionRange::contains(const NcclVersion& version) const {
  return order(first, 0) <= order(version, any_patch) &&
         order(version, any_patch) <= order(last, any_patch);
}

std::string to_text(const VersionRange& range) {
  if (range.first == range.last) {
    return to_text(range.first);
  }
  // "2.29.7-2.29.x": to the last of the series.
  const bool to_the_last = range.first.patch && !range.last.patch;
  return to_text(range.first) + "-" + to_text(range.last) + (to_the_last ? ".x" : "");
}

}  // namespace collsim::nccl
