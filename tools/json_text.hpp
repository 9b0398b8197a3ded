#pragma once

// How JSON is printed: indented; bytes that are no UTF-8 (a file's name may hold any) are replaced.

#include <nlohmann/json.hpp>
#include <string>

namespace collsim {

[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace collsim
