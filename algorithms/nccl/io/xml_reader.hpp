#pragma once
// Values of XML attributes as NCCL's files have them, with located errors, and warnings gathered as
// data: equal ones once, with how many more there are.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/nccl/io/xml_tree.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

/// Which numbers an attribute accepts.
struct NumberRange {
  int least{0};
  int most{0};
};

class XmlReader {
 public:
  explicit XmlReader(const XmlTree& tree) : tree_(tree) {}

  /// Throws: InputError at an element, or at the value of one of its attributes.
  [[noreturn]] void fail(const XmlElement& element, std::string_view attribute,
                         const std::string& message, const std::string& hint = {}) const;

  /// A warning about an element or the value of one of its attributes.
  void warn(const XmlElement& element, std::string_view attribute, const std::string& message);

  [[nodiscard]] std::optional<std::string> text(const XmlElement& element,
                                                std::string_view attribute) const;
  [[nodiscard]] std::string required_text(const XmlElement& element,
                                          std::string_view attribute) const;
  /// Decimal, or hexadecimal behind "0x".
  [[nodiscard]] std::optional<int> number(const XmlElement& element, std::string_view attribute,
                                          NumberRange range) const;
  [[nodiscard]] int required_number(const XmlElement& element, std::string_view attribute,
                                    NumberRange range) const;
  [[nodiscard]] std::optional<float> decimal(const XmlElement& element,
                                             std::string_view attribute) const;

  /// In the order in which they first came.
  [[nodiscard]] std::vector<InputError> warnings() const;

 private:
  struct Warning {
    std::string message;
    std::string path;
    XmlPlace place;
    std::size_t count;
  };

  const XmlTree& tree_;
  std::vector<Warning> warnings_;
  std::map<std::string, std::size_t> known_;  // message → position in warnings_
};

}  // namespace collsim::nccl
