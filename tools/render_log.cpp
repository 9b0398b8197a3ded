#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/format_text.hpp"
#include "tools/log_comparison.hpp"
#include "tools/option_values.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using nlohmann::ordered_json;

constexpr std::array subjects{nccl::LogSubject::Layout, nccl::LogSubject::Node,
                              nccl::LogSubject::Graphs, nccl::LogSubject::Channels,
                              nccl::LogSubject::Rings,  nccl::LogSubject::Trees,
                              nccl::LogSubject::Table,  nccl::LogSubject::Choices};
constexpr std::size_t most_rows = 12;         // of a subject, in a table
constexpr std::size_t most_explanations = 6;  // in a table

/// How many findings of a subject are what.
struct Tally {
  std::size_t agree = 0;
  std::size_t differ = 0;
  std::size_t missing = 0;
};

Tally tally(const LogView& view, nccl::LogSubject subject) {
  Tally count;
  for (const nccl::LogFinding& finding : view.report.findings) {
    if (finding.subject == subject) {
      count.agree += finding.agreement == nccl::Agreement::Agrees ? 1U : 0U;
      count.differ += finding.agreement == nccl::Agreement::Differs ? 1U : 0U;
      count.missing += finding.agreement == nccl::Agreement::NotInLog ? 1U : 0U;
    }
  }
  return count;
}

std::string tally_text(const Tally& count) {
  std::string text;
  const auto add = [&text](std::size_t number, const char* what) {
    if (number > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(number), what);
    }
  };
  add(count.agree, "agree");
  add(count.differ, "differ");
  if (text.empty()) {
    return "not in the log";
  }
  add(count.missing, "not in the log");
  return text;
}

std::string warnings_text(const LogView& view) {
  const nccl::NcclLog& log = view.log;
  std::string text;
  const auto add = [&text](const std::string& line) { text += "  warning: " + line + "\n"; };
  if (log.rccl) {
    add("this is a log of RCCL, which decides by other rules");
  }
  if (log.several_versions) {
    add("the log is of several versions of NCCL; the first is taken");
  }
  if (log.garbled > 0) {
    add(fmt::format("{} of {} are cut or mixed with others, and left out", grouped(log.garbled),
                    counted(log.lines, "line")));
  }
  if (log.truncated) {
    add("the log ends in the middle of a line");
  }
  if (log.unplaced > 0) {
    add(fmt::format("{} could be of several communicators, and are left out",
                    counted(log.unplaced, "choice")));
  }
  const nccl::LoggedCommunicator& communicator = log.communicators[view.communicator];
  if (communicator.unfinished > 0) {
    add(fmt::format("the set-up of {} has no end in the log",
                    counted(communicator.unfinished, "rank")));
  }
  if (view.report.too_many_nodes) {
    add(
        fmt::format("a communicator of {} is not tried: with the GPUs of the node given it would "
                    "have more than {}",
                    counted(static_cast<std::size_t>(communicator.nodes.value_or(0)), "node"),
                    counted(nccl::most_ranks_tried, "rank")));
  }
  if (communicator.ranks && !communicator.ranks_seen.empty() &&
      communicator.ranks_seen.size() < static_cast<std::size_t>(*communicator.ranks)) {
    add(fmt::format("the log is of {} of the {} ranks", communicator.ranks_seen.size(),
                    *communicator.ranks));
  }
  return text;
}

std::string head_text(const LogView& view) {
  const nccl::NcclLog& log = view.log;
  std::string text = fmt::format("\nAgainst the log {}: NCCL {}{}",
                                 printable(std::filesystem::path(view.file).filename().string()),
                                 log.version.empty() ? "of unknown version" : log.version,
                                 log.cuda.empty() ? "" : ", CUDA " + printable(log.cuda));
  const auto& communicator = log.communicators[view.communicator];
  if (communicator.ranks) {
    text += ", " + counted(static_cast<std::size_t>(*communicator.ranks), "rank");
  }
  if (communicator.nodes) {
    text += " on " + counted(static_cast<std::size_t>(*communicator.nodes), "node");
  }
  text += "\n";
  if (log.communicators.size() > 1) {
    text += fmt::format("  the log has {} communicators; compared is the largest\n",
                        log.communicators.size());
  }
  return text + warnings_text(view);
}

