#pragma once
// An XML text as a plain tree with the place of every element and attribute. Reads proper XML and
// notes where NCCL's own, stricter reader would refuse it.
//
// Limits: 16 MiB, 64 levels, 65,536 elements, 64 attributes each, 254 bytes a name or value. Text between elements,
// comments and processing instructions are passed over.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/error.hpp"

namespace collsim::nccl {

struct XmlPlace {
  std::uint32_t line{0};    ///< 1-based
  std::uint32_t column{0};  ///< 1-based, in characters
};

struct XmlAttribute {
  std::string name{};
  std::string value{};
  XmlPlace place{};  ///< of the value
};

struct XmlElement {
  std::string name{};
  XmlPlace place{};
  std::vector<XmlAttribute> attributes{};
  std::vector<XmlElement> children{};

  /// Null if there is none of the name.
  [[nodiscard]] const XmlAttribute* attribute(std::string_view name) const;
};

struct XmlTree {
  std::string file{};
  std::string text{};
  XmlElement root{};
  /// What NCCL's reader would not accept, the first of each kind.
  std::vector<InputError> strictness{};

  [[nodiscard]] SourceLocation location(XmlPlace place) const;
};

/// Throws: InputError at its place if the text is not well formed, has no or several roots, or is
/// beyond a limit.
[[nodiscard]] XmlTree parse_xml(std::string_view text, const std::string& file);

}  // namespace collsim::nccl
