#pragma once

// An experiment: a grid of jobs. Axes are combined with each other in full, the first one slowest; constraints
// leave points out. A value of an axis gives one or several values to keys of the job, and what all points share
// stands in `base`. What comes out of a point are metrics: of the simulation, of what the machine costs, and
// formulas over these.
//
// Ignored: searching. Every point that the constraints allow is simulated.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "study/expression.hpp"
#include "topology/error.hpp"

namespace collsim {

/// A key of the job (job_keys.hpp) and its value, as text.
struct Assignment {
  std::string key;
  std::string value;
};

struct AxisValue {
  std::string label;             ///< how it is shown, and what conditions compare with
  std::optional<double> number;  ///< bytes of a size, GB/s of a bandwidth, us of a duration
  std::vector<Assignment> assignments;
};

struct Axis {
  std::string name;
  std::vector<AxisValue> values;

  /// Whether each of its values has a number.
  [[nodiscard]] bool is_numeric() const;
};

/// A metric that is a formula over others, axes and `base`.
struct DerivedMetric {
  std::string name;
  Expression value;
};

/// What a machine costs in one respect: an amount for each part of a kind, of those that the cluster has.
struct CostTotal {
  std::string name;  ///< "price_USD"
  struct Amount {
    std::string count;  ///< the metric that says how many there are: "cluster_nics"
    Expression each;    ///< over axes and `base`
  };
  std::vector<Amount> amounts;
};

enum class PlotKind : std::uint8_t { Lines, HeatMap, Pareto };
enum class PlotScale : std::uint8_t { Linear, Logarithmic };
enum class Better : std::uint8_t { Lower, Higher };

/// Names of axes and metrics: which of them stands where.
struct PlotSpec {
  PlotKind kind = PlotKind::Lines;
  std::string title;
  std::string x;
  std::string y;
  std::string value;                ///< of a heat map: the metric that colours stand for
  std::vector<std::string> series;  ///< axes; a colour for each of their combinations
  std::string panels;               ///< an axis; empty: one panel
  PlotScale x_scale = PlotScale::Linear;
  PlotScale y_scale = PlotScale::Linear;
  Better x_better = Better::Lower;   ///< of a Pareto front
  Better y_better = Better::Higher;  ///< of a Pareto front
};

struct Experiment {
  std::string name;
  std::string description;
  std::vector<Assignment> base;
  std::vector<Axis> axes;
  std::vector<Expression> constraints;
  std::vector<CostTotal> costs;
  std::vector<DerivedMetric> derived;
  std::vector<std::string> metrics;  ///< those that are shown
  std::optional<PlotSpec> plot;
};

/// Which value each axis has, by its number.
struct SweepPoint {
  std::vector<std::uint32_t> values;
};

/// The most points that axes may have before constraints.
inline constexpr std::size_t most_points = 1'000'000;

/// A constraint that neither holds nor fails at a point, since it divides by zero there.
class UndecidedConstraint : public InputError {
 public:
  UndecidedConstraint(std::size_t constraint, const std::string& point);
  [[nodiscard]] std::size_t constraint() const { return constraint_; }

 private:
  std::size_t constraint_;
};

/// What the axes' combinations are, of those that the constraints allow; each is asked where those before it hold.
/// Requires: at most `most_points`. Throws: UndecidedConstraint.
[[nodiscard]] std::vector<SweepPoint> expand(const Experiment& experiment);

/// The value that an axis has at a point.
[[nodiscard]] const AxisValue& value_at(const Experiment& experiment, const SweepPoint& point,
                                        std::size_t axis);
/// What the job's keys are at a point: those of `base`, then the axes'.
[[nodiscard]] std::vector<Assignment> assignments_at(const Experiment& experiment,
                                                     const SweepPoint& point);
/// "algorithm=ring, nodes=4".
[[nodiscard]] std::string point_text(const Experiment& experiment, const SweepPoint& point);
/// Covers every point's labels and keys in their order, and the version: what is simulated, not what is made of it.
[[nodiscard]] std::string digest_of(const Experiment& experiment,
                                    const std::vector<SweepPoint>& points,
                                    std::string_view version);

/// What a formula may use: axes, and keys of `base`.
[[nodiscard]] KnownNames names_of_grid(const Experiment& experiment);
/// The number of a text where it has one: itself, or that of a size, bandwidth or duration.
[[nodiscard]] std::optional<double> number_of(const std::string& text);

/// A name and what it is at a point.
struct MetricValue {
  std::string name;
  std::optional<double> value;
};
/// All metrics at a point, given those of the simulation (point_metrics.hpp): these, then totals of cost, then
/// derived ones.
[[nodiscard]] std::vector<MetricValue> all_metrics(const Experiment& experiment,
                                                   const SweepPoint& point,
                                                   std::vector<MetricValue> simulated);

}  // namespace collsim
