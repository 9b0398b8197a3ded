#pragma once

// A layered layout of boxes and lines: turns lines that skip layers into elements of a layout (see
// layer_layout.hpp), and the layout's coordinates back into points.

#include <cstddef>
#include <map>
#include <vector>

#include "tools/layer_layout.hpp"
#include "tools/picture_area.hpp"

namespace collsim {

class PictureLayering {
 public:
  PictureLayering(std::size_t layers, double gap);

  /// Of the first layer at a given place: call it for all boxes of that layer, from left to right.
  void fix(std::size_t item, double x);
  void add(std::size_t item, std::size_t layer, SvgSize size);
  /// The same, in the order of the calls.
  void add_in_order(std::size_t item, std::size_t layer, SvgSize size);
  [[nodiscard]] bool has(std::size_t item) const { return places_.contains(item); }
  [[nodiscard]] std::size_t layer_of(std::size_t item) const { return places_.at(item).layer; }

  /// Elements in the layers between, upwards.
  using Way = std::vector<std::size_t>;
  /// Joins two boxes of different layers.
  Way join(std::size_t a, std::size_t b);
  /// Leads from a box upwards out of the layers.
  Way lead_out(std::size_t item);

  void place();

  /// Sets the y of the layers' lower edges: a gap below each, and the height of what is in it. Returns
  /// the upper edge of the highest.
  double stack(double bottom, const std::vector<double>& gap_below);
  [[nodiscard]] double left() const;
  [[nodiscard]] double right() const;
  [[nodiscard]] double layer_bottom(std::size_t layer) const { return bottom_[layer]; }
  [[nodiscard]] double layer_top(std::size_t layer) const {
    return bottom_[layer] + height_[layer];
  }

  /// The box as placed: a bar if it is alone in its layer and joined with three others or more.
  [[nodiscard]] PlacedBox box(std::size_t item) const;
  [[nodiscard]] std::vector<SvgPoint> points(const Way& way) const;
  /// Whether two boxes of a layer have nothing but lines between them.
  [[nodiscard]] bool adjacent(std::size_t a, std::size_t b) const;

 private:
  struct Place {
    std::size_t layer = 0;
    std::size_t element = 0;
    SvgSize size;
  };
  std::size_t add_element(std::size_t layer, double width);
  Way lead(std::size_t item, std::size_t layer);
  [[nodiscard]] const LayerElement& element(std::size_t i) const { return layered_.elements[i]; }
  /// The elements that one is joined with, on both sides.
  [[nodiscard]] std::vector<std::size_t> joined_with(std::size_t element) const;

  LayeredElements layered_;
  std::map<std::size_t, Place> places_;
  std::vector<std::size_t> layer_of_element_;
  std::vector<double> bottom_;
  std::vector<double> height_;
};

/// A line of the outline, and the boxes that it joins.
struct JoinedBoxes {
  std::size_t line = 0;
  std::size_t a = 0;
  std::size_t b = 0;
};

/// Adds a line from the lower box up the way to the higher one. Requires: both are placed in the area.
void add_rising_line(PictureArea& area, const PictureLayering& layering, JoinedBoxes joined,
                     const PictureLayering::Way& way);
/// Adds a line between two boxes of a layer: straight where nothing stands between, else an arc from
/// side to side, so high (below 0: so deep).
void add_level_line(PictureArea& area, const PictureLayering& layering, JoinedBoxes joined,
                    BoxSide side, double arc_height);

}  // namespace collsim
