#include "tools/picture_layering.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace collsim {

namespace {

constexpr double line_room = 8;
constexpr std::size_t fewest_for_bar = 3;

}  // namespace

PictureLayering::PictureLayering(std::size_t layers, double gap) {
  layered_.layers.resize(layers);
  layered_.gap = gap;
  bottom_.resize(layers);
  height_.resize(layers);
}

void PictureLayering::fix(std::size_t item, double x) {
  layered_.first_fixed = true;
  add(item, 0, {});
  layered_.elements.back().x = x;
}

void PictureLayering::add(std::size_t item, std::size_t layer, SvgSize size) {
  places_[item] = {layer, add_element(layer, size.width), size};
  height_[layer] = std::max(height_[layer], size.height);
}

void PictureLayering::add_in_order(std::size_t item, std::size_t layer, SvgSize size) {
  add(item, layer, size);
  layered_.elements.back().keeps_order = true;
}

std::size_t PictureLayering::add_element(std::size_t layer, double width) {
  layered_.elements.push_back({width, {}, 0});
  layered_.layers[layer].push_back(layered_.elements.size() - 1);
  layer_of_element_.push_back(layer);
  return layered_.elements.size() - 1;
}

PictureLayering::Way PictureLayering::lead(std::size_t item, std::size_t layer) {
  Way way;
  std::size_t last = places_.at(item).element;
  for (std::size_t i = layer_of(item) + 1; i < layer; ++i) {
    const std::size_t between = add_element(i, line_room);
    layered_.elements[between].below.push_back(last);
    way.push_back(between);
    last = between;
  }
  return way;
}

PictureLayering::Way PictureLayering::join(std::size_t a, std::size_t b) {
  const auto [low, high] = layer_of(a) < layer_of(b) ? std::pair(a, b) : std::pair(b, a);
  Way way = lead(low, layer_of(high));
  layered_.elements[places_.at(high).element].below.push_back(way.empty() ? places_.at(low).element
                                                                          : way.back());
  return way;
}

PictureLayering::Way PictureLayering::lead_out(std::size_t item) {
  return lead(item, layered_.layers.size());
}

void PictureLayering::place() { place_layers(layered_); }

double PictureLayering::stack(double bottom, const std::vector<double>& gap_below) {
  double y = bottom;
  for (std::size_t layer = 0; layer < layered_.layers.size(); ++layer) {
    bottom_[layer] = y + gap_below[layer];
    y = layer_top(layer);
  }
  return y;
}

double PictureLayering::left() const {
  double least = std::numeric_limits<double>::max();
  for (const LayerElement& element : layered_.elements) {
    least = std::min(least, element.x - element.width / 2);
  }
  return least;
}

double PictureLayering::right() const {
  double most = std::numeric_limits<double>::lowest();
  for (const LayerElement& element : layered_.elements) {
    most = std::max(most, element.x + element.width / 2);
  }
  return most;
}

std::vector<std::size_t> PictureLayering::joined_with(std::size_t number) const {
  std::vector<std::size_t> found = element(number).below;
  for (std::size_t i = 0; i < layered_.elements.size(); ++i) {
    if (std::ranges::find(element(i).below, number) != element(i).below.end()) {
      found.push_back(i);
    }
  }
  return found;
}

PlacedBox PictureLayering::box(std::size_t item) const {
  const Place& place = places_.at(item);
  PlacedBox box{{element(place.element).x, bottom_[place.layer] + height_[place.layer] / 2},
                place.size,
                false};
  const std::vector<std::size_t> joined = joined_with(place.element);
  if (layered_.layers[place.layer].size() > 1 || joined.size() < fewest_for_bar) {
    return box;
  }
  double least = box.middle.x - box.size.width / 2;
  double most = box.middle.x + box.size.width / 2;
  for (const std::size_t other : joined) {
    const double reach = std::max(element(other).width, 2 * line_room) / 2;
    least = std::min(least, element(other).x - reach);
    most = std::max(most, element(other).x + reach);
  }
  return {{(least + most) / 2, box.middle.y}, {most - least, box.size.height}, true};
}

std::vector<SvgPoint> PictureLayering::points(const Way& way) const {
  std::vector<SvgPoint> points;
  for (const std::size_t i : way) {
    const std::size_t layer = layer_of_element_[i];
    points.push_back({element(i).x, layer_bottom(layer)});
    points.push_back({element(i).x, layer_top(layer)});
  }
  return points;
}

bool PictureLayering::adjacent(std::size_t a, std::size_t b) const {
  const std::vector<std::size_t>& layer = layered_.layers[layer_of(a)];
  auto first = std::ranges::find(layer, places_.at(a).element);
  auto last = std::ranges::find(layer, places_.at(b).element);
  if (first > last) {
    std::swap(first, last);
  }
  return std::all_of(first + 1, last, [this](std::size_t i) {
    return std::ranges::none_of(places_,
                                [i](const auto& place) { return place.second.element == i; });
  });
}

void add_rising_line(PictureArea& area, const PictureLayering& layering, JoinedBoxes joined,
                     const PictureLayering::Way& way) {
  auto [line, low, high] = joined;
  if (layering.layer_of(low) > layering.layer_of(high)) {
    std::swap(low, high);
  }
  PlacedLine placed{line, low, high, BoxSide::Top, BoxSide::Bottom, area.rising_from(low), {}, 0};
  std::ranges::copy(layering.points(way), std::back_inserter(placed.points));
  placed.points.push_back(area.bottom(high));
  area.lines.push_back(std::move(placed));
}

void add_level_line(PictureArea& area, const PictureLayering& layering, JoinedBoxes joined,
                    BoxSide side, double arc_height) {
  auto [line, left, right] = joined;
  if (area.boxes.at(left).middle.x > area.boxes.at(right).middle.x) {
    std::swap(left, right);
  }
  if (layering.adjacent(left, right)) {
    const PlacedBox& first = area.boxes.at(left);
    const PlacedBox& last = area.boxes.at(right);
    const SvgPoint from{first.middle.x + first.size.width / 2, first.middle.y};
    const SvgPoint to{last.middle.x - last.size.width / 2, last.middle.y};
    area.lines.push_back({line, left, right, BoxSide::Side, BoxSide::Side, {from, to}, {}, 0});
    return;
  }
  const auto end = [&](std::size_t item) {
    return side == BoxSide::Top ? area.top(item) : area.bottom(item);
  };
  area.lines.push_back({line, left, right, side, side, {end(left), end(right)}, 0, arc_height});
}

}  // namespace collsim
