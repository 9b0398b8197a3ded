// Where lines end at the sides of boxes.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tools/layer_layout.hpp"
#include "tools/picture_layout.hpp"

namespace collsim {

namespace {

// Of several lines at one side of a box.
constexpr double end_distance = 12;
constexpr double end_margin = 8;

/// The ends of lines at one side of a box side by side, in the order of where they go.
class EndSpreader {
 public:
  explicit EndSpreader(PictureArea& area) : area_(&area) {
    for (PlacedLine& line : area.lines) {
      const std::size_t last = line.points.size() - 1;
      add(line.from, line.from_side, line.points[0], line.points[1]);
      add(line.to, line.to_side, line.points[last], line.points[last - 1]);
    }
  }

  void run() {
    // Bars last: their ends go by where the others have come to stand.
    for (const bool bars : {false, true}) {
      for (const auto& [where, ends] : ends_) {
        const PlacedBox& box = area_->boxes.at(where.first);
        if (box.is_bar == bars) {
          spread(box, ends);
        }
      }
    }
  }

 private:
  struct End {
    SvgPoint* point;
    const SvgPoint* next;
  };

  void add(std::size_t item, BoxSide side, SvgPoint& point, const SvgPoint& next) {
    if (side != BoxSide::Side) {
      ends_[{item, side}].push_back({&point, &next});
    }
  }

  /// Ends by where their lines go on: those that go on to the same point share a place.
  using Places = std::map<std::pair<double, double>, std::vector<SvgPoint*>>;

  static void spread(const PlacedBox& box, const std::vector<End>& ends) {
    Places places;
    for (const End& end : ends) {
      places[{end.next->x, end.next->y}].push_back(end.point);
    }
    const double reach = box.size.width / 2 - end_margin;
    const std::vector<double> found =
        box.is_bar ? along_bar(box, places, reach) : around_middle(box, places, reach);
    std::size_t i = 0;
    for (const auto& [next, points] : places) {
      for (SvgPoint* point : points) {
        point->x = found[i];
      }
      ++i;
    }
  }

  /// Straight below or above where the lines go on, as far as the bar goes.
  static std::vector<double> along_bar(const PlacedBox& box, const Places& places, double reach) {
    std::vector<double> wished;
    for (const auto& [next, points] : places) {
      wished.push_back(std::clamp(next.first, box.middle.x - reach, box.middle.x + reach));
    }
    const double step = std::min(
        end_distance, 2 * reach / static_cast<double>(std::max<std::size_t>(1, wished.size())));
    std::vector<double> found = separated(wished, std::vector<double>(wished.size() - 1, step));
    double least = box.middle.x - reach;
    for (double& x : found) {
      x = std::max(x, least);
      least = x + step;
    }
    double most = box.middle.x + reach;
    // NOLINTNEXTLINE(modernize-loop-convert): backwards
    for (auto x = found.rbegin(); x != found.rend(); ++x) {
      *x = std::min(*x, most);
      most = *x - step;
    }
    return found;
  }

  /// Side by side; a line that goes straight up or down keeps the middle if there is room.
  static std::vector<double> around_middle(const PlacedBox& box, const Places& places,
                                           double reach) {
    const auto gaps = static_cast<double>(places.size() - 1);
    const double step = places.size() < 2 ? 0 : std::min(end_distance, 2 * reach / gaps);
    const double half = step * gaps / 2;
    std::vector<double> found;
    double aside = 0;
    for (const auto& [next, points] : places) {
      found.push_back(box.middle.x - half + step * static_cast<double>(found.size()));
      const double off = box.middle.x - found.back();
      if (std::abs(next.first - box.middle.x) < 1 && half + std::abs(off) <= reach) {
        aside = off;
      }
    }
    for (double& x : found) {
      x += aside;
    }
    return found;
  }

  PictureArea* area_;
  std::map<std::pair<std::size_t, BoxSide>, std::vector<End>> ends_;
};

}  // namespace

void spread_line_ends(PictureArea& area) { EndSpreader(area).run(); }

}  // namespace collsim
