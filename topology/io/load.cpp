#include "topology/io/load.hpp"

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

/// A name for a cluster that another file describes: { alias: NAME, description: … }. Aliases of
/// aliases are refused, so there are no cycles.
struct AliasFile {
  std::string target;
  Position position;
};

std::optional<AliasFile> read_alias(const YamlTree& tree, YamlId root) {
  if (!tree.find(root, "alias")) {
    return std::nullopt;
  }
  std::vector<Provenance> unused;
  const MappingReader reader(ReadContext{tree, unused}, LocatedNode{root, {}},
                             {"alias", "description"});
  std::string target = reader.text("alias");
  return AliasFile{std::move(target), tree.node(*tree.find(root, "alias")).position};
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

/// Replaces an alias by the document that it names.
YamlId follow_alias(YamlTree& tree, YamlId root, const ConfigPath& config) {
  const std::optional<AliasFile> alias = read_alias(tree, root);
  if (!alias) {
    return root;
  }
  try {
    root = parse_file(tree, find_config(config, clusters_folder, alias->target,
                                        folder_of(tree, alias->position)));
  } catch (const InputError& error) {
    if (!error.location().file.empty()) {
      throw;
    }
    refuse_at(tree, alias->position, "alias", error.message(), error.hint());
  }
  if (tree.find(root, "alias")) {
    refuse_at(tree, alias->position, "alias", in_quotes(alias->target) + " is an alias itself");
  }
  return root;
}

/// Replaces the name of a node file by its contents.
void include_node(YamlTree& tree, YamlId owner, const std::string& path, const ConfigPath& config) {
  if (tree.node(owner).kind != YamlNode::Kind::Mapping) {
    return;
  }
  const std::optional<YamlId> reference = tree.find(owner, "node");
  if (!reference || !tree.node(*reference).is_scalar()) {
    return;
  }
  const Position position = tree.node(*reference).position;
  const std::string name = tree.node(*reference).text;
  YamlId node;
  try {
    node = parse_file(tree, find_config(config, nodes_folder, name, folder_of(tree, position)));
  } catch (const InputError& error) {
    if (!error.location().file.empty()) {
      throw;
    }
    refuse_at(tree, position, path, error.message(), error.hint());
  }
  tree.assign(owner, YamlEntry{"node", position, node});
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
         path.starts_with("node.gpu_memory[");
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
  loaded.digest = digest_of(loaded.spec);
  add_positions(tree, root, {}, loaded.source_map);
  loaded.source_map.own(std::move(tree.sources()));
  return loaded;
}

std::string description_of(const std::string& file) {
  try {
    YamlTree tree;
    const YamlId root = parse_file(tree, file);
    if (const auto alias = tree.find(root, "alias"); alias && tree.node(*alias).is_scalar()) {
      return "the same as " + tree.node(*alias).text;
    }
    const std::optional<YamlId> description = tree.find(root, "description");
    return description ? tree.node(*description).text : std::string();
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

}  // namespace collsim
