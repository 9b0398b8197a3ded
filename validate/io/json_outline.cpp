#include "validate/io/json_outline.hpp"

#include "topology/error.hpp"

namespace collsim {

namespace {

/// Walks over a text, keeping track of strings and brackets.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : text_(text) {}

  /// The next bracket outside strings; npos at the end.
  std::size_t next_bracket() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (in_string_) {
        at_ += c == '\\' ? 1U : 0U;
        in_string_ = c != '"';
        continue;
      }
      in_string_ = c == '"';
      const bool opens = c == '{' || c == '[';
      if (opens || c == '}' || c == ']') {
        depth_ += opens ? 1 : depth_ > 0 ? -1 : 0;
        return at_++;
      }
    }
    return std::string_view::npos;
  }

  [[nodiscard]] int depth() const { return depth_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool in_string_ = false;
};

}  // namespace

void require_shallow_json(std::string_view text) {
  constexpr int deepest = 64;
  JsonWalk walk(text);
  while (walk.next_bracket() != std::string_view::npos) {
    if (walk.depth() > deepest) {
      throw InputError("nested too deeply");
    }
  }
}

std::optional<std::string> whole_part_of_json(std::string_view text, std::string_view key) {
  const std::string name = "\"" + std::string(key) + "\"";
  JsonWalk walk(text);
  bool inside = false;
  std::size_t end = 0;
  for (std::size_t at = walk.next_bracket(); at != std::string_view::npos;
       at = walk.next_bracket()) {
    if (text[at] == '[' && walk.depth() == 2) {
      const std::string_view before = text.substr(0, at);
      const std::size_t colon = before.find_last_not_of(" \t\r\n");
      inside = colon != std::string_view::npos && before[colon] == ':' &&
               before.substr(0, colon).ends_with(name);
    } else if (inside && walk.depth() == 2) {
      end = at + 1;
    }
    inside = inside && walk.depth() >= 2;
  }
  if (end == 0) {
    return std::nullopt;
  }
  return std::string(text.substr(0, end)) + "]}";
}

}  // namespace collsim
