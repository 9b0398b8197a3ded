#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/table.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/output.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct ListCommand {
  ClusterOptions cluster;
  OutputOptions output;
  std::string what;
};

/// Headings, and a row of as many cells for each thing.
struct Listing {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

Listing config_listing(const std::vector<ConfigEntry>& entries) {
  Listing listing{{"name", "description", "origin"}, {}};
  for (const ConfigEntry& entry : entries) {
    listing.rows.push_back({entry.name, entry.description, entry.file});
  }
  return listing;
}

std::string joined_names(const std::vector<CollectiveKind>& kinds) {
  std::string text;
  for (const CollectiveKind kind : kinds) {
    if (!text.empty()) text += ' ';
    text += name_of(kind);
  }
  return text;
}

Listing algorithm_listing() {
  Listing listing{{"name", "description", "collectives"}, {}};
  for (const Algorithm& algorithm : algorithms()) {
    listing.rows.push_back({std::string(algorithm.name), std::string(algorithm.summary),
                            joined_names(algorithm.collectives)});
  }
  return listing;
}

Listing collective_listing() {
  Listing listing{{"name", "algorithms"}, {}};
  for (const std::string& name : collective_names()) {
    std::string implemented;
    for (const Algorithm& algorithm : algorithms()) {
      const auto kind = parse_collective(name);
      if (std::ranges::find(algorithm.collectives, *kind) == algorithm.collectives.end()) continue;
      if (!implemented.empty()) implemented += ' ';
      implemented += algorithm.name;
    }
    listing.rows.push_back({name, implemented});
  }
  return listing;
}

Listing listing_of(const ListCommand& command) {
  if (command.what == "clusters")
    return config_listing(list_clusters(config_path(command.cluster)));
  if (command.what == "nodes") return config_listing(list_nodes(config_path(command.cluster)));
  if (command.what == "algorithms") return algorithm_listing();
  if (command.what == "collectives") return collective_listing();
  return Listing{{"name", "description", "origin"}, {}};  // parameters: there are none yet
}

std::string as_json(const ListCommand& command, const Listing& listing) {
  nlohmann::ordered_json document{{"schema", "collsim/list/1"}, {"kind", command.what}};
  document["entries"] = nlohmann::ordered_json::array();
  for (const auto& row : listing.rows) {
    nlohmann::ordered_json entry;
    for (std::size_t i = 0; i < row.size(); ++i) entry[listing.headings[i]] = row[i];
    document["entries"].push_back(std::move(entry));
  }
  return document.dump(2) + "\n";
}

std::string as_csv(const Listing& listing) {
  std::string text;
  const auto add_line = [&text](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_field(cells[i]);
    text += '\n';
  };
  add_line(listing.headings);
  for (const auto& row : listing.rows) add_line(row);
  return text;
}

std::string as_table(const ListCommand& command, const Listing& listing) {
  if (listing.rows.empty()) {
    return "There are no " + command.what +
           (command.what == "parameters" ? ": results are nominal (no protocol, no launch).\n"
                                         : " on the search path.\n");
  }
  TextTable table;
  for (const std::string& heading : listing.headings) table.add_column(heading, Align::left);
  for (const auto& row : listing.rows) table.add_row(row);
  return table.render();
}

Exit list(const ListCommand& command) {
  const Listing listing = listing_of(command);
  std::string text;
  switch (command.output.format()) {
    case Format::json:
      text = as_json(command, listing);
      break;
    case Format::csv:
      text = as_csv(listing);
      break;
    case Format::table:
      text = as_table(command, listing);
      break;
  }
  write_output(command.output, text);
  return Exit::done;
}

}  // namespace

void add_list_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<ListCommand>();
  CLI::App* sub =
      app.add_subcommand("list", "what there is to choose from, and where it comes from");
  sub->add_option("what", command->what, "clusters, nodes, algorithms, collectives or parameters")
      ->check(CLI::IsMember({"clusters", "nodes", "algorithms", "collectives", "parameters"}))
      ->required();
  add_config_directory(*sub, command->cluster);
  add_output_options(*sub, command->output);
  sub->footer("Example:\n  collsim list algorithms");
  sub->callback([command, &chosen] { chosen = [command] { return list(*command); }; });
}

}  // namespace collsim
