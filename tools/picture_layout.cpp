#include "tools/picture_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tools/picture_layering.hpp"

namespace collsim {

namespace {

constexpr double box_height = 30;
constexpr double box_with_note_height = 50;
constexpr double least_box_width = 46;
constexpr double room_for_words = 20;
constexpr double note_size = 0.97;  // of the width of other words, with some room
constexpr double box_gap = 14;
constexpr double block_gap = 22;
constexpr double tier_gap = 56;
constexpr double gap_of_a_line = 2.5;  // lines that cross need room
constexpr double widest_tier_gap = 130;
constexpr double frame_margin = 14;
constexpr double title_height = 18;
constexpr double least_arc = 24;
constexpr double highest_arc = 110;
constexpr double arc_slope = 0.1;

/// A group: blocks and boxes in a row, the switches that join them above.
class GroupLayout {
 public:
  GroupLayout(const Outline& outline, const OutlineBlock& block, std::vector<PictureArea> members)
      : outline_(&outline), block_(&block), layering_(block.devices.size() + 1, box_gap) {
    place_row(std::move(members));
    for (std::size_t tier = 0; tier < block.devices.size(); ++tier) {
      for (const std::size_t item : block.devices[tier]) {
        tier_of_[item] = tier;
      }
    }
  }

  PictureArea run() && {
    sort_lines();
    add_arcs_over_row();
    place_tiers();
    return std::move(area_);
  }

 private:
  void place_row(std::vector<PictureArea> members) {
    for (const PictureArea& member : members) {
      area_.height = std::max(area_.height, member.height);
    }
    double left = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const auto& [item, box] : members[i].boxes) {
        member_of_[item] = i;
      }
      const double width = members[i].width;
      members[i].shift(left, area_.height - members[i].height);
      area_.absorb(std::move(members[i]));
      left += width + block_gap;
    }
    area_.width = std::max(0.0, left - block_gap);
  }

  [[nodiscard]] bool in_row(std::size_t item) const { return member_of_.contains(item); }
  [[nodiscard]] bool in_tier(std::size_t item) const { return tier_of_.contains(item); }
  [[nodiscard]] bool inside(std::size_t item) const { return in_row(item) || in_tier(item); }

  /// Lines between members of the row, between two switches of a tier, up to a switch, and out.
  void sort_lines() {
    for (std::size_t i = 0; i < outline_->lines.size(); ++i) {
      const auto [a, b] = std::pair(outline_->lines[i].from, outline_->lines[i].to);
      if (!inside(a) && !inside(b)) {
        continue;
      }
      if (!inside(a) || !inside(b)) {
        leaving_.insert(inside(a) ? a : b);
      } else if (in_row(a) && in_row(b)) {
        if (member_of_[a] != member_of_[b]) {
          over_row_.push_back(i);
        }
      } else if (in_tier(a) && in_tier(b) && tier_of_[a] == tier_of_[b]) {
        level_.push_back(i);
      } else {
        rising_.push_back(i);
      }
    }
  }

  [[nodiscard]] JoinedBoxes joined(std::size_t line) const {
    return {line, outline_->lines[line].from, outline_->lines[line].to};
  }

  static double arc_height(SvgPoint a, SvgPoint b) {
    return std::min(highest_arc, least_arc + arc_slope * std::abs(a.x - b.x));
  }

  void add_arcs_over_row() {
    for (const std::size_t line : over_row_) {
      const OutlineLine& ends = outline_->lines[line];
      PlacedLine placed{line, ends.from, ends.to, BoxSide::Top, BoxSide::Top, {}, {}, 0};
      placed.points = area_.rising_from(ends.from);
      placed.arc = placed.points.size() - 1;
      const double height = arc_height(area_.port(ends.from), area_.port(ends.to));
      std::vector<SvgPoint> down = area_.rising_from(ends.to);
      placed.arc_height = height;
      over_row_height_ = std::max(over_row_height_, height);
      std::ranges::reverse(down);
      std::ranges::copy(down, std::back_inserter(placed.points));
      area_.lines.push_back(std::move(placed));
    }
  }

  void place_tiers() {
    fix_row();
    for (std::size_t tier = 0; tier < block_->devices.size(); ++tier) {
      for (const std::size_t item : block_->devices[tier]) {
        layering_.add_in_order(item, tier + 1, box_size(outline_->items[item]));
      }
    }
    std::vector<std::pair<std::size_t, PictureLayering::Way>> ways;
    ways.reserve(rising_.size());
    for (const std::size_t line : rising_) {
      ways.emplace_back(line, layering_.join(outline_->lines[line].from, outline_->lines[line].to));
    }
    std::map<std::size_t, PictureLayering::Way> out;
    for (const std::size_t item : leaving_) {
      out[item] = layering_.lead_out(item);
    }
    layering_.place();
    stack_tiers();
    for (const auto& [item, tier] : tier_of_) {
      area_.boxes[item] = layering_.box(item);
    }
    for (const auto& [line, way] : ways) {
      add_rising_line(area_, layering_, joined(line), way);
    }
    for (const std::size_t line : level_) {
      const auto [index, a, b] = joined(line);
      add_level_line(area_, layering_, {index, a, b}, BoxSide::Top,
                     arc_height(area_.top(a), area_.top(b)));
    }
    for (const auto& [item, way] : out) {
      std::ranges::copy(layering_.points(way), std::back_inserter(area_.trails[item]));
    }
    const double left = std::min(0.0, layering_.left());
    area_.width = std::max(area_.width, layering_.right()) - left;
    area_.shift(-left, 0);
  }

