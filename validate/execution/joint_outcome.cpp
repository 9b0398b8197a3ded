#include "validate/execution/joint_outcome.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

/// What a rank has to say of a program, as lines: time in ps, and of wrong data element, count and both values.
std::string report_of(Duration time, const std::optional<WrongData>& wrong) {
  std::string text = std::to_string(time.count()) + "\n";
  if (wrong) {
    text += std::to_string(wrong->element) + "\n" + std::to_string(wrong->count) + "\n" +
            wrong->expected + "\n" + wrong->found + "\n";
  }
  return text;
}

struct Report {
  Duration time{};
  std::optional<WrongData> wrong;
};

Report read_report(const std::string& text, std::uint32_t rank) {
  std::istringstream lines(text);
  Report report;
  std::int64_t picoseconds = 0;
  if (!(lines >> picoseconds)) {
    throw ExecutionError("rank " + std::to_string(rank) + " reports nothing of use");
  }
  report.time = Duration(picoseconds);
  WrongData wrong;
  wrong.rank = Rank(rank);
  if (lines >> wrong.element >> wrong.count >> wrong.expected >> wrong.found) {
    report.wrong = wrong;
  }
  return report;
}

}  // namespace

ExecutionOutcome joint_outcome(ProcessGroup& group, Duration time, std::uint32_t timed,
                               const std::optional<WrongData>& wrong) {
  const std::vector<std::string> reports = group.exchange(report_of(time, wrong));
  ExecutionOutcome outcome;
  Duration total{};
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    Report report = read_report(reports[rank], rank);
    total += report.time;
    if (report.wrong) {
      outcome.wrong.push_back(*std::move(report.wrong));
    }
  }
  outcome.time = total / (std::int64_t{group.ranks()} * timed);
  return outcome;
}

}  // namespace collsim