void add_version_row(const LogView& view, TextTable& table) {
  if (!view.log.version.empty() && !view.version_agrees()) {
    const std::string logged = view.constants_of_log.empty()
                                   ? view.log.version + " (its constants are not known)"
                                   : view.log.version;
    table.add_row({"version of NCCL", view.version_given, logged});
  }
}

void add_variable_rows(const LogView& view, TextTable& table) {
  for (const nccl::VariableFinding& variable : view.report.variables) {
    if (variable.state == nccl::VariableFinding::State::NotGiven ||
        variable.state == nccl::VariableFinding::State::Other) {
      table.add_row({variable.name, variable.given.empty() ? "not set" : printable(variable.given),
                     printable(variable.logged)});
    }
  }
}

/// Rows of what differs; returns how many more there are.
std::size_t add_rows(const LogView& view, nccl::LogSubject subject, TextTable& table) {
  std::size_t rows = 0;
  for (const nccl::LogFinding& finding : view.report.findings) {
    if (finding.subject == subject && finding.agreement == nccl::Agreement::Differs &&
        ++rows <= most_rows) {
      table.add_row({finding.what, printable(finding.predicted), printable(finding.logged)});
    }
  }
  return rows > most_rows ? rows - most_rows : 0;
}

TextTable differing_table(const char* first, const char* second) {
  TextTable table;
  table.add_column(first, Align::Left, 40);
  table.add_column(second, Align::Left, 44);
  table.add_column("in the log", Align::Left, 44);
  return table;
}

std::string inputs_text(const LogView& view) {
  TextTable table = differing_table("input", "given");
  add_version_row(view, table);
  add_variable_rows(view, table);
  add_rows(view, nccl::LogSubject::Layout, table);
  add_rows(view, nccl::LogSubject::Node, table);
  std::string text = table.empty() ? "\nInputs: what the log tells of them is as given\n"
                                   : "\nInputs that the log tells otherwise\n" + table.render("  ");
  std::vector<std::string> unmodelled;
  for (const nccl::VariableFinding& variable : view.report.variables) {
    if (variable.state == nccl::VariableFinding::State::Unmodelled) {
      unmodelled.push_back(printable(variable.name));
    }
  }
  if (!unmodelled.empty()) {
    text += fmt::format("  set in the run, and not modelled: {}\n", fmt::join(unmodelled, ", "));
  }
  return text;
}

std::string decisions_text(const LogView& view) {
  std::string text = "\nDecisions\n";
  for (const nccl::LogSubject subject : subjects) {
    if (nccl::is_input(subject)) {
      continue;
    }
    text += fmt::format("  {:13} {}\n", nccl::name(subject), tally_text(tally(view, subject)));
  }
  TextTable table = differing_table("what differs", "predicted");
  std::string more;
  for (const nccl::LogSubject subject : subjects) {
    if (nccl::is_input(subject)) {
      continue;
    }
    if (const std::size_t hidden = add_rows(view, subject, table); hidden > 0) {
      more += fmt::format("  and {} more of the {} (--format json shows all)\n", hidden,
                          nccl::name(subject));
    }
  }
  return table.empty() ? text : text + "\n" + table.render("  ") + more;
}

void add_row(const LogView& view, const nccl::LogExplanation& explanation, TextTable& table) {
  std::string changes;
  for (const std::string& change : explanation.changes) {
    changes += (changes.empty() ? "" : " and ") + printable(change);
  }
  table.add_row({changes,
                 explanation.left.empty()
                     ? "all of it"
                     : fmt::format("{} of {}", explanation.explained, view.report.differing),
                 explanation.stated ? "as the log says" : ""});
}

std::string explanations_text(const LogView& view) {
  const nccl::LogReport& report = view.report;
  if (report.differing == 0) {
    return report.agreeing == 0 ? "\nNothing in the log can be compared.\n"
                                : "\nAll that the log tells is as predicted.\n";
  }
  const bool one_explains_all = !report.single.empty() && report.single.front().left.empty();
  TextTable table;
  table.add_column("input changed", Align::Left, 76);
  table.add_column("explains", Align::Left);
  table.add_column("", Align::Left);
  std::size_t hidden = 0;
  std::size_t shown = 0;
  for (const nccl::LogExplanation& explanation : report.single) {
    if (one_explains_all && !explanation.left.empty()) {
      break;
    }
    if (shown++ < most_explanations) {
      add_row(view, explanation, table);
    } else {
      ++hidden;
    }
  }
  if (!report.together.changes.empty()) {
    add_row(view, report.together, table);
  }
  std::string text =
      fmt::format("\nWhat would explain what differs (tried: {}, each decided anew)\n",
                  counted(report.tried, "other input"));
  text += table.empty() ? "" : table.render("  ");
  if (hidden > 0) {
    text += fmt::format("  and {} more (--format json shows all)\n", hidden);
  }
  return text + (one_explains_all ? "" : "  No single input explains all of it.\n");
}

