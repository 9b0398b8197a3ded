#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_hierarchy.hpp"
#include "tools/svg.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct HierarchyCommand {
  ClustersOptions clusters;
  OutputOptions output;
  std::string plot;
};

void require_plot(const HierarchyCommand& command) {
  if (command.plot.empty()) {
    return;
  }
  if (command.plot == "-") {
    throw InputError("stdout is for the result: a plot needs a file", "--plot");
  }
  refuse_overwriting("--plot", command.plot, command.output);
  const std::size_t clusters = command.clusters.clusters.size();
  if (clusters > Svg::series_colours) {
    throw InputError("expected at most " + std::to_string(Svg::series_colours) +
                         " clusters in a plot, got " + std::to_string(clusters),
                     "--plot");
  }
}

void require_rungs(const std::vector<Ladder>& ladders) {
  for (const Ladder& ladder : ladders) {
    if (!ladder.hierarchy.rungs.empty()) {
      return;
    }
  }
  throw InputError("there is nothing to draw: one GPU, and no word on what is inside", "--plot",
                   "describe it under node.gpu_memory");
}

Exit hierarchy(const HierarchyCommand& command) {
  require_plot(command);
  const std::vector<Machine> machines = load_machines(command.clusters, command.output);
  std::vector<Ladder> ladders;
  ladders.reserve(machines.size());
  for (const Machine& machine : machines) {
    ladders.push_back({&machine.cluster, machine.loaded.digest, at_its_place(machine, [&] {
                         return build_hierarchy(machine.cluster, hierarchy_sizes);
                       })});
  }
  if (!command.plot.empty()) {
    require_rungs(ladders);
    write_file("--plot", command.plot, plot_hierarchy(ladders));
  }
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = render_hierarchy_json(ladders);
      break;
    case Format::Csv:
      text = render_hierarchy_csv(ladders);
      break;
    case Format::Table:
      text = render_hierarchy_table(ladders);
      break;
  }
  write_output(command.output, text);
  return Exit::Done;
}

}  // namespace

void add_hierarchy_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<HierarchyCommand>();
  CLI::App* sub = app.add_subcommand(
      "hierarchy", "closer is faster: from a GPU's registers to the farthest GPU, with numbers");
  add_clusters_options(*sub, command->clusters);
  add_text(*sub, "--plot", command->plot, "FILE", "draw bandwidths and latencies as an SVG")
      ->group("Output");
  add_output_options(*sub, command->output);
  sub->footer(
      "Examples:\n"
      "  collsim hierarchy --cluster dgx-h100-x4\n"
      "  collsim hierarchy --cluster dgx-a100 --cluster dgx-h100 --plot ladder.svg");
  sub->callback([command, &chosen] { chosen = [command] { return hierarchy(*command); }; });
}

}  // namespace collsim
