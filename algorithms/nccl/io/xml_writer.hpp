#pragma once
// XML as NCCL's own reader takes it: one blank between attributes, double quotes, no entities, blanks
// for indentation.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collsim::nccl {

class XmlWriter {
 public:
  /// Begins an element inside the one that is open.
  void open(std::string name);
  /// Of the element opened last, which has no children yet. Without a value nothing is written.
  /// Throws: InputError if the value cannot stand in such a file.
  void attribute(std::string_view name, const std::string& value);
  void attribute(std::string_view name, const std::optional<std::string>& value);
  void attribute(std::string_view name, int value);
  void attribute(std::string_view name, std::optional<int> value);
  void attribute(std::string_view name, std::optional<float> value);
  /// Ends the element opened last.
  void close();

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> open_;
  bool in_tag_ = false;  // whether the last tag still lacks its end
};

}  // namespace collsim::nccl
