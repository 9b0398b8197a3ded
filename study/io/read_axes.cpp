#include "study/io/read_axes.hpp"

#include <algorithm>
#include <optional>

#include "study/io/read_range.hpp"
#include "study/job_keys.hpp"
#include "topology/error.hpp"
#include "topology/io/config_files.hpp"
#include "topology/io/load.hpp"

namespace collsim {

namespace {

/// A file stands where the experiment says, relative to the experiment's own.
std::string file_beside(const YamlTree& tree, Position position, const std::string& value) {
  const bool is_path =
      value.find('/') != std::string::npos || value.ends_with(".yaml") || value.ends_with(".xml");
  const std::string folder = folder_of(tree, position);
  return !is_path || value.starts_with('/') || folder.empty() ? value : folder + "/" + value;
}

std::vector<std::string> accepted_keys(const std::vector<std::string>& others) {
  std::vector<std::string> keys = others;
  keys.insert(keys.end(), job_keys().begin(), job_keys().end());
  keys.insert(keys.end(), {"set", "env"});
  return keys;
}

}  // namespace

Assignment GridReader::assignment(const std::string& key, const LocatedNode& value) const {
  const std::string text = single_value(*tree_, value);
  const Position position = tree_->node(value.id).position;
  try {
    check_job_value(key, text);
    if (key.starts_with(setting_prefix)) {
      static_cast<void>(parse_setting(key.substr(setting_prefix.size()) + "=" + text));
    }
  } catch (const InputError& error) {
    refuse_at(*tree_, position, value.path, error.message(), error.hint());
  }
  return {key, names_file(key) ? file_beside(*tree_, position, text) : text};
}

std::vector<Assignment> GridReader::assignments(
    const LocatedNode& located, const std::vector<std::string>& skipped,
    std::map<std::string, SourceLocation>* places) const {
  std::vector<Assignment> all;
  const auto add = [&](const std::string& key, const LocatedNode& value) {
    all.push_back(assignment(key, value));
    if (places != nullptr) {
      places->emplace(key, tree_->sources().location(tree_->node(value.id).position));
    }
  };
  for (const LocatedEntry& entry : entries_of(*tree_, located)) {
    if (entry.key == "set" || entry.key == "env") {
      for (const LocatedEntry& inner : entries_of(*tree_, entry.value)) {
        add(entry.key + "." + inner.key, inner.value);
      }
      continue;
    }
    if (std::ranges::find(skipped, entry.key) != skipped.end()) {
      continue;
    }
    if (!is_job_key(entry.key)) {
      const std::vector<std::string> accepted = accepted_keys(skipped);
      const std::string close = did_you_mean(entry.key.substr(0, 64), accepted);
      refuse_at(*tree_, entry.position, entry.value.path,
                "unknown key" + (close.empty() ? close : ", " + close),
                "accepted: " + one_of(accepted));
    }
    add(entry.key, entry.value);
  }
  return all;
}

std::map<std::string, SourceLocation> GridReader::read_base(const LocatedNode& located) {
  std::map<std::string, SourceLocation> places;
  experiment_->base = assignments(located, {}, &places);
  for (const Assignment& one : experiment_->base) {
    if (!owners_.emplace(one.key, "base").second) {
      refuse_at(*tree_, tree_->node(located.id).position, located.path,
                in_quotes(one.key) + " has two values", "give it once");
    }
  }
  return places;
}

AxisValue GridReader::bundle(const LocatedNode& located) const {
  const std::vector<std::string> own{"label", "number"};
  const YamlNode& node = tree_->node(located.id);
  AxisValue value;
  value.assignments = assignments(located, own);
  const std::optional<YamlId> label = tree_->find(located.id, "label");
  if (!label) {
    refuse_at(*tree_, node.position, located.path, "missing key \"label\"",
              "what the value is called in tables and plots");
  }
  value.label = single_value(*tree_, {*label, located.path + ".label"});
  if (const std::optional<YamlId> number = tree_->find(located.id, "number")) {
    const LocatedNode place{*number, located.path + ".number"};
    value.number = number_of(single_value(*tree_, place));
    if (!value.number) {
      refuse_at(*tree_, tree_->node(*number).position, place.path,
                "expected a number, got " + found_text(tree_->node(*number)),
                "also a size, a bandwidth or a duration");
    }
  } else {
    value.number = number_of(value.label);
  }
  return value;
}

AxisValue GridReader::axis_value(const LocatedNode& located, const std::string& key) const {
  if (tree_->node(located.id).kind == YamlNode::Kind::Mapping) {
    return bundle(located);
  }
  const std::string text = single_value(*tree_, located);
  if (!is_job_key(key)) {
    refuse_at(*tree_, tree_->node(located.id).position, located.path,
              "which key of the job has the value " + in_quotes(text) + "?",
              "vary: set.PATH, env.NAME or one of the job's keys (" + one_of(job_keys()) +
                  "), or values that are mappings");
  }
  return {text, number_of(text), {assignment(key, located)}};
}

std::vector<AxisValue> GridReader::range(const MappingReader& reader, const LocatedNode& located,
                                         const std::string& key) const {
  if (!is_job_key(key)) {
    refuse_at(*tree_, tree_->node(located.id).position, located.path,
              "which key of the job has these values?",
              "vary: set.PATH, env.NAME or one of the job's keys (" + one_of(job_keys()) + ")");
  }
  std::vector<AxisValue> values;
  for (const std::string& text :
       read_range(*tree_, reader, key == "bytes" ? RangeOf::Sizes : RangeOf::Numbers)) {
    try {
      check_job_value(key, text);
    } catch (const InputError& error) {
      reader.refuse("from", error.message(), error.hint());
    }
    values.push_back({text, number_of(text), {{key, text}}});
  }
  return values;
}

std::vector<LocatedNode> GridReader::listed_values(const LocatedNode& located) const {
  const YamlNode& node = tree_->node(located.id);
  if (node.kind != YamlNode::Kind::Sequence || node.items.empty() ||
      node.items.size() > most_values) {
    refuse_at(
        *tree_, node.position, located.path,
        "expected a list of 1 to " + std::to_string(most_values) + " values, got " +
            (node.kind == YamlNode::Kind::Sequence ? std::to_string(node.items.size()) + " of them"
                                                   : found_text(node)));
  }
  std::vector<LocatedNode> values;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    values.push_back({node.items[i], located.path + "[" + std::to_string(i) + "]"});
  }
  return values;
}

