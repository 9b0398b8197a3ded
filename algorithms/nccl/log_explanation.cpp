#include "algorithms/nccl/log_explanation.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t most_added = 3;

using Differences = std::set<std::string>;

Differences differences(const std::vector<LogFinding>& findings) {
  Differences result;
  for (const LogFinding& finding : findings) {
    if (finding.agreement == Agreement::Differs && !is_input(finding.subject)) {
      result.insert(finding.what);
    }
  }
  return result;
}

bool brings_none(const Differences& after, const Differences& before) {
  return std::ranges::includes(before, after);
}

class Search {
 public:
  Search(const LogQuestion& question, const LoggedCommunicator& log,
         const std::vector<InputChange>& changes)
      : question_(question), log_(log), changes_(changes) {}

  /// What differs with some changes; nothing if NCCL could not be set up so.
  [[nodiscard]] std::optional<Differences> with(const std::vector<std::size_t>& chosen) const {
    try {
      DecisionInput input = question_.input;
      for (const std::size_t i : chosen) {
        changes_[i].apply(input);
      }
      return differences(compare_with_log(Decisions(input), log_));
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  [[nodiscard]] LogExplanation explanation(const std::vector<std::size_t>& chosen,
                                           const Differences& before,
                                           const Differences& after) const {
    LogExplanation result;
    result.stated = true;
    for (const std::size_t i : chosen) {
      result.changes.push_back(changes_[i].text);
      result.stated = result.stated && changes_[i].stated;
    }
    result.explained = static_cast<std::size_t>(std::ranges::count_if(
        before, [&after](const auto& what) { return !after.contains(what); }));
    result.left.assign(after.begin(), after.end());
    return result;
  }

  [[nodiscard]] std::vector<LogExplanation> single(const Differences& before) const {
    std::vector<LogExplanation> result;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const auto after = with({i});
      if (after && after->size() < before.size() && brings_none(*after, before)) {
        result.push_back(explanation({i}, before, *after));
      }
    }
    std::ranges::stable_sort(result, [](const LogExplanation& a, const LogExplanation& b) {
      return a.explained > b.explained;
    });
    return result;
  }

  /// From nothing, or from what the log states, to what explains all; else what the log states.
  [[nodiscard]] LogExplanation together(const Differences& before) const {
    Choice stated{{}, before};
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].stated && fits(stated.changes, i)) {
        stated.changes.push_back(i);
      }
    }
    if (auto left = with(stated.changes)) {
      stated.left = std::move(*left);
    } else {
      stated.changes.clear();
    }
    const Choice from_stated = without_idle(add_best(stated));
    const Choice from_nothing = add_best({{}, before});
    for (const Choice& choice : {from_nothing, from_stated}) {
      if (choice.left.empty()) {
        return explanation(choice.changes, before, choice.left);
      }
    }
    // Guesses that explain a part only, put together, would fit any log.
    const Choice alone = without_idle(std::move(stated));
    return explanation(alone.changes, before, alone.left);
  }

 private:
  struct Choice {
    std::vector<std::size_t> changes{};
    Differences left{};
  };

  /// Adds changes one by one, each the one that leaves the fewest differences.
  [[nodiscard]] Choice add_best(Choice choice) const {
    for (std::size_t step = 0; step < most_added && !choice.left.empty(); ++step) {
      Choice best = choice;
      for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (!fits(choice.changes, i)) {
          continue;
        }
        std::vector<std::size_t> more = choice.changes;
        more.push_back(i);
        auto left = with(more);
        if (left && left->size() < best.left.size()) {
          best = {std::move(more), std::move(*left)};
        }
      }
      if (best.changes.size() == choice.changes.size()) {
        break;
      }
      choice = std::move(best);
    }
    return choice;
  }

  /// Without the changes that make no difference.
  [[nodiscard]] Choice without_idle(Choice choice) const {
    for (std::size_t i = choice.changes.size(); i-- > 0;) {
      std::vector<std::size_t> fewer = choice.changes;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const auto left = with(fewer);
      if (left && left->size() <= choice.left.size()) {
        choice = {std::move(fewer), *left};
      }
    }
    return choice;
  }

  [[nodiscard]] bool fits(const std::vector<std::size_t>& chosen, std::size_t change) const {
    return std::ranges::none_of(
        chosen, [&](std::size_t other) { return changes_[other].input == changes_[change].input; });
  }

  const LogQuestion& question_;
  const LoggedCommunicator& log_;
  const std::vector<InputChange>& changes_;
};

}  // namespace

LogReport explain_log(const LogQuestion& question, const NcclLog& log,
                      const LoggedCommunicator& communicator) {
  LogReport report;
  const Decisions decisions(question.input);
  report.variables = compare_variables(question.variables, log);
  report.findings = compare_with_log(decisions, communicator);
  for (const LogFinding& finding : report.findings) {
    if (!is_input(finding.subject)) {
      report.agreeing += finding.agreement == Agreement::Agrees ? 1U : 0U;
      report.differing += finding.agreement == Agreement::Differs ? 1U : 0U;
    }
  }
  report.too_many_nodes = too_many_nodes(communicator, decisions);
  if (report.differing == 0) {
    return report;
  }
  const std::vector<InputChange> changes = possible_changes(question, decisions, log, communicator);
  report.tried = changes.size();
  const Search search(question, communicator, changes);
  const Differences before = differences(report.findings);
  report.single = search.single(before);
  if (report.single.empty() || !report.single.front().left.empty()) {
    LogExplanation together = search.together(before);
    const std::size_t alone = report.single.empty() ? 0 : report.single.front().explained;
    if (together.changes.size() > 1 && together.left.size() < before.size() - alone) {
      report.together = std::move(together);
    }
  }
  return report;
}

}  // namespace collsim::nccl
