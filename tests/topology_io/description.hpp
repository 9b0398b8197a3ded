#pragma once

// Descriptions as text, and what is said about them.

#include <string>
#include <string_view>
#include <vector>

#include "tests/shared_data.hpp"
#include "topology/error.hpp"
#include "topology/io/load.hpp"

namespace collsim::test {

/// configs/ of the source tree.
inline ConfigPath shipped() { return ConfigPath{{source_path("configs").string()}}; }

inline std::vector<Setting> settings(const std::vector<std::string>& texts) {
  std::vector<Setting> parsed;
  parsed.reserve(texts.size());
  for (const std::string& text : texts) {
    parsed.push_back(parse_setting(text));
  }
  return parsed;
}

/// A cluster of two GPUs without a mistake; line 6 has the link.
inline std::string two_gpus() {
  return "name: two\n"
         "node:\n"
         "  gpus: 2\n"
         "  links:\n"
         "    - from: gpu\n"
         "      to: gpu\n"
         "      connect: mesh\n"
         "      bandwidth: 50 GB/s\n"
         "      latency: 1 us\n";
}

/// `text` with `from` in place of `to`. The text must contain it.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  COLLSIM_ENSURE(at != std::string::npos, "the text to replace is there");
  return text.replace(at, from.size(), to);
}

/// The message about a description, read and built as "x.yaml"; "accepted" if there is none.
inline std::string message(std::string_view text, const std::vector<std::string>& set = {}) {
  try {
    static_cast<void>(build_cluster(parse_cluster(text, "x.yaml", settings(set), shipped())));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

}  // namespace collsim::test
