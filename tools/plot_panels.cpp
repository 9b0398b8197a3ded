#include "tools/plot_panels.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "tools/svg.hpp"

namespace collsim {

namespace {

constexpr std::size_t most_columns = 4;
// The first colour of the sheet is the least lively one.
constexpr std::size_t colours = Svg::series_colours - 1;

using Group = std::vector<Panel>;

auto ranks_of(const Panel& panel) {
  return std::tuple(panel.table().run->ranks, panel.table().nodes);
}

void add_run(Group& group, const ValidatedRun& run) {
  const auto same = [&run](const Panel& panel) {
    return ranks_of(panel) == std::tuple(run.table->run->ranks, run.table->nodes);
  };
  const auto panel = std::ranges::find_if(group, same);
  if (panel == group.end()) {
    group.push_back({{&run}});
  } else {
    panel->runs.push_back(&run);
  }
}

/// By machine, then by collective, in the order of the runs.
std::vector<std::vector<Group>> groups_of(const std::vector<ValidatedRun>& runs) {
  std::vector<std::vector<Group>> machines;
  for (const ValidatedRun& run : runs) {
    const auto machine = std::ranges::find_if(machines, [&run](const std::vector<Group>& groups) {
      return groups.front().front().table().machine == run.table->machine;
    });
    if (machine == machines.end()) {
      machines.push_back({{{{&run}}}});
      continue;
    }
    const auto group = std::ranges::find_if(*machine, [&run](const Group& one) {
      return one.front().table().run->collective == run.table->run->collective;
    });
    if (group == machine->end()) {
      machine->push_back({{{&run}}});
    } else {
      add_run(*group, run);
    }
  }
  return machines;
}

/// All in one where none has two panels.
std::vector<Group> joined(std::vector<Group> groups) {
  if (std::ranges::any_of(groups, [](const Group& group) { return group.size() > 1; })) {
    return groups;
  }
  Group all;
  for (Group& group : groups) {
    std::ranges::move(group, std::back_inserter(all));
  }
  return {std::move(all)};
}

}  // namespace

std::vector<PanelRow> panel_rows(const std::vector<ValidatedRun>& runs) {
  std::vector<PanelRow> rows;
  for (std::vector<Group>& groups : groups_of(runs)) {
    bool opens = true;
    for (Group& group : groups) {
      std::ranges::stable_sort(group, {}, ranks_of);
    }
    for (const Group& group : joined(std::move(groups))) {
      for (std::size_t first = 0; first < group.size(); first += most_columns) {
        const std::size_t last = std::min(first + most_columns, group.size());
        PanelRow& row = rows.emplace_back();
        row.opens_machine = opens;
        opens = false;
        for (std::size_t i = first; i < last; ++i) {
          row.panels.push_back(group[i]);
        }
      }
    }
  }
  return rows;
}

PlotSeries::PlotSeries(const std::vector<ValidatedRun>& runs, const std::vector<PanelRow>& rows) {
  for (const PanelRow& row : rows) {
    for (const Panel& panel : row.panels) {
      std::set<DataType> types;
      for (const ValidatedRun* const run : panel.runs) {
        types_alone_ = types.insert(run->table->run->type).second && types_alone_;
      }
    }
  }
  for (const ValidatedRun& run : runs) {
    if (std::ranges::find(names_, name(run)) == names_.end()) {
      names_.push_back(name(run));
    }
  }
}

std::vector<std::string> PlotSeries::legend() const {
  std::vector<std::string> shown = names_;
  if (shown.size() > colours) {
    shown.resize(colours);
    shown.back() = std::to_string(names_.size() - colours + 1) + " others";
  }
  return shown;
}

std::string PlotSeries::colour(const ValidatedRun& run) const {
  const auto found = std::ranges::find(names_, name(run));
  return colour(static_cast<std::size_t>(found - names_.begin()));
}

std::string PlotSeries::colour(std::size_t index) {
  return series_class(std::min(index + 1, colours));
}

std::string PlotSeries::name(const ValidatedRun& run) const {
  std::string text(name_of(run.table->run->type));
  if (types_alone_) {
    return text;
  }
  const std::string variables = variables_text(*run.table->run);
  return text + ", NCCL " + run.table->nccl + ", " + std::string(name_of(run.table->launch.mode)) +
         (variables.empty() ? "" : ", " + variables);
}

}  // namespace collsim
