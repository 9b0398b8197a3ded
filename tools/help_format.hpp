#pragma once

// How --help looks: options by group with their defaults, at most 100 columns wide.

#include <CLI/CLI.hpp>
#include <string>

namespace collsim {

class HelpFormat final : public CLI::FormatterBase {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

}  // namespace collsim
