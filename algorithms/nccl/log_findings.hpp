#pragma once
// Building blocks of the comparison with a log: a list of findings, and numbers in words.

#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/nccl/log_comparison.hpp"

namespace collsim::nccl {

/// "12.5": with as many decimals.
[[nodiscard]] inline std::string fixed(float value, int decimals = 1) {
  std::string text(64, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, decimals);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

/// "24" for 24.0, "2.4" for 2.4F: no more digits than needed.
[[nodiscard]] inline std::string plain_text(float value) {
  std::string text(64, '\0');
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

/// "0 3 2 1".
[[nodiscard]] inline std::string ranks_text(std::span<const int> ranks) {
  std::string text;
  for (const int rank : ranks) {
    text += (text.empty() ? "" : " ") + std::to_string(rank);
  }
  return text;
}

/// Findings of one subject. Of two with the same name the first stays.
class Findings {
 public:
  explicit Findings(LogSubject subject) : subject_(subject) {}

  void compare(std::string what, bool agree, std::string predicted, std::string logged) {
    if (names_.insert(what).second) {
      findings_.push_back({subject_, std::move(what),
                           agree ? Agreement::Agrees : Agreement::Differs, std::move(predicted),
                           std::move(logged)});
    }
  }
  void compare(std::string what, int predicted, std::optional<int> logged) {
    if (!logged) {
      missing(std::move(what), std::to_string(predicted));
      return;
    }
    compare(std::move(what), predicted == *logged, std::to_string(predicted),
            std::to_string(*logged));
  }
  void missing(std::string what, std::string predicted = {}) {
    if (names_.insert(what).second) {
      findings_.push_back(
          {subject_, std::move(what), Agreement::NotInLog, std::move(predicted), {}});
    }
  }
  [[nodiscard]] std::vector<LogFinding> take() { return std::move(findings_); }

 private:
  LogSubject subject_;
  std::vector<LogFinding> findings_{};
  std::set<std::string> names_{};
};

[[nodiscard]] std::vector<LogFinding> compare_layout(const Decisions& decisions,
                                                     const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_node(const Decisions& decisions,
                                                   const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_graphs(const Decisions& decisions,
                                                     const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_channels(const Decisions& decisions,
                                                       const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_rings(const Decisions& decisions,
                                                    const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_trees(const Decisions& decisions,
                                                    const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_table(const Decisions& decisions,
                                                    const LoggedCommunicator& log);
[[nodiscard]] std::vector<LogFinding> compare_choices(const Decisions& decisions,
                                                      const LoggedCommunicator& log);

}  // namespace collsim::nccl
