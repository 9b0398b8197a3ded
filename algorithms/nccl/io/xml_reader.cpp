#include "algorithms/nccl/io/xml_reader.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace collsim::nccl {

namespace {

std::string path_of(const XmlElement& element, std::string_view attribute) {
  std::string path = printable(element.name);
  if (!attribute.empty()) {
    path += '.';
    path += attribute;
  }
  return path;
}

XmlPlace place_of(const XmlElement& element, std::string_view attribute) {
  const XmlAttribute* found = element.attribute(attribute);
  return found == nullptr ? element.place : found->place;
}

/// The whole text as a number, or nothing.
std::optional<std::int64_t> whole_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) {
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (text.empty() || text.front() == '-') {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace

void XmlReader::fail(const XmlElement& element, std::string_view attribute,
                     const std::string& message, const std::string& hint) const {
  throw InputError(message, path_of(element, attribute), hint,
                   tree_.location(place_of(element, attribute)));
}

void XmlReader::warn(const XmlElement& element, std::string_view attribute,
                     const std::string& message) {
  const std::string path = path_of(element, attribute);
  const auto [known, is_new] = known_.try_emplace(path + ": " + message, warnings_.size());
  if (is_new) {
    warnings_.push_back({message, path, place_of(element, attribute), 0});
  }
  ++warnings_[known->second].count;
}

std::vector<InputError> XmlReader::warnings() const {
  std::vector<InputError> all = tree_.strictness;
  for (const Warning& warning : warnings_) {
    std::string message = warning.message;
    if (warning.count > 1) {
      message += " (and " + std::to_string(warning.count - 1) + " more)";
    }
    all.emplace_back(message, warning.path, "", tree_.location(warning.place));
  }
  return all;
}

std::optional<std::string> XmlReader::text(const XmlElement& element,
                                           std::string_view attribute) const {
  const XmlAttribute* found = element.attribute(attribute);
  return found == nullptr ? std::nullopt : std::optional<std::string>(found->value);
}

std::string XmlReader::required_text(const XmlElement& element, std::string_view attribute) const {
  if (const auto found = text(element, attribute)) {
    return *found;
  }
  fail(element, attribute, "is missing");
}

std::optional<int> XmlReader::number(const XmlElement& element, std::string_view attribute,
                                     NumberRange range) const {
  const auto found = text(element, attribute);
  if (!found) {
    return std::nullopt;
  }
  const auto value = whole_number(*found);
  if (!value || *value < range.least || *value > range.most) {
    fail(element, attribute,
         "expected a whole number from " + std::to_string(range.least) + " to " +
             std::to_string(range.most) + ", got " + in_quotes(*found));
  }
  return static_cast<int>(*value);
}

int XmlReader::required_number(const XmlElement& element, std::string_view attribute,
                               NumberRange range) const {
  if (const auto found = number(element, attribute, range)) {
    return *found;
  }
  fail(element, attribute, "is missing");
}

std::optional<float> XmlReader::decimal(const XmlElement& element,
                                        std::string_view attribute) const {
  const auto found = text(element, attribute);
  if (!found) {
    return std::nullopt;
  }
  float value = 0;
  const char* end = found->data() + found->size();
  const auto result = std::from_chars(found->data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value) || value < 0) {
    fail(element, attribute, "expected a number such as \"2.5\", got " + in_quotes(*found));
  }
  return value;
}

}  // namespace collsim::nccl
