#include "topology/io/load.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "topology/digest.hpp"
#include "topology/error.hpp"
#include "topology/io/config_files.hpp"
#include "topology/io/overlay.hpp"
#include "topology/io/read_spec.hpp"
#include "topology/io/yaml_reader.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim {

namespace {

constexpr std::string_view clusters_folder = "clusters";
constexpr std::string_view nodes_folder = "nodes";
constexpr std::string_view gpus_folder = "gpus";

/// Whether this is a name for a cluster that another file describes: { alias: NAME, description: … }.
/// Aliases of aliases are refused, so there are no cycles.
bool is_alias(const YamlTree& tree, YamlId root) {
  if (!tree.find(root, "alias")) {
    return false;
  }
  std::vector<Provenance> unused;
  const MappingReader reader(ReadContext{tree, unused}, LocatedNode{root, {}},
                             {"alias", "description"});
  static_cast<void>(reader.text("alias"));
  return true;
}

YamlId parse_text(YamlTree& tree, const std::string& file, std::string_view text) {
  const std::uint32_t source = tree.sources().add_file(file, text);
  const YamlId root = parse_yaml(tree, source);
  if (tree.node(root).kind == YamlNode::Kind::Null) {
    refuse_at(tree, Position{source, 0, 0}, {}, "empty: expected a YAML mapping");
  }
  return root;
}

YamlId parse_file(YamlTree& tree, const std::string& file) {
  return parse_text(tree, file, read_file(file));
}

/// Parses the file that a value names; what is wrong with the name is said at `path`.
YamlId parse_named(YamlTree& tree, YamlId reference, std::string_view folder,
                   const std::string& path, const ConfigPath& config) {
  const Position position = tree.node(reference).position;
  const std::string name = tree.node(reference).text;
  try {
    return parse_file(tree, find_config(config, folder, name, folder_of(tree, position)));
  } catch (const InputError& error) {
    if (!error.location().file.empty()) {
      throw;
    }
    refuse_at(tree, position, path, error.message(), error.hint());
  }
}

/// Replaces an alias by the document that it names.
YamlId follow_alias(YamlTree& tree, YamlId root, const ConfigPath& config) {
  if (!is_alias(tree, root)) {
    return root;
  }
  const YamlId reference = *tree.find(root, "alias");
  root = parse_named(tree, reference, clusters_folder, "alias", config);
  if (tree.find(root, "alias")) {
    refuse_at(tree, tree.node(reference).position, "alias",
              in_quotes(tree.node(reference).text) + " is an alias itself");
  }
  return root;
}

/// The value of a key, if it is one that names a file.
std::optional<YamlId> name_at(const YamlTree& tree, YamlId owner, std::string_view key) {
  if (tree.node(owner).kind != YamlNode::Kind::Mapping) {
    return std::nullopt;
  }
  const std::optional<YamlId> reference = tree.find(owner, key);
  return reference && tree.node(*reference).is_scalar() ? reference : std::nullopt;
}

/// Replaces the name of a GPU's file by the memory ladder that it holds.
void include_gpu_memory(YamlTree& tree, YamlId node, const std::string& path,
                        const ConfigPath& config) {
  const std::optional<YamlId> reference = name_at(tree, node, "gpu_memory");
  if (!reference) {
    return;
  }
  const Position position = tree.node(*reference).position;
  const YamlId file = parse_named(tree, *reference, gpus_folder, path, config);
  std::vector<Provenance> unused;
  const MappingReader reader(ReadContext{tree, unused}, LocatedNode{file, {}},
                             {"name", "description", "memory"});
  if (!reader.has("memory")) {
    reader.refuse_missing("memory");
  }
  const YamlId ladder = *tree.find(file, "memory");
  tree.assign(node, YamlEntry{"gpu_memory", position, ladder});
}

/// Replaces the name of a node file by its contents, and so on inside the node.
void include_node(YamlTree& tree, YamlId owner, const std::string& path, const ConfigPath& config) {
  if (const std::optional<YamlId> reference = name_at(tree, owner, "node")) {
    const Position position = tree.node(*reference).position;
    const YamlId node = parse_named(tree, *reference, nodes_folder, path, config);
    tree.assign(owner, YamlEntry{"node", position, node});
  }
  if (tree.node(owner).kind != YamlNode::Kind::Mapping) {
    return;
  }
  if (const std::optional<YamlId> node = tree.find(owner, "node")) {
    if (tree.node(*node).kind != YamlNode::Kind::Mapping) {
      refuse_at(
          tree, tree.node(*node).position, path,
          "expected a node by its name or path, or a mapping, got " + found_text(tree.node(*node)));
    }
    include_gpu_memory(tree, *node, path + ".gpu_memory", config);
  }
}

/// The same for all nodes of a cluster, where `nodes` is a list.
void include_nodes(YamlTree& tree, YamlId root, const ConfigPath& config) {
  include_node(tree, root, "node", config);
  const std::optional<YamlId> list = tree.find(root, "nodes");
  if (!list || tree.node(*list).kind != YamlNode::Kind::Sequence) {
    return;
  }
  const std::vector<YamlId> items = tree.node(*list).items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    include_node(tree, items[i], "nodes[" + std::to_string(i) + "].node", config);
  }
}