std::string_view word(nccl::Agreement agreement) {
  switch (agreement) {
    case nccl::Agreement::Agrees:
      return "agrees";
    case nccl::Agreement::Differs:
      return "differs";
    case nccl::Agreement::NotInLog:
      return "not in the log";
  }
  return "";
}

std::string_view word(nccl::VariableFinding::State state) {
  switch (state) {
    case nccl::VariableFinding::State::Same:
      return "agrees";
    case nccl::VariableFinding::State::Other:
    case nccl::VariableFinding::State::NotGiven:
      return "differs";
    case nccl::VariableFinding::State::Unmodelled:
      return "not modelled";
  }
  return "";
}

ordered_json optional_json(const std::optional<int>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json explanation_json(const nccl::LogExplanation& explanation) {
  return {{"changes", explanation.changes},
          {"stated", explanation.stated},
          {"explained", explanation.explained},
          {"left", explanation.left}};
}

ordered_json points_json(const LogView& view) {
  ordered_json points = ordered_json::array();
  for (const nccl::LogFinding& finding : view.report.findings) {
    if (finding.agreement == nccl::Agreement::Differs) {
      points.push_back({{"subject", nccl::name(finding.subject)},
                        {"what", finding.what},
                        {"predicted", finding.predicted},
                        {"logged", finding.logged}});
    }
  }
  return points;
}

ordered_json subjects_json(const LogView& view) {
  ordered_json all = ordered_json::object();
  for (const nccl::LogSubject subject : subjects) {
    const Tally count = tally(view, subject);
    all[std::string(nccl::name(subject))] = {{word(nccl::Agreement::Agrees), count.agree},
                                             {word(nccl::Agreement::Differs), count.differ},
                                             {"not_in_log", count.missing}};
  }
  return all;
}

ordered_json variables_json(const LogView& view) {
  ordered_json all = ordered_json::array();
  for (const nccl::VariableFinding& variable : view.report.variables) {
    ordered_json json{{"name", variable.name}, {"state", word(variable.state)}};
    if (variable.state != nccl::VariableFinding::State::Unmodelled) {
      json["logged"] = variable.logged;
      json["given"] = text_or_null(variable.given);
    }
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace

std::string log_text(const LogView& view) {
  return head_text(view) + inputs_text(view) + decisions_text(view) + explanations_text(view);
}

ordered_json log_json(const LogView& view) {
  const nccl::NcclLog& log = view.log;
  const nccl::LoggedCommunicator& communicator = log.communicators[view.communicator];
  ordered_json json{{"file", view.file},
                    {"nccl", text_or_null(log.version)},
                    {"constants", text_or_null(view.constants_of_log)},
                    {"rccl", log.rccl},
                    {"communicators", log.communicators.size()},
                    {"ranks", optional_json(communicator.ranks)},
                    {"nodes", optional_json(communicator.nodes)},
                    {"ranks_in_log", communicator.ranks_seen.size()},
                    {"lines", log.lines},
                    {"garbled_lines", log.garbled},
                    {"unplaced_choices", log.unplaced},
                    {"unfinished_ranks", communicator.unfinished},
                    {"truncated", log.truncated},
                    {"too_many_nodes", view.report.too_many_nodes}};
  json["version_agrees"] =
      log.version.empty() ? ordered_json(nullptr) : ordered_json(view.version_agrees());
  json["environment"] = variables_json(view);
  json["points"] = subjects_json(view);
  json["differences"] = points_json(view);
  json["tried"] = view.report.tried;
  json["explanations"] = ordered_json::array();
  for (const nccl::LogExplanation& explanation : view.report.single) {
    json["explanations"].push_back(explanation_json(explanation));
  }
  json["together"] = view.report.together.changes.empty() ? ordered_json(nullptr)
                                                          : explanation_json(view.report.together);
  return json;
}

}  // namespace collsim
