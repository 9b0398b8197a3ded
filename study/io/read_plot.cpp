#include "study/io/read_plot.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::array kinds{Choice<PlotKind>{"lines", PlotKind::Lines},
                           Choice<PlotKind>{"heat-map", PlotKind::HeatMap},
                           Choice<PlotKind>{"pareto", PlotKind::Pareto}};
constexpr std::array scales{Choice<PlotScale>{"linear", PlotScale::Linear},
                            Choice<PlotScale>{"log", PlotScale::Logarithmic}};
constexpr std::array directions{Choice<Better>{"lower", Better::Lower},
                                Choice<Better>{"higher", Better::Higher}};

std::vector<std::string> keys_of(PlotKind kind) {
  switch (kind) {
    case PlotKind::Lines:
      return {"kind", "title", "x", "y", "series", "panels", "x_scale", "y_scale"};
    case PlotKind::HeatMap:
      return {"kind", "title", "x", "y", "value", "panels"};
    case PlotKind::Pareto:
      break;
  }
  return {"kind", "title", "x", "y", "series", "x_scale", "y_scale", "x_better", "y_better"};
}

class PlotReader {
 public:
  PlotReader(ReadContext context, const LocatedNode& located, const Experiment& experiment,
             const std::vector<std::string>& metrics)
      : context_(context),
        any_(context, located,
             {"kind", "title", "x", "y", "value", "series", "panels", "x_scale", "y_scale",
              "x_better", "y_better"}),
        kind_(any_.choice<PlotKind>("kind", kinds)),
        // Once more, with the keys that this kind has.
        reader_(context, located, keys_of(kind_)),
        experiment_(&experiment),
        metrics_(&metrics) {
    for (const Axis& axis : experiment.axes) {
      axes_.push_back(axis.name);
    }
  }

  [[nodiscard]] PlotSpec read() const {
    PlotSpec plot;
    plot.kind = kind_;
    plot.title = reader_.text("title", Default<std::string>{experiment_->name});
    const bool of_axes = kind_ != PlotKind::Pareto;
    plot.x = of_axes ? axis("x") : metric("x");
    plot.y = kind_ == PlotKind::HeatMap ? axis("y") : metric("y");
    if (kind_ == PlotKind::HeatMap) {
      plot.value = metric("value");
    }
    if (of_axes && reader_.has("panels")) {
      plot.panels = axis("panels");
    }
    require_different(plot);
    if (kind_ != PlotKind::HeatMap) {
      plot.series = series(plot);
      plot.x_scale =
          reader_.choice<PlotScale>("x_scale", scales, Default<PlotScale>{PlotScale::Linear});
      plot.y_scale =
          reader_.choice<PlotScale>("y_scale", scales, Default<PlotScale>{PlotScale::Linear});
    }
    if (kind_ == PlotKind::Pareto) {
      plot.x_better =
          reader_.choice<Better>("x_better", directions, Default<Better>{Better::Lower});
      plot.y_better =
          reader_.choice<Better>("y_better", directions, Default<Better>{Better::Higher});
    }
    if (of_axes && plot.x_scale == PlotScale::Logarithmic) {
      require_logarithms(plot.x);
    }
    return plot;
  }

 private:
  void require_logarithms(const std::string& axis) const {
    for (const AxisValue& value : std::ranges::find(experiment_->axes, axis, &Axis::name)->values) {
      if (!value.number || *value.number <= 0) {
        reader_.refuse("x_scale",
                       "a logarithmic scale needs numbers above 0, and a value of " +
                           in_quotes(axis) + " is " + in_quotes(value.label),
                       "linear, or give the values a number");
      }
    }
  }

  [[nodiscard]] std::string known(const std::string& key, const std::string& what,
                                  const std::vector<std::string>& accepted) const {
    std::string text = reader_.text(key);
    require_known(context_.tree, *reader_.find(key), what, text, accepted);
    return text;
  }
  [[nodiscard]] std::string axis(const std::string& key) const { return known(key, "axis", axes_); }
  [[nodiscard]] std::string metric(const std::string& key) const {
    return known(key, "metric", *metrics_);
  }

  [[nodiscard]] std::string other_axes() const { return "axes: " + one_of(axes_); }

  void require_different(const PlotSpec& plot) const {
    if (kind_ == PlotKind::HeatMap && plot.x == plot.y) {
      reader_.refuse("y", in_quotes(plot.y) + " is the axis of x already", other_axes());
    }
    if (!plot.panels.empty() && (plot.panels == plot.x || plot.panels == plot.y)) {
      reader_.refuse("panels", in_quotes(plot.panels) + " is the axis of x or y already",
                     other_axes());
    }
  }

  /// Those that are named; else all that nothing else in the plot shows. On a front one colour will do.
  [[nodiscard]] std::vector<std::string> series(const PlotSpec& plot) const {
    std::vector<std::string> names;
    if (!reader_.has("series")) {
      for (const std::string& name : axes_) {
        if (kind_ == PlotKind::Lines && name != plot.x && name != plot.panels) {
          names.push_back(name);
        }
      }
      return names;
    }
    for (const LocatedNode& item : reader_.items("series")) {
      names.push_back(single_value(context_.tree, item));
      require_known(context_.tree, item, "axis", names.back(), axes_);
      if (names.back() == plot.x || names.back() == plot.panels) {
        refuse_at(context_.tree, context_.tree.node(item.id).position, item.path,
                  in_quotes(names.back()) + " is the axis of x or panels already", other_axes());
      }
    }
    return names;
  }

  ReadContext context_;
  MappingReader any_;
  PlotKind kind_;
  MappingReader reader_;
  const Experiment* experiment_;
  const std::vector<std::string>* metrics_;
  std::vector<std::string> axes_;
};

}  // namespace

void require_apart(const YamlTree& tree, const LocatedNode& located, const Experiment& experiment,
                   const std::vector<SweepPoint>& points) {
  const PlotSpec& plot = *experiment.plot;
  if (plot.kind == PlotKind::Pareto) {
    return;
  }
  std::vector<std::string> shown = plot.series;
  shown.insert(shown.end(), {plot.x, plot.panels});
  if (plot.kind == PlotKind::HeatMap) {
    shown.push_back(plot.y);
  }
  std::map<std::vector<std::uint32_t>, const SweepPoint*> places;
  for (const SweepPoint& point : points) {
    std::vector<std::uint32_t> place;
    for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
      if (std::ranges::find(shown, experiment.axes[axis].name) != shown.end()) {
        place.push_back(point.values[axis]);
      }
    }
    const auto [other, is_new] = places.emplace(std::move(place), &point);
    if (!is_new) {
      refuse_at(tree, tree.node(located.id).position, located.path,
                "shows two points at one place: " + point_text(experiment, *other->second) +
                    " and " + point_text(experiment, point),
                plot.kind == PlotKind::HeatMap ? "panels: an axis" : "series or panels: an axis");
    }
  }
}

PlotSpec read_plot(ReadContext context, const LocatedNode& located, const Experiment& experiment,
                   const std::vector<std::string>& metrics) {
  return PlotReader(context, located, experiment, metrics).read();
}

}  // namespace collsim
