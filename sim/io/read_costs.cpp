#include "sim/io/read_costs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "topology/error.hpp"
#include "topology/io/config_files.hpp"
#include "topology/io/source.hpp"
#include "topology/io/yaml_reader.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim {

namespace {

constexpr std::string_view folder = "parameters";
constexpr std::string_view not_ours = "nccl-tuning-";
/// What names of the sets of a fabric begin with.
constexpr std::string_view of_network = "net-";
constexpr int most_bases = 8;
constexpr Bytes most_bytes(std::int64_t{1} << 40);
constexpr double whole = 1'000'000;

constexpr std::array sources{Choice<CostSource>{"nominal", CostSource::Nominal},
                             Choice<CostSource>{"literature", CostSource::Literature},
                             Choice<CostSource>{"estimate", CostSource::Estimate},
                             Choice<CostSource>{"measured", CostSource::Measured},
                             Choice<CostSource>{"fitted", CostSource::Fitted}};

/// "nccl-hopper" of ".../nccl-hopper.yaml".
std::string stem_of(const std::string& file_name) {
  const std::size_t slash = file_name.find_last_of('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = file_name.rfind(".yaml");
  return file_name.substr(begin, dot == std::string::npos || dot < begin ? dot : dot - begin);
}

struct CostsFile {
  YamlTree tree{};
  YamlId root{};
  std::vector<Provenance> values{};

  [[nodiscard]] MappingReader reader() {
    std::vector<std::string> accepted{"description", "base", "tier", "calibrated"};
    for (const CostDefinition& definition : cost_definitions()) {
      if (std::ranges::find(accepted, definition.group) == accepted.end()) {
        accepted.emplace_back(definition.group);
      }
    }
    return {ReadContext{tree, values}, LocatedNode{root, {}}, accepted};
  }
};

CostsFile parse(const std::string& file_name) {
  CostsFile file;
  const std::uint32_t source = file.tree.sources().add_file(file_name, read_file(file_name));
  file.root = parse_yaml(file.tree, source);
  return file;
}

/// Absent: it is no number, or one that is not from `least` to `most`.
std::optional<double> number_in(const std::string& text, double least, double most) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  const bool fits =
      result.ec == std::errc{} && result.ptr == end && value >= least && value <= most;
  return fits ? std::optional(value) : std::nullopt;
}

/// A number that is not negative: an error, as a part of a value.
double read_number(const MappingReader& reader, const std::string& key) {
  constexpr double most = 1e6;
  const std::string text = reader.text(key);
  const std::optional<double> value = number_in(text, 0, most);
  if (!value) {
    reader.refuse(key, "expected a number from 0, got " + in_quotes(text));
  }
  return *value;
}

/// A part of one, as millionths. Of a rate there must be something left.
std::int64_t read_share(const MappingReader& reader, CostItem item) {
  const bool of_rate = CostParameters().share(item) > 0;
  const std::string text = reader.text("value");
  const std::optional<double> value = number_in(text, 0, 1);
  if (!value || (of_rate && *value == 0)) {
    reader.refuse("value", std::string("expected a share ") +
                               (of_rate ? "above 0 and up to 1" : "from 0 to 1") + ", got " +
                               in_quotes(text));
  }
  return std::max<std::int64_t>(std::llround(*value * whole), of_rate ? 1 : 0);
}

/// No rate at all would mean no limit.
std::int64_t read_rate(const MappingReader& reader) {
  const Bandwidth rate = reader.bandwidth("value");
  if (rate == Bandwidth{}) {
    reader.refuse("value", "expected a bandwidth above 0, got " + in_quotes(reader.text("value")));
  }
  return rate.units();
}

std::int64_t read_units(const MappingReader& reader, const CostDefinition& definition) {
  switch (definition.unit) {
    case CostUnit::Picoseconds:
      return reader.duration("value").count();
    case CostUnit::RateUnits:
      return read_rate(reader);
    case CostUnit::Millionths:
      return read_share(reader, definition.item);
    case CostUnit::Bytes:
      return reader.bytes("value", most_bytes).count();
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::vector<std::string> keys_of(std::string_view group) {
  std::vector<std::string> keys;
  for (const CostDefinition& definition : cost_definitions()) {
    if (definition.group == group) {
      keys.emplace_back(definition.key);
    }
  }
  return keys;
}

std::optional<CostValue> read_value(const MappingReader& file, const CostDefinition& definition) {
  const std::string group(definition.group);
  const std::string key(definition.key);
  if (!file.has(group)) {
    return std::nullopt;
  }
  const MappingReader values = file.mapping(group, keys_of(group));
  if (!values.has(key)) {
    return std::nullopt;
  }
  const MappingReader value = values.mapping(key, {"value", "source", "error"});
  return CostValue{read_units(value, definition),
                   value.choice("source", std::span<const Choice<CostSource>>(sources)),
                   value.has("error") ? read_number(value, "error") : 0};
}

void read_values(const MappingReader& file, CostParameters& costs) {
  for (const CostDefinition& definition : cost_definitions()) {
    if (const auto value = read_value(file, definition)) {
      costs.set(definition.item, *value);
    }
  }
}

std::vector<std::string> read_texts(const CostsFile& file, const MappingReader& reader,
                                    const std::string& key) {
  std::vector<std::string> texts;
  for (const LocatedNode& item : reader.items(key)) {
    const YamlNode& node = file.tree.node(item.id);
    if (!node.is_scalar()) {
      refuse_at(file.tree, node.position, item.path, "expected a text, got " + found_text(node));
    }
    texts.push_back(node.text);
  }
  return texts;
}

/// What the set was fitted to.
CalibrationRecord read_record(const CostsFile& file, const MappingReader& reader) {
  constexpr IntegerRange counts{1, 1U << 30U};
  constexpr Bytes largest(std::int64_t{1} << 50U);
  CalibrationRecord record;
  record.machines = read_texts(file, reader, "machines");
  record.nccl = read_texts(file, reader, "nccl");
  for (const std::string& name : read_texts(file, reader, "collectives")) {
    const std::optional<CollectiveKind> kind = parse_collective(name);
    if (!kind) {
      reader.refuse("collectives", "unknown collective " + in_quotes(name),
                    did_you_mean(name, collective_names()));
    }
    record.collectives.push_back(*kind);
  }
  const MappingReader bytes = reader.mapping("bytes", {"least", "most"});
  record.least_bytes = bytes.bytes("least", largest);
  record.most_bytes = bytes.bytes("most", largest);
  const MappingReader ranks = reader.mapping("ranks", {"least", "most"});
  record.least_ranks = ranks.integer("least", counts);
  record.most_ranks = ranks.integer("most", counts);
  record.most_nodes = reader.integer("nodes", counts);
  record.points = reader.integer("points", counts);
  record.median_error = read_number(reader, "median_error");
  record.p90_error = read_number(reader, "p90_error");
  return record;
}

constexpr std::array tiers{Choice<ParameterTier>{"fitted", ParameterTier::Fitted},
                           Choice<ParameterTier>{"generation", ParameterTier::Generation},
                           Choice<ParameterTier>{"nominal", ParameterTier::Nominal}};

/// `refused`: begins names of sets of another kind.
std::string find_base(const ConfigPath& path, const MappingReader& reader,
                      const std::string& file_name, std::string_view refused) {
  const std::string base = reader.text("base");
  try {
    const std::filesystem::path here = std::filesystem::path(file_name).parent_path();
    return find_config(path, folder, base, here.string(), refused);
  } catch (const InputError& error) {
    reader.refuse("base", error.message(), error.hint());
  }
}

CostParameters load(const ConfigPath& path, const std::string& file_name, int depth) {
  CostsFile file = parse(file_name);
  const MappingReader reader = file.reader();
  CostParameters costs;
  if (reader.has("base")) {
    if (depth == most_bases) {
      reader.refuse("base", "bases go round in a circle");
    }
    costs = load(path, find_base(path, reader, file_name, not_ours), depth + 1);
    // A file that changes something vouches for itself.
    costs.tier.reset();
    costs.records.clear();
  }
  costs.description = reader.text("description");
  if (reader.has("tier")) {
    costs.tier = reader.choice("tier", std::span<const Choice<ParameterTier>>(tiers));
  }
  if (reader.has("calibrated")) {
    costs.records = {read_record(
        file, reader.mapping("calibrated", {"machines", "nccl", "collectives", "bytes", "ranks",
                                            "nodes", "points", "median_error", "p90_error"}))};
    costs.records.front().set = stem_of(file_name);
  }
  read_values(reader, costs);
  return costs;
}

void read_network(const MappingReader& file, NetworkCosts& network) {
  for (const CostDefinition& definition : cost_definitions()) {
    const auto value = read_value(file, definition);
    if (!value) {
      continue;
    }
    if (!is_of_network(definition.item)) {
      file.mapping(std::string(definition.group), keys_of(definition.group))
          .refuse_key(std::string(definition.key), "is not of the network",
                      "parameters of the GPUs have it");
    }
    std::erase_if(network.items,
                  [&](const NetworkCosts::Item& item) { return item.item == definition.item; });
    network.items.push_back({definition.item, *value});
  }
}

NetworkCosts load_network(const ConfigPath& path, const std::string& file_name, int depth) {
  CostsFile file = parse(file_name);
  const MappingReader reader = file.reader();
  NetworkCosts network;
  if (reader.has("base")) {
    if (depth == most_bases) {
      reader.refuse("base", "bases go round in a circle");
    }
    network = load_network(path, find_base(path, reader, file_name, not_ours), depth + 1);
  }
  network.description = reader.text("description");
  read_network(reader, network);
  return network;
}

}  // namespace

std::vector<ListedCosts> list_costs(const ConfigPath& path) {
  std::vector<ListedCosts> listed;
  for (const auto& [name, file_name] : config_files(path, folder)) {
    if (!name.starts_with(not_ours)) {
      CostsFile file = parse(file_name);
      listed.push_back({name, file.reader().text("description"), file_name});
    }
  }
  return listed;
}

CostParameters find_costs(const ConfigPath& path, const std::string& name_or_path) {
  if (name_or_path.starts_with(not_ours)) {
    throw InputError(in_quotes(name_or_path) +
                         " are the constants that NCCL chooses with, not what its kernels cost",
                     {}, "choose them by --nccl");
  }
  if (name_or_path.starts_with(of_network)) {
    throw InputError(in_quotes(name_or_path) + " are costs of a network, not of GPUs", {},
                     "choose them by --network-parameters, or fabric.parameters of the cluster");
  }
  const std::string file = find_config(path, folder, name_or_path, {}, not_ours);
  CostParameters costs = load(path, file, 0);
  costs.name = stem_of(file);
  return costs;
}

NetworkCosts find_network_costs(const ConfigPath& path, const std::string& name_or_path) {
  const std::string file = find_config(path, folder, name_or_path, {}, not_ours);
  NetworkCosts network = load_network(path, file, 0);
  network.name = stem_of(file);
  return network;
}

}  // namespace collsim
