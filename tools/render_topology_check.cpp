#include "tools/render_topology_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "tools/json_text.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// With the place of its path, or of what encloses that.
InputError located(const Machine& machine, const Finding& finding, const std::string& message) {
  return machine.loaded.source_map.locate(InputError(message, finding.path, finding.hint));
}

/// "configs/clusters/x.yaml:4", "--set".
std::string origin(const Machine& machine, const Finding& finding) {
  const SourceLocation place = located(machine, finding, finding.message).location();
  return place.line > 0 ? place.file + ":" + std::to_string(place.line) : place.file;
}

std::size_t found_by(const std::vector<Finding>& findings, std::string_view check) {
  return static_cast<std::size_t>(std::ranges::count(findings, check, &Finding::check));
}

}  // namespace

std::string render_check_table(const Machine& machine, const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text +=
        located(machine, finding, finding.message + " [" + finding.check + "]").render("warning") +
        "\n\n";
  }
  text += fmt::format("{}: {} warning{}\n", machine.cluster.name(),
                      findings.empty() ? "no" : std::to_string(findings.size()),
                      findings.size() == 1 ? "" : "s");
  TextTable table;
  table.add_column("check", Align::Left);
  table.add_column("looks for", Align::Left);
  table.add_column("found");
  for (const PlausibilityCheck& check : plausibility_checks()) {
    table.add_row({std::string(check.name), std::string(check.looks_for),
                   std::to_string(found_by(findings, check.name))});
  }
  return text + table.render("  ");
}

std::string render_check_json(const Machine& machine, const std::vector<Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json document{{"schema", "collsim/topology-check/1"},
                {"version", COLLSIM_VERSION},
                {"cluster", machine.cluster.name()},
                {"input_digest", machine.loaded.digest}};
  Json& found = document["findings"] = Json::array();
  for (const Finding& finding : findings) {
    found.push_back({{"check", finding.check},
                     {"path", finding.path},
                     {"origin", origin(machine, finding)},
                     {"message", finding.message},
                     {"hint", finding.hint}});
  }
  Json& checks = document["checks"] = Json::array();
  for (const PlausibilityCheck& check : plausibility_checks()) {
    checks.push_back({{"check", check.name},
                      {"looks_for", check.looks_for},
                      {"found", found_by(findings, check.name)}});
  }
  return json_text(document);
}

std::string render_check_csv(const Machine& machine, const std::vector<Finding>& findings) {
  std::string text = "check,path,origin,message,hint\n";
  for (const Finding& finding : findings) {
    text += csv_field(finding.check) + "," + csv_field(finding.path) + "," +
            csv_field(origin(machine, finding)) + "," + csv_field(finding.message) + "," +
            csv_field(finding.hint) + "\n";
  }
  return text;
}

}  // namespace collsim
