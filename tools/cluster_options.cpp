#include "tools/cluster_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "algorithms/nccl/io/machine_yaml.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

namespace fs = std::filesystem;

/// As short as the user would write it: relative where it lies below the current folder. Origins and
/// messages begin with it.
std::string shown_path(const fs::path& directory) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || !directory.is_absolute()) {
    return directory.string();
  }
  const fs::path relative = directory.lexically_relative(here);
  const bool below = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return below ? relative.string() : directory.string();
}

void add_directory(ConfigPath& path, const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_directory(directory, ignored)) {
    path.directories.push_back(shown_path(directory));
  }
}

void add_environment(ConfigPath& path) {
  const char* const value = std::getenv("COLLSIM_CONFIG_PATH");
  if (value == nullptr) {
    return;
  }
  const std::string text = value;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) {
      add_directory(path, text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
}

void add_beside_program(ConfigPath& path) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return;
  }
  const fs::path folder = program.parent_path();
  add_directory(path, (folder / ".." / "share" / "collsim" / "configs").lexically_normal());
  // Written by the build beside a program that was not installed; see cmake/collsimTargets.cmake.
  std::ifstream build_tree(folder / "collsim-build-tree");
  std::string source_tree;
  if (std::getline(build_tree, source_tree)) {
    add_directory(path, fs::path(source_tree) / "configs");
  }
}

void add_settings(CLI::App& app, ClusterOptions& options) {
  app.add_option("--set", options.settings,
                 "change a value of the description, e.g. nodes=64; may be given several times")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all()
      ->group("Cluster");
  add_config_directory(app, options);
}

}  // namespace

void add_config_directory(CLI::App& app, ClusterOptions& options) {
  add_text(app, "--config-dir", options.config_directory, "DIR",
           "look for clusters and nodes here first; then in the folders of COLLSIM_CONFIG_PATH")
      ->group("Cluster");
}

void add_cluster_options(CLI::App& app, ClusterOptions& options, ClusterNaming naming) {
  const bool by_word = naming == ClusterNaming::OptionOrWord;
  add_text(app, by_word ? "--cluster,CLUSTER" : "--cluster", options.cluster, "C",
           "a name (`collsim list clusters`), a YAML file, or a topology file of NCCL")
      ->required()
      ->group("Cluster");
  add_settings(app, options);
}

void add_clusters_options(CLI::App& app, ClustersOptions& options) {
  app.add_option("--cluster", options.clusters,
                 "a name (`collsim list clusters` shows them) or a YAML file; may be given several "
                 "times")
      ->type_name("C")
      ->expected(1)
      ->take_all()
      ->required()
      ->group("Cluster");
  add_settings(app, options.common);
}

ConfigPath config_path(const ClusterOptions& options) {
  ConfigPath path;
  if (!options.config_directory.empty()) {
    std::error_code ignored;
    if (!fs::is_directory(options.config_directory, ignored)) {
      throw InputError("there is no folder " + in_quotes(options.config_directory), "--config-dir");
    }
    path.directories.push_back(shown_path(options.config_directory));
  }
  add_environment(path);
  add_beside_program(path);
  return path;
}

namespace {

/// Whether the words name a file whose content begins as XML does.
bool is_xml(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".xml");
  std::ifstream file;
  if (is_path) {
    file.open(name, std::ios::binary);
  }
  // A BOM may come first.
  char c = ' ';
  while (file.get(c) && (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\xEF' ||
                         c == '\xBB' || c == '\xBF')) {
  }
  return file && c == '<';
}

Machine load_topology_file(const ClusterOptions& options, const std::vector<Setting>& settings,
                           const OutputOptions& output) {
  nccl::ReadMachine read = nccl::load_topology_xml(options.cluster);
  note_warnings(output, read.warnings);
  const fs::path file(options.cluster);
  const nccl::MachineYaml yaml = nccl::cluster_yaml(read.machine, file.stem().string());
  for (const std::string& assumed : yaml.notes) {
    note(output, "note: " + printable(options.cluster) + ": " + assumed);
  }
  LoadedCluster loaded =
      parse_cluster(yaml.text, options.cluster + " (as YAML)", settings, config_path(options));
  Cluster cluster = build_cluster(loaded);
  return Machine{std::move(loaded), std::move(cluster), std::move(read.machine)};
}

}  // namespace

Machine load_machine(const ClusterOptions& options, const OutputOptions& output) {
  std::vector<Setting> settings;
  settings.reserve(options.settings.size());
  for (const std::string& text : options.settings) {
    settings.push_back(parse_setting(text));
  }
  if (is_xml(options.cluster)) {
    return load_topology_file(options, settings, output);
  }
  LoadedCluster loaded = load_cluster(options.cluster, settings, config_path(options));
  Cluster cluster = build_cluster(loaded);
  return Machine{std::move(loaded), std::move(cluster), {}};
}

std::vector<Machine> load_machines(const ClustersOptions& options, const OutputOptions& output) {
  std::vector<Machine> machines;
  for (std::size_t i = 0; i < options.clusters.size(); ++i) {
    ClusterOptions one = options.common;
    one.cluster = options.clusters[i];
    const auto before = options.clusters.begin() + static_cast<std::ptrdiff_t>(i);
    if (one.cluster.empty()) {
      throw InputError("must not be empty", "--cluster");
    }
    if (std::find(options.clusters.begin(), before, one.cluster) != before) {
      throw InputError("given twice: " + in_quotes(one.cluster), "--cluster");
    }
    machines.push_back(load_machine(one, output));
  }
  return machines;
}

}  // namespace collsim
