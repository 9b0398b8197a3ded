#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/output.hpp"
#include "tools/render_topology.hpp"

namespace collsim {

namespace {

struct TopologyCommand {
  ClusterOptions cluster;
  OutputOptions output;
};

Exit show(const TopologyCommand& command) {
  const Machine machine = load_machine(command.cluster);
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = render_topology_json(machine.cluster, machine.loaded.digest);
      break;
    case Format::Csv:
      text = render_topology_csv(machine.cluster);
      break;
    case Format::Table:
      text = render_topology_table(machine.cluster);
      break;
  }
  write_output(command.output, text);
  return Exit::Done;
}

}  // namespace

void add_topology_command(CLI::App& app, Action& chosen) {
  CLI::App* topology = app.add_subcommand("topology", "what a cluster is made of");
  topology->require_subcommand(1);
  topology->footer("Example:\n  collsim topology show --cluster dgx-h100");
  const auto command = std::make_shared<TopologyCommand>();
  CLI::App* sub = topology->add_subcommand(
      "show", "devices, links, cuts, and every value in force with where it comes from");
  add_cluster_options(*sub, command->cluster);
  add_output_options(*sub, command->output);
  sub->footer("Example:\n  collsim topology show --cluster dgx-h100-x4 --set nodes=16");
  sub->callback([command, &chosen] { chosen = [command] { return show(*command); }; });
}

}  // namespace collsim
