#include "algorithms/nccl/io/xml_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "topology/error.hpp"

namespace collsim::nccl {

void XmlWriter::open(std::string name) {
  if (in_tag_) {
    text_ += ">\n";
  }
  text_.append(2 * open_.size(), ' ');
  text_ += '<';
  text_ += name;
  open_.push_back(std::move(name));
  in_tag_ = true;
}

void XmlWriter::attribute(std::string_view name, const std::string& value) {
  constexpr std::size_t most_bytes = 254;  // NCCL's buffer for a value
  const bool fits =
      value.size() <= most_bytes && std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return c >= ' ' && c != '"' && c != '<' && c != '&' && c != 0x7f;
      });
  if (!fits) {
    throw InputError("the value " + in_quotes(value) + " cannot stand in a file of NCCL",
                     open_.back() + "." + std::string(name),
                     "at most 254 bytes without quotes, '<', '&' and control characters");
  }
  text_ += ' ';
  text_ += name;
  text_ += "=\"";
  text_ += value;
  text_ += '"';
}

void XmlWriter::attribute(std::string_view name, const std::optional<std::string>& value) {
  if (value) {
    attribute(name, *value);
  }
}

void XmlWriter::attribute(std::string_view name, int value) {
  attribute(name, std::to_string(value));
}

void XmlWriter::attribute(std::string_view name, std::optional<int> value) {
  if (value) {
    attribute(name, *value);
  }
}

void XmlWriter::attribute(std::string_view name, std::optional<float> value) {
  if (value) {
    std::array<char, 64> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *value,
                                   std::chars_format::fixed);
    attribute(name, std::string(digits.data(), end.ptr));
  }
}

void XmlWriter::close() {
  const std::string name = std::move(open_.back());
  open_.pop_back();
  if (in_tag_) {
    text_ += "/>\n";
  } else {
    text_.append(2 * open_.size(), ' ');
    text_ += "</" + name + ">\n";
  }
  in_tag_ = false;
}

}  // namespace collsim::nccl
