#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/table.hpp"
#include "sim/io/read_costs.hpp"
#include "study/io/read_experiment.hpp"
#include "study/nccl_job.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/json_text.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_csv.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"
#include "validate/io/find_measurements.hpp"

namespace collsim {

namespace {

struct ListCommand {
  ClusterOptions cluster;
  OutputOptions output;
  std::string what;
};

/// What is listed: texts, or lists of names.
struct Cell {
  std::vector<std::string> words;
  bool is_list = false;

  [[nodiscard]] std::string text() const {
    std::string joined;
    for (const std::string& word : words) {
      joined += (joined.empty() ? "" : " ") + word;
    }
    return joined;
  }
};

struct Heading {
  std::string name;
  std::size_t max_width = 0;  ///< in the table; 0: as wide as it is
};

/// Headings, and a row of as many cells for each thing.
struct Listing {
  std::vector<Heading> headings;
  std::vector<std::vector<Cell>> rows;
};

Cell cell(std::string text) { return {{std::move(text)}, false}; }

Listing config_listing(const std::vector<ConfigEntry>& entries) {
  Listing listing{{{"name"}, {"description", 50}, {"origin"}}, {}};
  for (const ConfigEntry& entry : entries) {
    listing.rows.push_back({cell(entry.name), cell(entry.description), cell(entry.file)});
  }
  return listing;
}

Listing parameter_listing(const ConfigPath& path) {
  Listing listing{{{"name"}, {"description", 50}, {"origin"}}, {}};
  for (const nccl::ListedConstants& constants : nccl::list_constants(path)) {
    listing.rows.push_back(
        {cell("nccl-tuning-" + constants.name), cell(constants.description), cell(constants.file)});
  }
  for (const ListedCosts& costs : list_costs(path)) {
    listing.rows.push_back({cell(costs.name), cell(costs.description), cell(costs.file)});
  }
  return listing;
}

Listing algorithm_listing() {
  Listing listing{{{"name"}, {"description", 46}, {"collectives", 32}}, {}};
  for (const Algorithm& algorithm : algorithms()) {
    Cell collectives{{}, true};
    for (const CollectiveKind kind : algorithm.collectives) {
      collectives.words.emplace_back(name_of(kind));
    }
    listing.rows.push_back({cell(std::string(algorithm.name)), cell(std::string(algorithm.summary)),
                            std::move(collectives)});
  }
  for (const NcclAlgorithm& algorithm : nccl_algorithms()) {
    Cell collectives{{}, true};
    for (const CollectiveKind kind : algorithm.collectives) {
      collectives.words.emplace_back(name_of(kind));
    }
    listing.rows.push_back({cell(std::string(algorithm.name)), cell(std::string(algorithm.summary)),
                            std::move(collectives)});
  }
  return listing;
}

Listing collective_listing() {
  Listing listing{{{"name"}, {"algorithms", 82}}, {}};
  for (const std::string& name : collective_names()) {
    Cell implemented{{}, true};
    for (const Algorithm& algorithm : algorithms()) {
      if (implements(algorithm, *parse_collective(name))) {
        implemented.words.emplace_back(algorithm.name);
      }
    }
    for (const NcclAlgorithm& algorithm : nccl_algorithms()) {
      if (implements(algorithm, *parse_collective(name))) {
        implemented.words.emplace_back(algorithm.name);
      }
    }
    listing.rows.push_back({cell(name), std::move(implemented)});
  }
  return listing;
}

Listing listing_of(const ListCommand& command) {
  if (command.what == "clusters") {
    return config_listing(list_clusters(config_path(command.cluster)));
  }
  if (command.what == "nodes") {
    return config_listing(list_nodes(config_path(command.cluster)));
  }
  if (command.what == "gpus") {
    return config_listing(list_gpus(config_path(command.cluster)));
  }
  if (command.what == "experiments") {
    return config_listing(list_experiments(config_path(command.cluster)));
  }
  if (command.what == "measurements") {
    return config_listing(list_measurements(config_path(command.cluster)));
  }
  if (command.what == "algorithms") {
    return algorithm_listing();
  }
  if (command.what == "collectives") {
    return collective_listing();
  }
  return parameter_listing(config_path(command.cluster));
}

std::string as_json(const ListCommand& command, const Listing& listing) {
  nlohmann::ordered_json document{{"schema", "collsim/list/1"}, {"kind", command.what}};
  document["entries"] = nlohmann::ordered_json::array();
  for (const auto& row : listing.rows) {
    nlohmann::ordered_json entry;
    for (std::size_t i = 0; i < row.size(); ++i) {
      auto& value = entry[listing.headings[i].name];
      if (row[i].is_list) {
        value = row[i].words;
      } else {
        value = row[i].text();
      }
    }
    document["entries"].push_back(std::move(entry));
  }
  return json_text(document);
}

std::string as_csv(const Listing& listing) {
  std::string text;
  const auto add = [&text](std::size_t column, const std::string& field) {
    text += (column > 0 ? "," : "") + csv_field(field);
  };
  for (std::size_t i = 0; i < listing.headings.size(); ++i) {
    add(i, listing.headings[i].name);
  }
  text += '\n';
  for (const auto& row : listing.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      add(i, row[i].text());
    }
    text += '\n';
  }
  return text;
}

std::string as_table(const ListCommand& command, const Listing& listing) {
  if (listing.rows.empty()) {
    return "There are no " + command.what + " on the search path.\n";
  }
  TextTable table;
  for (const Heading& heading : listing.headings) {
    table.add_column(heading.name, Align::Left, heading.max_width);
  }
  for (const auto& row : listing.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const Cell& shown : row) {
      cells.push_back(printable(shown.text(), std::string::npos));
    }
    table.add_row(std::move(cells));
  }
  return table.render();
}

Exit list(const ListCommand& command) {
  const Listing listing = listing_of(command);
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = as_json(command, listing);
      break;
    case Format::Csv:
      text = as_csv(listing);
      break;
    case Format::Table:
      text = as_table(command, listing);
      break;
  }
  write_output(command.output, text);
  return Exit::Done;
}

}  // namespace

void add_list_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<ListCommand>();
  CLI::App* sub =
      app.add_subcommand("list", "what there is to choose from, and where it comes from");
  add_choice(
      *sub, "KIND", command->what,
      {"clusters", "nodes", "gpus", "algorithms", "collectives", "parameters", "measurements",
       "experiments"},
      "clusters, nodes, gpus, algorithms, collectives, parameters, measurements or experiments")
      ->required();
  add_config_directory(*sub, command->cluster);
  add_output_options(*sub, command->output);
  sub->footer("Example:\n  collsim list algorithms");
  sub->callback([command, &chosen] { chosen = [command] { return list(*command); }; });
}

}  // namespace collsim
