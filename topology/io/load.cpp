#include "topology/io/load.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "topology/digest.hpp"
#include "topology/error.hpp"
#include "topology/io/config_files.hpp"
#include "topology/io/overlay.hpp"
#include "topology/io/read_spec.hpp"
#include "topology/io/yaml_reader.hpp"
#include "topology/io/yaml_tree.hpp"
#include "topology/size_estimate.hpp"

namespace collsim {

namespace {

constexpr std::string_view clusters_folder = "clusters";
constexpr std::string_view nodes_folder = "nodes";

// About 0.7 GB of links.
constexpr std::uint64_t most_links = std::uint64_t{1} << 24;
constexpr std::uint64_t most_devices = std::uint64_t{1} << 22;

/// A name for a cluster that another file describes: { alias: NAME, description: … }. Aliases of
/// aliases are refused, so there are no cycles.
struct AliasFile {
  std::string target;
  Position position;
};

std::optional<AliasFile> read_alias(const YamlTree& tree, YamlId root) {
  if (!tree.find(root, "alias")) return std::nullopt;
  std::vector<Provenance> unused;
  const MappingReader reader(ReadContext{tree, unused}, LocatedNode{root, {}},
                             {"alias", "description"});
  std::string target = reader.text("alias");
  return AliasFile{std::move(target), tree.node(*tree.find(root, "alias")).position};
}

YamlId parse_file(YamlTree& tree, const std::string& file) {
  const std::string text = read_file(file);
  return parse_yaml(tree, tree.sources.add_file(file, text));
}

/// Replaces an alias by the document that it names.
YamlId follow_alias(YamlTree& tree, YamlId root, const ConfigPath& config) {
  const std::optional<AliasFile> alias = read_alias(tree, root);
  if (!alias) return root;
  try {
    root = parse_file(tree, find_config(config, clusters_folder, alias->target,
                                        folder_of(tree, alias->position)));
  } catch (const InputError& error) {
    if (!error.location().file.empty()) throw;
    refuse_at(tree, alias->position, "alias", error.message(), error.hint());
  }
  if (tree.find(root, "alias")) {
    refuse_at(tree, alias->position, "alias", in_quotes(alias->target) + " is an alias itself");
  }
  return root;
}

/// Replaces the name of a node file by its contents.
void include_node(YamlTree& tree, YamlId root, const ConfigPath& config) {
  const std::optional<YamlId> reference = tree.find(root, "node");
  if (!reference || !tree.node(*reference).is_scalar()) return;
  const Position position = tree.node(*reference).position;
  const std::string name = tree.node(*reference).text;
  YamlId node;
  try {
    node = parse_file(tree, find_config(config, nodes_folder, name, folder_of(tree, position)));
  } catch (const InputError& error) {
    if (!error.location().file.empty()) throw;
    refuse_at(tree, position, "node", error.message(), error.hint());
  }
  tree.assign(root, YamlEntry{"node", position, node});
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

std::string digest_of(const ClusterSpec& spec) {
  Digest digest;
  for (const Provenance& value : spec.values) {
    if (value.path == "description" || value.path == "node.description" ||
        value.path == "node.name") {
      continue;
    }
    digest.add(value.path);
    digest.add(value.value);
  }
  return digest.hex();
}

void refuse_what_is_too_large(const ClusterSpec& spec) {
  const SizeEstimate size = estimate_size(spec);
  const auto refuse = [](std::uint64_t count, const std::string& noun, std::uint64_t most) {
    throw InputError(
        "the cluster would have " +
            (count == SizeEstimate::saturated ? "more than 10^19" : std::to_string(count)) + " " +
            noun + ", at most " + std::to_string(most) + " are possible",
        {}, "fewer nodes or GPUs");
  };
  if (size.devices > most_devices) refuse(size.devices, "devices", most_devices);
  if (size.links > most_links) refuse(size.links, "links", most_links);
}

LoadedCluster finish(YamlTree tree, YamlId root, const std::vector<Setting>& settings,
                     const ConfigPath& config) {
  if (tree.node(root).kind == YamlNode::Kind::mapping) {
    root = follow_alias(tree, root, config);
    const auto include = [&config](YamlTree& document, YamlId at) {
      include_node(document, at, config);
    };
    for (const Setting& setting : settings) apply_setting(tree, root, setting, include);
    include(tree, root);
    move_gpus_into_node(tree, root);
  }
  LoadedCluster loaded;
  loaded.spec = read_cluster_spec(tree, root);
  loaded.digest = digest_of(loaded.spec);
  SourceMap map;
  add_positions(tree, root, {}, map);
  map.own(std::move(tree.sources));
  loaded.source_map = std::move(map);
  try {
    refuse_what_is_too_large(loaded.spec);
  } catch (const InputError& error) {
    throw loaded.source_map.locate(error);
  }
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
  const YamlId root = parse_yaml(tree, tree.sources.add_file(file_name, text));
  return finish(std::move(tree), root, settings, path);
}

std::vector<ConfigEntry> list_clusters(const ConfigPath& path) {
  return list(path, clusters_folder);
}

std::vector<ConfigEntry> list_nodes(const ConfigPath& path) { return list(path, nodes_folder); }

}  // namespace collsim