  /// The first layer: where lines come out of the row.
  void fix_row() {
    std::set<std::tuple<double, std::size_t>> ports;
    const auto add = [&](std::size_t item) {
      if (in_row(item)) {
        ports.emplace(area_.port(item).x, item);
      }
    };
    for (const std::size_t line : rising_) {
      add(outline_->lines[line].from);
      add(outline_->lines[line].to);
    }
    std::ranges::for_each(leaving_, add);
    for (const auto& [x, item] : ports) {
      layering_.fix(item, x);
    }
  }

  void stack_tiers() {
    std::vector<double> gaps(block_->devices.size() + 1, tier_gap);
    for (const std::size_t line : rising_) {
      const OutlineLine& ends = outline_->lines[line];
      const std::size_t upper =
          std::max(layering_.layer_of(ends.from), layering_.layer_of(ends.to));
      if (block_->devices[upper - 1].size() > 1) {
        gaps[upper] = std::min(widest_tier_gap, gaps[upper] + gap_of_a_line);
      }
    }
    gaps.front() = 0;
    if (gaps.size() > 1) {
      gaps[1] += over_row_height_;
    }
    double above = 0;
    for (const std::size_t line : level_) {
      const OutlineLine& ends = outline_->lines[line];
      if (layering_.adjacent(ends.from, ends.to)) {
        continue;
      }
      const double height =
          arc_height(layering_.box(ends.from).middle, layering_.box(ends.to).middle);
      const std::size_t next = tier_of_[ends.from] + 2;
      double& room = next < gaps.size() ? gaps[next] : above;
      room = std::max(room, (next < gaps.size() ? tier_gap : 0) + height);
    }
    const double row_top = area_.height;
    area_.height = layering_.stack(row_top, gaps) + above;
    if (block_->devices.empty()) {
      area_.height = row_top + over_row_height_;
    }
  }

  const Outline* outline_;
  const OutlineBlock* block_;
  PictureLayering layering_;
  std::map<std::size_t, std::size_t> member_of_;  ///< of the row, by item
  std::map<std::size_t, std::size_t> tier_of_;    ///< by item
  std::vector<std::size_t> over_row_;
  std::vector<std::size_t> level_;
  std::vector<std::size_t> rising_;
  std::set<std::size_t> leaving_;  ///< items
  double over_row_height_ = 0;
  PictureArea area_;
};

void frame(PictureArea& area, const std::string& title) {
  area.shift(frame_margin, frame_margin + title_height);
  area.width = std::max(area.width, text_width(title)) + 2 * frame_margin;
  area.height += 2 * frame_margin + title_height;
  area.frames.insert(area.frames.begin(), {{0, 0}, {area.width, area.height}, title});
}

PictureArea block_layout(const Outline& outline, const OutlineBlock& block) {
  PictureArea area;
  if (block.is_node) {
    area = node_layout(outline, block.devices.front());
  } else {
    std::vector<PictureArea> members;
    members.reserve(block.blocks.size() + block.boxes.size());
    for (const OutlineBlock& inner : block.blocks) {
      members.push_back(block_layout(outline, inner));
    }
    for (const std::size_t item : block.boxes) {
      const SvgSize size = box_size(outline.items[item]);
      PictureArea& member = members.emplace_back();
      member.width = size.width;
      member.height = size.height;
      member.boxes[item] = {{size.width / 2, size.height / 2}, size, false};
    }
    area = GroupLayout(outline, block, std::move(members)).run();
  }
  if (!block.title.empty()) {
    frame(area, block.title);
  }
  return area;
}

/// From y upwards to y downwards.
void turn_over(PictureArea& area) {
  const auto turn = [&](SvgPoint& point) { point.y = area.height - point.y; };
  for (auto& [item, box] : area.boxes) {
    turn(box.middle);
  }
  for (PlacedLine& line : area.lines) {
    std::ranges::for_each(line.points, turn);
    line.arc_height = -line.arc_height;
  }
  for (PlacedFrame& frame : area.frames) {
    frame.corner.y = area.height - frame.corner.y - frame.size.height;
  }
}

}  // namespace

SvgSize box_size(const OutlineItem& item) {
  const double words = std::max(text_width(item.name), text_width(item.note) * note_size);
  return {std::max(words + room_for_words, least_box_width),
          item.note.empty() ? box_height : box_with_note_height};
}

PictureArea picture_layout(const Outline& outline) {
  PictureArea area = block_layout(outline, outline.whole);
  spread_line_ends(area);
  turn_over(area);
  return area;
}

}  // namespace collsim
