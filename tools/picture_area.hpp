#pragma once

// A part of a picture under construction: boxes, lines and frames in a rectangle whose lower left
// corner is (0, 0). y grows upwards here; the finished picture is turned over.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/svg.hpp"

namespace collsim {

struct PlacedBox {
  SvgPoint middle;
  SvgSize size;
  bool is_bar = false;  ///< as wide as what it is joined with: lines go straight up and down
};

/// Where a line ends at a box.
enum class BoxSide : std::uint8_t { Top, Bottom, Side };

struct PlacedLine {
  std::size_t line = 0;  ///< of the outline
  std::size_t from = 0;  ///< boxes, by item
  std::size_t to = 0;
  BoxSide from_side = BoxSide::Top;
  BoxSide to_side = BoxSide::Bottom;
  std::vector<SvgPoint> points;  ///< from end to end
  /// The stretch that is an arc, by its first point, and how far it goes upwards (below 0: downwards).
  std::optional<std::size_t> arc;
  double arc_height = 0;
};

struct PlacedFrame {
  SvgPoint corner;
  SvgSize size;
  std::string title;
};

struct PictureArea {
  double width = 0;
  double height = 0;
  std::map<std::size_t, PlacedBox> boxes;  ///< by item
  std::vector<PlacedLine> lines;
  std::vector<PlacedFrame> frames;  ///< outer ones first
  /// Points between a box and the top of the area, of boxes with lines that leave it.
  std::map<std::size_t, std::vector<SvgPoint>> trails;

  void shift(double right, double up);
  /// Takes over what is in another area.
  void absorb(PictureArea&& other);
  /// Where the lines of a box leave the area: the end of its trail, or its top.
  [[nodiscard]] SvgPoint port(std::size_t item) const;
  /// From the top of a box along its trail.
  [[nodiscard]] std::vector<SvgPoint> rising_from(std::size_t item) const;
  [[nodiscard]] SvgPoint top(std::size_t item) const;
  [[nodiscard]] SvgPoint bottom(std::size_t item) const;
};

}  // namespace collsim
