#include "tools/picture_area.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace collsim {

void PictureArea::shift(double right, double up) {
  const auto move = [&](SvgPoint& point) {
    point.x += right;
    point.y += up;
  };
  for (auto& [item, box] : boxes) {
    move(box.middle);
  }
  for (PlacedLine& line : lines) {
    std::ranges::for_each(line.points, move);
  }
  for (PlacedFrame& frame : frames) {
    move(frame.corner);
  }
  for (auto& [item, trail] : trails) {
    std::ranges::for_each(trail, move);
  }
}

void PictureArea::absorb(PictureArea&& other) {
  boxes.merge(std::move(other.boxes));
  trails.merge(std::move(other.trails));
  std::ranges::move(other.lines, std::back_inserter(lines));
  std::ranges::move(other.frames, std::back_inserter(frames));
}

SvgPoint PictureArea::port(std::size_t item) const {
  const auto trail = trails.find(item);
  return trail == trails.end() || trail->second.empty() ? top(item) : trail->second.back();
}

std::vector<SvgPoint> PictureArea::rising_from(std::size_t item) const {
  std::vector<SvgPoint> points{top(item)};
  const auto trail = trails.find(item);
  if (trail != trails.end()) {
    std::ranges::copy(trail->second, std::back_inserter(points));
  }
  return points;
}

SvgPoint PictureArea::top(std::size_t item) const {
  const PlacedBox& box = boxes.at(item);
  return {box.middle.x, box.middle.y + box.size.height / 2};
}

SvgPoint PictureArea::bottom(std::size_t item) const {
  const PlacedBox& box = boxes.at(item);
  return {box.middle.x, box.middle.y - box.size.height / 2};
}

}  // namespace collsim
