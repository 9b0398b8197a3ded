#pragma once
// Readers for the shapes of values in a file of tuning constants: numbers, lists of numbers, and
// mappings that give one value for each word of a set.
//
// A file may lack any key if it has a base: what is absent stays as the base has it. Every message
// has the place in the file, what was found and what is accepted.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/nccl/constants.hpp"
#include "topology/io/yaml_reader.hpp"

namespace collsim::nccl {

/// Whether a key may be absent.
enum class Keys : std::uint8_t { All, OnlyChanges };

/// Reads one mapping of such a file.
class ConstantsReader {
 public:
  ConstantsReader(ReadContext context, MappingReader mapping, Keys keys)
      : context_(context), mapping_(std::move(mapping)), keys_(keys) {}

  [[nodiscard]] const MappingReader& mapping() const { return mapping_; }

  /// Whether there is a value to read. Throws: InputError if there is none and it must not be absent.
  [[nodiscard]] bool wants(const std::string& key) const;
  /// A mapping inside this one; its keys may be absent if this one's may.
  [[nodiscard]] ConstantsReader inside(const std::string& key,
                                       std::vector<std::string> accepted) const;

  // Each sets its last argument if the key is there.
  void number(const std::string& key, double& value) const;
  void count(const std::string& key, IntegerRange range, int& value) const;
  void bytes(const std::string& key, std::int64_t& value) const;
  void flag(const std::string& key, bool& value) const;
  template <class Value, std::size_t Size>
  void choice(const std::string& key, const std::array<Choice<Value>, Size>& choices,
              Value& value) const;

  /// Numbers, not negative. Throws: InputError if it is no list or has not between `least` and
  /// `most` items.
  [[nodiscard]] std::vector<double> numbers(const std::string& key, std::size_t least,
                                            std::size_t most) const;

 private:
  [[nodiscard]] double number_at(const LocatedNode& located) const;

  ReadContext context_;
  MappingReader mapping_;
  Keys keys_;
};

template <class Value, std::size_t Size>
void ConstantsReader::choice(const std::string& key, const std::array<Choice<Value>, Size>& choices,
                             Value& value) const {
  if (wants(key)) {
    value = mapping_.choice(key, std::span<const Choice<Value>>(choices));
  }
}

}  // namespace collsim::nccl