void GridReader::claim(const std::set<std::string>& keys, const LocatedEntry& axis) {
  for (const std::string& key : keys) {
    const auto [owner, is_new] = owners_.emplace(key, "the axis " + axis.key);
    if (!is_new) {
      refuse_at(*tree_, axis.position, axis.value.path,
                in_quotes(key) + " has a value from " + owner->second + " already",
                "leave it out here or there");
    }
  }
}

void GridReader::read_axis(const LocatedEntry& entry) {
  Axis axis;
  axis.name = entry.key;
  std::vector<LocatedNode> places;
  std::string key = entry.key;
  if (tree_->node(entry.value.id).kind != YamlNode::Kind::Mapping) {
    places = listed_values(entry.value);
  } else {
    std::vector<Provenance> unused;
    const MappingReader reader(ReadContext{*tree_, unused}, entry.value,
                               {"vary", "values", "from", "to", "factor", "step"});
    if (const std::optional<LocatedNode> vary = reader.find("vary")) {
      key = single_value(*tree_, *vary);
      if (!is_job_key(key)) {
        std::vector<std::string> accepted = job_keys();
        accepted.insert(accepted.end(), {"set.PATH", "env.NAME"});
        require_known(*tree_, *vary, "key of the job", key, accepted);
      }
    }
    if (reader.has("values")) {
      for (const char* const other : {"from", "to", "factor", "step"}) {
        if (reader.has(other)) {
          reader.refuse_key(other, "has no place beside values",
                            "values: [ … ], or from, to and factor or step");
        }
      }
      places = listed_values(*reader.find("values"));
    } else {
      axis.values = range(reader, entry.value, key);
    }
  }
  for (const LocatedNode& place : places) {
    AxisValue value = axis_value(place, key);
    if (std::ranges::find(axis.values, value.label, &AxisValue::label) != axis.values.end()) {
      refuse_at(*tree_, tree_->node(place.id).position, place.path,
                in_quotes(value.label) + " is given twice", "values of an axis differ");
    }
    axis.values.push_back(std::move(value));
  }
  std::set<std::string> keys;
  for (const AxisValue& value : axis.values) {
    std::set<std::string> of_value;
    for (const Assignment& one : value.assignments) {
      if (!of_value.insert(one.key).second) {
        refuse_at(*tree_, entry.position, entry.value.path,
                  in_quotes(one.key) + " has two values in " + in_quotes(value.label),
                  "give it once");
      }
    }
    keys.merge(of_value);
  }
  claim(keys, entry);
  experiment_->axes.push_back(std::move(axis));
}

void GridReader::read_axes(const LocatedNode& located, NameRegister& names) {
  std::size_t combinations = 1;
  for (const LocatedEntry& entry : entries_of(*tree_, located)) {
    names.add(*tree_, entry, "an axis");
    read_axis(entry);
    combinations *= experiment_->axes.back().values.size();
    if (combinations > most_points) {
      refuse_at(*tree_, entry.position, entry.value.path,
                "up to this one the axes have " + std::to_string(combinations) +
                    " combinations, more than " + std::to_string(most_points),
                "fewer values, or several experiments");
    }
  }
  if (experiment_->axes.empty()) {
    refuse_at(*tree_, tree_->node(located.id).position, located.path, "there is no axis",
              "axes: { nodes: [1, 2, 4] }");
  }
}

void GridReader::require_complete(const LocatedNode& root) const {
  for (const char* const key : {"cluster", "collective", "bytes"}) {
    const auto gives = [key](const std::vector<Assignment>& assignments) {
      return std::ranges::find(assignments, key, &Assignment::key) != assignments.end();
    };
    const bool given =
        gives(experiment_->base) || std::ranges::any_of(experiment_->axes, [&](const Axis& axis) {
          return std::ranges::all_of(
              axis.values, [&](const AxisValue& value) { return gives(value.assignments); });
        });
    if (!given) {
      refuse_at(*tree_, tree_->node(root.id).position, root.path, "no value for " + in_quotes(key),
                "in base, or in each value of an axis");
    }
  }
}

}  // namespace collsim
