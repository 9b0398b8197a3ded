#pragma once

// Which curves of a validation stand in which panel of its picture, and in which colour.

#include <cstddef>
#include <string>
#include <vector>

#include "tools/render_validation.hpp"

namespace collsim {

/// The runs of one machine, collective and number of ranks.
struct Panel {
  std::vector<const ValidatedRun*> runs;
  [[nodiscard]] const MeasuredTable& table() const { return *runs.front()->table; }
};

/// Panels that stand side by side.
struct PanelRow {
  std::vector<Panel> panels;
  bool opens_machine = false;
};

/// A row for each machine and collective, with a panel for each number of ranks; several where they are too many. The
/// collectives of a machine that was measured on one number of ranks stand side by side themselves.
/// `runs` outlive them.
[[nodiscard]] std::vector<PanelRow> panel_rows(const std::vector<ValidatedRun>& runs);

/// Colours by what tells apart the curves of a panel: the data type; where types alone do not, what NCCL and how it
/// was launched, too.
class PlotSeries {
 public:
  PlotSeries(const std::vector<ValidatedRun>& runs, const std::vector<PanelRow>& rows);

  /// As many names as there are colours; the last one stands for all that are too many.
  [[nodiscard]] std::vector<std::string> legend() const;
  /// The class of a run's curve.
  [[nodiscard]] std::string colour(const ValidatedRun& run) const;
  /// The class of a name of the legend.
  [[nodiscard]] static std::string colour(std::size_t index);

 private:
  [[nodiscard]] std::string name(const ValidatedRun& run) const;

  bool types_alone_ = true;
  std::vector<std::string> names_;
};

}  // namespace collsim
