#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/nccl/io/machine_yaml.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/nccl_options.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/render_topology.hpp"
#include "tools/render_topology_check.hpp"
#include "tools/render_topology_picture.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct TopologyCommand {
  ClusterOptions cluster;
  OutputOptions output;
  bool strict = false;
  bool matrix = false;
  std::string format;  ///< of an export
  bool whole = false;
  std::string file;  ///< that is imported
};

Exit show(const TopologyCommand& command) {
  if (command.matrix && command.output.format() == Format::Csv) {
    throw InputError("has no effect on CSV: it has the values in force alone", "--matrix");
  }
  const MatrixExtent extent = command.matrix ? MatrixExtent::Whole : MatrixExtent::Readable;
  const Machine machine = load_machine(command.cluster, command.output);
  const std::string text = at_its_place(machine, [&] {
    switch (command.output.format()) {
      case Format::Json:
        return render_topology_json(machine.cluster, machine.loaded.digest, extent);
      case Format::Csv:
        return render_topology_csv(machine.cluster);
      case Format::Table:
        break;
    }
    return render_topology_table(machine.cluster, extent);
  });
  write_output(command.output, text);
  return Exit::Done;
}

Exit check(const TopologyCommand& command) {
  const Machine machine = load_machine(command.cluster, command.output);
  const std::vector<Finding> findings = implausible(machine.cluster);
  std::string text;
  switch (command.output.format()) {
    case Format::Json:
      text = render_check_json(machine, findings);
      break;
    case Format::Csv:
      text = render_check_csv(machine, findings);
      break;
    case Format::Table:
      text = render_check_table(machine, findings);
      break;
  }
  write_output(command.output, text);
  return command.strict && !findings.empty() ? Exit::CheckFailed : Exit::Done;
}

/// A topology file has no place for variables, and without them NCCL decides otherwise.
void note_environment(const TopologyCommand& command, const ClusterSpec& spec) {
  std::string variables;
  for (const EnvironmentVariable& variable : spec.environment) {
    variables += " --env " + variable.name + "=" + variable.value;
  }
  if (!variables.empty()) {
    note(command.output, "note: not in the file, and to be given with it:" + variables);
  }
}

Exit export_as(const TopologyCommand& command) {
  const Machine machine = load_machine(command.cluster, command.output);
  if (command.format == "nccl-xml") {
    if (command.whole) {
      throw InputError("has no effect on a topology file: it is of one node", "--whole");
    }
    note_environment(command, machine.cluster.spec());
    write_output(command.output, nccl::write_topology_xml(nccl_machine(machine, command.cluster)));
    return Exit::Done;
  }
  const OutlineExtent extent = command.whole ? OutlineExtent::Whole : OutlineExtent::Readable;
  write_output(command.output, command.format == "dot"
                                   ? render_topology_dot(machine.cluster, extent)
                                   : render_topology_svg(machine.cluster, extent));
  return Exit::Done;
}

Exit import_file(const TopologyCommand& command) {
  const nccl::ReadMachine read = nccl::load_topology_xml(command.file);
  note_warnings(command.output, read.warnings);
  const nccl::MachineYaml yaml =
      nccl::cluster_yaml(read.machine, std::filesystem::path(command.file).stem().string());
  for (const std::string& assumed : yaml.notes) {
    note(command.output, "note: " + assumed);
  }
  write_output(command.output, yaml.text);
  return Exit::Done;
}

/// Adds one of the subcommands, with the options that all have.
CLI::App* add_subcommand(CLI::App& topology, const std::string& name, const std::string& about,
                         TopologyCommand& command) {
  CLI::App* sub = topology.add_subcommand(name, about);
  add_cluster_options(*sub, command.cluster, ClusterNaming::OptionOrWord);
  return sub;
}

}  // namespace

void add_topology_command(CLI::App& app, Action& chosen) {
  CLI::App* topology = app.add_subcommand("topology", "what a cluster is made of");
  topology->require_subcommand(1);
  topology->footer(
      "Examples:\n"
      "  collsim topology show --cluster dgx-h100\n"
      "  collsim topology check --cluster dgx-h100-x4\n"
      "  collsim topology export --cluster dgx-h100-x4 --as svg --output dgx.svg\n"
      "  collsim topology export --cluster dgx-h100 --as nccl-xml --output topo.xml\n"
      "  collsim topology import topo.xml --output node.yaml");

  const auto shown = std::make_shared<TopologyCommand>();
  CLI::App* sub = add_subcommand(
      *topology, "show", "devices, links, cuts, paths, and every value in force with its origin",
      *shown);
  add_output_options(*sub, shown->output);
  add_switch(*sub, "--matrix", shown->matrix,
             "the path types of all pairs of GPUs and NICs, where a node has more than 24");
  sub->footer(
      "Examples:\n"
      "  collsim topology show --cluster dgx-h100-x4 --set nodes=16\n"
      "  collsim topology show aws-p5 --matrix");
  sub->callback([shown, &chosen] { chosen = [shown] { return show(*shown); }; });

  const auto checked = std::make_shared<TopologyCommand>();
  sub = add_subcommand(*topology, "check", "warn of what is legal but hardly meant", *checked);
  add_output_options(*sub, checked->output);
  add_switch(*sub, "--strict", checked->strict, "end with exit code 1 if there is a warning");
  sub->footer("Example:\n  collsim topology check --cluster dgx-h100-x4 --strict");
  sub->callback([checked, &chosen] { chosen = [checked] { return check(*checked); }; });

  const auto exported = std::make_shared<TopologyCommand>();
  sub = add_subcommand(*topology, "export",
                       "a picture of the cluster, or its node as NCCL's topology file", *exported);
  add_choice(*sub, "--as", exported->format, {"svg", "dot", "nccl-xml"},
             "svg, a drawing; dot, a graph for Graphviz; nccl-xml, a topology file of NCCL")
      ->required();
  add_switch(*sub, "--whole", exported->whole,
             "every device, where otherwise one stands for those that repeat it");
  add_output_file_option(*sub, exported->output);
  sub->footer(
      "Examples:\n"
      "  collsim topology export --cluster dgx-h100-x4 --as svg --output dgx.svg\n"
      "  collsim topology export dgx-h100 --as nccl-xml --output topo.xml");
  sub->callback([exported, &chosen] { chosen = [exported] { return export_as(*exported); }; });

  const auto imported = std::make_shared<TopologyCommand>();
  sub = topology->add_subcommand("import", "a topology file of NCCL as a description in YAML");
  add_text(*sub, "FILE", imported->file, "", "written by NCCL (NCCL_TOPO_DUMP_FILE), or by a cloud")
      ->required();
  add_output_file_option(*sub, imported->output);
  add_switch(*sub, "--quiet", imported->output.quiet, "no notes on stderr")->group("Output");
  sub->footer(
      "Example:\n"
      "  collsim topology import topo.xml --output node.yaml");
  sub->callback([imported, &chosen] { chosen = [imported] { return import_file(*imported); }; });
}

}  // namespace collsim
