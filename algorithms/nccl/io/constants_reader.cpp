#include "algorithms/nccl/io/constants_reader.hpp"

#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace collsim::nccl {

namespace {

constexpr double most_number = 1e6;

}  // namespace

bool ConstantsReader::wants(const std::string& key) const {
  if (mapping_.has(key)) {
    return true;
  }
  if (keys_ == Keys::All) {
    mapping_.refuse_missing(key, "a file without a base has every key");
  }
  return false;
}

ConstantsReader ConstantsReader::inside(const std::string& key,
                                        std::vector<std::string> accepted) const {
  // What is absent as a whole reads as empty, so its keys are missing or left alone.
  static_cast<void>(wants(key));
  return {context_, mapping_.mapping(key, std::move(accepted)), keys_};
}

double ConstantsReader::number_at(const LocatedNode& located) const {
  const YamlNode& node = context_.tree.node(located.id);
  double value = 0;
  const char* const begin = node.text.data();
  const char* const end = begin + node.text.size();
  const std::from_chars_result result = std::from_chars(begin, end, value);
  const bool plain = node.kind == YamlNode::Kind::Plain;
  if (!plain || result.ec != std::errc{} || result.ptr != end || !std::isfinite(value) ||
      std::signbit(value) || value > most_number) {
    refuse_at(context_.tree, node.position, located.path,
              "expected a number from 0 to 1000000, got " + found_text(node));
  }
  return value;
}

void ConstantsReader::number(const std::string& key, double& value) const {
  if (wants(key)) {
    value = number_at(*mapping_.find(key));
  }
}

void ConstantsReader::count(const std::string& key, IntegerRange range, int& value) const {
  if (wants(key)) {
    value = static_cast<int>(mapping_.integer(key, range));
  }
}

void ConstantsReader::bytes(const std::string& key, std::int64_t& value) const {
  if (wants(key)) {
    value = mapping_.integer(key, {1, 1U << 30U});
  }
}

void ConstantsReader::flag(const std::string& key, bool& value) const {
  constexpr std::array words{Choice<bool>{"false", false}, Choice<bool>{"true", true}};
  choice(key, words, value);
}

std::vector<double> ConstantsReader::numbers(const std::string& key, std::size_t least,
                                             std::size_t most) const {
  std::vector<double> values;
  for (const LocatedNode& item : mapping_.items(key)) {
    values.push_back(number_at(item));
  }
  if (values.size() < least || values.size() > most) {
    const std::string range = least == most ? std::to_string(least)
                                            : std::to_string(least) + " to " + std::to_string(most);
    mapping_.refuse(key, "expected " + range + " numbers, got " + std::to_string(values.size()));
  }
  return values;
}

}  // namespace collsim::nccl
