#include "study/experiment.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ratio>
#include <system_error>

#include "topology/digest.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

/// What names stand for at a point.
class PointNames {
 public:
  PointNames(const Experiment& experiment, const SweepPoint& point)
      : experiment_(&experiment), point_(&point) {}

  [[nodiscard]] std::optional<NamedValue> find(const std::string& name) const {
    for (std::size_t axis = 0; axis < experiment_->axes.size(); ++axis) {
      if (experiment_->axes[axis].name == name) {
        const AxisValue& value = value_at(*experiment_, *point_, axis);
        return NamedValue{value.number, value.label};
      }
    }
    for (const Assignment& one : experiment_->base) {
      if (one.key == name) {
        return NamedValue{number_of(one.value), one.value};
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] NamedValue at(const std::string& name) const {
    std::optional<NamedValue> value = find(name);
    COLLSIM_ENSURE(value.has_value(), "formulas use names that are known");
    return *std::move(value);
  }

 private:
  const Experiment* experiment_;
  const SweepPoint* point_;
};

bool is_allowed(const Experiment& experiment, const SweepPoint& point) {
  const PointNames names(experiment, point);
  const auto lookup = [&](const std::string& name) { return names.at(name); };
  for (std::size_t i = 0; i < experiment.constraints.size(); ++i) {
    const std::optional<double> holds = experiment.constraints[i].evaluate(lookup);
    if (!holds) {
      throw UndecidedConstraint(i, point_text(experiment, point));
    }
    if (*holds == 0) {
      return false;
    }
  }
  return true;
}

/// The next point in the order of the grid; false behind the last one.
bool advance(const Experiment& experiment, SweepPoint& point) {
  for (std::size_t axis = point.values.size(); axis-- > 0;) {
    if (++point.values[axis] < experiment.axes[axis].values.size()) {
      return true;
    }
    point.values[axis] = 0;
  }
  return false;
}

std::optional<double> value_of(const std::vector<MetricValue>& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &MetricValue::name);
  COLLSIM_ENSURE(found != metrics.end(), "formulas use metrics that are known");
  return found->value;
}

}  // namespace

UndecidedConstraint::UndecidedConstraint(std::size_t constraint, const std::string& point)
    : InputError("has no value at " + point + ": it divides by zero, or a number becomes too large",
                 {},
                 "a constraint above that leaves the point out, or a guard: nodes == 1 or bytes / "
                 "(nodes - 1) "
                 "> 4KiB"),
      constraint_(constraint) {}

bool Axis::is_numeric() const {
  return std::ranges::all_of(values,
                             [](const AxisValue& value) { return value.number.has_value(); });
}

std::vector<SweepPoint> expand(const Experiment& experiment) {
  std::vector<SweepPoint> points;
  SweepPoint point;
  point.values.resize(experiment.axes.size());
  do {
    if (is_allowed(experiment, point)) {
      points.push_back(point);
    }
  } while (advance(experiment, point));
  return points;
}

const AxisValue& value_at(const Experiment& experiment, const SweepPoint& point, std::size_t axis) {
  return experiment.axes[axis].values[point.values[axis]];
}

std::vector<Assignment> assignments_at(const Experiment& experiment, const SweepPoint& point) {
  std::vector<Assignment> all = experiment.base;
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
    const AxisValue& value = value_at(experiment, point, axis);
    all.insert(all.end(), value.assignments.begin(), value.assignments.end());
  }
  return all;
}

std::string point_text(const Experiment& experiment, const SweepPoint& point) {
  std::string text;
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + experiment.axes[axis].name + "=" +
            value_at(experiment, point, axis).label;
  }
  return text;
}

std::string digest_of(const Experiment& experiment, const std::vector<SweepPoint>& points,
                      std::string_view version) {
  Digest digest;
  digest.add(version);
  for (const SweepPoint& point : points) {
    digest.add(point_text(experiment, point));
    for (const Assignment& one : assignments_at(experiment, point)) {
      digest.add(one.key);
      digest.add(one.value);
    }
  }
  return digest.hex();
}

KnownNames names_of_grid(const Experiment& experiment) {
  KnownNames names;
  for (const Assignment& one : experiment.base) {
    const bool is_word = one.key.find('.') == std::string::npos;
    if (is_word) {
      names.insert_or_assign(one.key, NameKind{number_of(one.value).has_value(), true});
    }
  }
  for (const Axis& axis : experiment.axes) {
    names.insert_or_assign(axis.name, NameKind{axis.is_numeric(), true});
  }
  return names;
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && stop == text.data() + text.size() && std::isfinite(value)) {
    return value;
  }
  const auto tried = [&](auto parse) -> std::optional<double> {
    try {
      return parse(text);
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
  if (const auto bytes = tried([](const std::string& size) {
        return static_cast<double>(parse_size_argument(size).count());
      })) {
    return bytes;
  }
  if (const auto rate = tried([](const std::string& bandwidth) {
        return parse_bandwidth(bandwidth).as_bytes_per_second() / std::giga::num;
      })) {
    return rate;
  }
  return tried([](const std::string& duration) {
    return static_cast<double>(parse_duration(duration).count()) / std::micro::den;
  });
}

std::vector<MetricValue> all_metrics(const Experiment& experiment, const SweepPoint& point,
                                     std::vector<MetricValue> simulated) {
  std::vector<MetricValue> all = std::move(simulated);
  const PointNames names(experiment, point);
  const auto lookup = [&](const std::string& name) {
    if (std::optional<NamedValue> value = names.find(name)) {
      return *std::move(value);
    }
    return NamedValue{value_of(all, name), {}};
  };
  for (const CostTotal& total : experiment.costs) {
    std::optional<double> sum = 0;
    for (const CostTotal::Amount& amount : total.amounts) {
      const std::optional<double> each = amount.each.evaluate(lookup);
      const std::optional<double> count = value_of(all, amount.count);
      sum = sum && each && count ? std::optional(*sum + *each * *count) : std::nullopt;
    }
    all.push_back({total.name, sum});
  }
  for (const DerivedMetric& metric : experiment.derived) {
    all.push_back({metric.name, metric.value.evaluate(lookup)});
  }
  return all;
}

}  // namespace collsim
