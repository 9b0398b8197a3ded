#include "study/io/read_experiment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "study/io/experiment_text.hpp"
#include "study/io/read_axes.hpp"
#include "study/io/read_plot.hpp"
#include "study/job_keys.hpp"
#include "study/point_metrics.hpp"
#include "topology/error.hpp"
#include "topology/io/config_files.hpp"
#include "topology/io/yaml_reader.hpp"
#include "topology/io/yaml_tree.hpp"

namespace collsim {

namespace {

constexpr std::string_view folder = "experiments";

class ExperimentReader {
 public:
  ExperimentReader(const YamlTree& tree, YamlId root)
      : tree_(&tree),
        root_{root, {}},
        reader_(ReadContext{tree, values_}, root_,
                {"name", "description", "base", "axes", "constraints", "cost", "derived", "metrics",
                 "plot"}) {
    for (const MetricDefinition& metric : metric_definitions()) {
      names_.reserve(metric.name, "a metric");
      metrics_.push_back(metric.name);
    }
  }

  LoadedExperiment read() {
    experiment_.name = reader_.text("name");
    experiment_.description = reader_.text("description", Default<std::string>{""});
    GridReader grid(*tree_, experiment_);
    if (const auto base = reader_.find("base")) {
      base_places_ = grid.read_base(*base);
    }
    const std::optional<LocatedNode> axes = reader_.find("axes");
    if (!axes) {
      reader_.refuse_missing("axes", "axes: { nodes: [1, 2, 4] }");
    }
    grid.read_axes(*axes, names_);
    grid.require_complete(root_);
    for (const Assignment& one : experiment_.base) {
      names_.reserve(one.key, "a key of base");
    }
    known_ = names_of_grid(experiment_);
    for (const LocatedNode& constraint : reader_.items("constraints")) {
      experiment_.constraints.push_back(
          formula(*tree_, constraint, known_, Expression::Gives::Truth));
    }
    read_costs();
    read_derived();
    read_metrics();
    if (const auto plot = reader_.find("plot")) {
      experiment_.plot = read_plot(ReadContext{*tree_, values_}, *plot, experiment_, metrics_);
    }
    std::vector<SweepPoint> points = expanded();
    if (experiment_.plot) {
      require_apart(*tree_, *reader_.find("plot"), experiment_, points);
    }
    return {std::move(experiment_), std::move(points), std::move(base_places_), {}};
  }

 private:
  std::vector<SweepPoint> expanded() {
    std::vector<SweepPoint> points;
    try {
      points = expand(experiment_);
    } catch (const UndecidedConstraint& error) {
      const LocatedNode place = reader_.items("constraints")[error.constraint()];
      refuse_at(*tree_, tree_->node(place.id).position, place.path, error.message(), error.hint());
    }
    if (points.empty()) {
      std::size_t all = 1;
      for (const Axis& axis : experiment_.axes) {
        all *= axis.values.size();
      }
      reader_.refuse("constraints",
                     "leave none of the axes' " + std::to_string(all) + " combinations");
    }
    return points;
  }

  void read_costs() {
    const std::optional<LocatedNode> cost = reader_.find("cost");
    if (!cost) {
      return;
    }
    std::vector<std::string> kinds;
    for (const PartKind& kind : part_kinds()) {
      kinds.emplace_back(kind.name);
    }
    for (const LocatedEntry& entry : entries_of(*tree_, *cost)) {
      names_.add(*tree_, entry, "a cost");
      metrics_.push_back(entry.key);
      CostTotal total;
      total.name = entry.key;
      const MappingReader parts(ReadContext{*tree_, values_}, entry.value, kinds);
      for (const PartKind& kind : part_kinds()) {
        if (const auto amount = parts.find(kind.name)) {
          total.amounts.push_back({std::string(kind.metric),
                                   formula(*tree_, *amount, known_, Expression::Gives::Number)});
        }
      }
      experiment_.costs.push_back(std::move(total));
    }
  }

  void read_derived() {
    const std::optional<LocatedNode> derived = reader_.find("derived");
    if (!derived) {
      return;
    }
    KnownNames known = known_;
    const auto add = [&known](const std::string& metric) {
      known.emplace(metric, NameKind{true, false});
    };
    std::ranges::for_each(metrics_, add);
    for (const LocatedEntry& entry : entries_of(*tree_, *derived)) {
      names_.add(*tree_, entry, "a derived metric");
      experiment_.derived.push_back(
          {entry.key, formula(*tree_, entry.value, known, Expression::Gives::Number)});
      metrics_.push_back(entry.key);
      add(entry.key);
    }
  }

  /// Those that are named; else the usual ones and all that the experiment adds.
  void read_metrics() {
    if (!reader_.has("metrics")) {
      experiment_.metrics = usual_metrics();
      for (const CostTotal& total : experiment_.costs) {
        experiment_.metrics.push_back(total.name);
      }
      for (const DerivedMetric& metric : experiment_.derived) {
        experiment_.metrics.push_back(metric.name);
      }
      return;
    }
    for (const LocatedNode& item : reader_.items("metrics")) {
      const std::string name = single_value(*tree_, item);
      require_known(*tree_, item, "metric", name, metrics_);
      if (std::ranges::find(experiment_.metrics, name) != experiment_.metrics.end()) {
        refuse_at(*tree_, tree_->node(item.id).position, item.path,
                  in_quotes(name) + " is given twice", "a column for each metric");
      }
      experiment_.metrics.push_back(name);
    }
  }

  const YamlTree* tree_;
  LocatedNode root_;
  std::vector<Provenance> values_;
  MappingReader reader_;
  Experiment experiment_;
  std::map<std::string, SourceLocation> base_places_;
  NameRegister names_;
  KnownNames known_;
  std::vector<std::string> metrics_;  ///< names of all
};

}  // namespace

LoadedExperiment parse_experiment(std::string_view text, const std::string& file_name) {
  YamlTree tree;
  const std::uint32_t source = tree.sources().add_file(file_name, text);
  const YamlId root = parse_yaml(tree, source);
  LoadedExperiment loaded = ExperimentReader(tree, root).read();
  loaded.file = file_name;
  return loaded;
}

LoadedExperiment load_experiment(const std::string& name_or_path, const ConfigPath& path) {
  const std::string file = find_config(path, folder, name_or_path, {});
  return parse_experiment(read_file(file), file);
}

std::vector<ConfigEntry> list_experiments(const ConfigPath& path) {
  std::vector<ConfigEntry> entries;
  for (const auto& [name, file] : config_files(path, folder)) {
    std::string description;
    try {
      description = load_experiment(file, path).experiment.description;
    } catch (const InputError& error) {
      description = "unreadable: " + error.message();
    }
    entries.push_back({name, description, file});
  }
  return entries;
}

}  // namespace collsim