void add_positions(const YamlTree& tree, YamlId id, const std::string& path, SourceMap& map) {
  const YamlNode& node = tree.node(id);
  map.set(path, node.position);
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    add_positions(tree, node.items[i], path + "[" + std::to_string(i) + "]", map);
  }
  for (const YamlEntry& entry : node.entries) {
    add_positions(tree, entry.value, path.empty() ? entry.key : path + "." + entry.key, map);
  }
}

/// Whether a value is for the reader's eyes: no result depends on it.
bool only_describes(std::string_view path) {
  if (path.starts_with("nodes[")) {
    path.remove_prefix(path.find("].") + 2);
  }
  return path == "description" || path == "node.description" || path == "node.name" ||
         path.starts_with("node.gpu_memory[") || path.starts_with("node.host_memory.") ||
         path.ends_with(".bonded");
}

/// Of a ladder the one figure that simulations read.
void add_memory(Digest& digest, const NodeSpec& node) {
  for (const MemoryLevelSpec& level : node.gpu_memory) {
    if (level.level == MemoryLevel::Memory && level.bandwidth) {
      digest.add("memory");
      digest.add(std::to_string(level.bandwidth->value.units()));
    }
  }
}

std::string digest_of(const ClusterSpec& spec) {
  Digest digest;
  for (const Provenance& value : spec.values) {
    if (only_describes(value.path)) {
      continue;
    }
    digest.add(value.path);
    digest.add(value.value);
  }
  add_memory(digest, spec.node);
  for (const NodeGroupSpec& group : spec.more_nodes) {
    add_memory(digest, group.node);
  }
  return digest.hex();
}

LoadedCluster finish(YamlTree tree, YamlId root, const std::vector<Setting>& settings,
                     const ConfigPath& config) {
  if (tree.node(root).kind == YamlNode::Kind::Mapping) {
    root = follow_alias(tree, root, config);
    const auto include = [&config](YamlTree& document, YamlId at) {
      include_nodes(document, at, config);
    };
    for (const Setting& setting : settings) {
      apply_setting(tree, root, setting, include);
    }
    include(tree, root);
    move_gpus_into_node(tree, root);
  }
  LoadedCluster loaded;
  loaded.spec = read_cluster_spec(tree, root);
  loaded.spec.changed = std::ranges::any_of(settings, [](const Setting& setting) {
    return setting.path != "name" && setting.path != "description";
  });
  loaded.digest = digest_of(loaded.spec);
  add_positions(tree, root, {}, loaded.source_map);
  loaded.source_map.own(std::move(tree.sources()));
  return loaded;
}

/// Text of a file that was not read as a description, fit for one line of a list.
std::string one_line(std::string text) {
  constexpr std::size_t most_shown = 200;
  while (text.ends_with('\n')) {
    text.pop_back();
  }
  return printable(text, most_shown);
}

std::string description_of(const std::string& file) {
  try {
    YamlTree tree;
    const YamlId root = parse_file(tree, file);
    if (const auto alias = tree.find(root, "alias"); alias && tree.node(*alias).is_scalar()) {
      return "the same as " + one_line(tree.node(*alias).text);
    }
    const std::optional<YamlId> description = tree.find(root, "description");
    return description ? one_line(tree.node(*description).text) : std::string();
  } catch (const InputError& error) {
    return "cannot be read: " + error.message();
  }
}

std::vector<ConfigEntry> list(const ConfigPath& path, std::string_view folder) {
  std::vector<ConfigEntry> entries;
  for (auto& [name, file] : config_files(path, folder)) {
    std::string description = description_of(file);
    entries.push_back(ConfigEntry{name, std::move(description), file});
  }
  return entries;
}

}  // namespace

LoadedCluster load_cluster(const std::string& name_or_path, const std::vector<Setting>& settings,
                           const ConfigPath& path) {
  const std::string file = find_config(path, clusters_folder, name_or_path, {});
  return parse_cluster(read_file(file), file, settings, path);
}

LoadedCluster parse_cluster(std::string_view text, const std::string& file_name,
                            const std::vector<Setting>& settings, const ConfigPath& path) {
  YamlTree tree;
  const YamlId root = parse_text(tree, file_name, text);
  return finish(std::move(tree), root, settings, path);
}

std::vector<ConfigEntry> list_clusters(const ConfigPath& path) {
  return list(path, clusters_folder);
}

std::vector<ConfigEntry> list_nodes(const ConfigPath& path) { return list(path, nodes_folder); }

std::vector<ConfigEntry> list_gpus(const ConfigPath& path) { return list(path, gpus_folder); }

}  // namespace collsim
