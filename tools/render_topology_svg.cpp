#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "tools/cluster_title.hpp"
#include "tools/picture_layout.hpp"
#include "tools/render_topology_picture.hpp"
#include "tools/svg.hpp"
#include "tools/text_table.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

constexpr double margin = 20;
constexpr double header_line = 19;
constexpr double name_height = 30;
constexpr double legend_height = 26;
constexpr double legend_sample = 26;
constexpr double least_width = 560;
constexpr double width_of_a_letter = 7.2;  // of the description, with some room
constexpr double baseline = 4.5;           // of a line of words below its middle

/// Boxes are tinted like the links that belong to them.
constexpr std::string_view style = R"(.link{fill:none;stroke-linecap:round}
path.s0,path.s1,path.s2,path.s3,path.s4,path.s5{fill:none}
.plain{stroke:#6e7781}.zone{stroke:#d0d7de}
.box{stroke-width:1.2;fill:#f6f8fa;stroke:#59636e}.several{stroke-dasharray:4 3}
.green{fill:#dafbe1;stroke:#1a7f37}.blue{fill:#ddf4ff;stroke:#0969da}
.orange{fill:#fff1e5;stroke:#bc4c00}.violet{fill:#fbefff;stroke:#8250df}
@media (prefers-color-scheme:dark){
.plain{stroke:#8b949e}.zone{stroke:#30363d}
.box{fill:#161b22;stroke:#9198a1}
.green{fill:#12261e;stroke:#56d364}.blue{fill:#121d2f;stroke:#58a6ff}
.orange{fill:#2b1d10;stroke:#ffa657}.violet{fill:#231c33;stroke:#bc8cff}
}
)";

std::string_view class_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::Generic:
      return "plain";
    case LinkKind::Nvlink:
      return "s2";
    case LinkKind::Xgmi:
      return "s0";
    case LinkKind::Pcie:
      return "s1";
    case LinkKind::Socket:
      return "s3";
    case LinkKind::Infiniband:
      return "s4";
    case LinkKind::Ethernet:
      return "s5";
  }
  COLLSIM_ENSURE(false, "unknown kind of link");
}

std::string class_of(const OutlineItem& item) {
  std::string classes = "box";
  if (item.copies > 1) {
    classes += " several";
  }
  if (!item.kind) {
    return classes;
  }
  switch (*item.kind) {
    case DeviceKind::Gpu:
    case DeviceKind::Nvswitch:
      return classes + " green";
    case DeviceKind::PcieSwitch:
      return classes + " blue";
    case DeviceKind::Cpu:
      return classes + " orange";
    case DeviceKind::Nic:
    case DeviceKind::NetworkSwitch:
      return classes + " violet";
  }
  return classes;
}

std::string point(SvgPoint at) { return fmt::format("{:.1f} {:.1f}", at.x, at.y); }

/// Smooth from point to point, upright at each; one stretch may be an arc.
std::string path_data(const PlacedLine& line) {
  std::string data = "M" + point(line.points.front());
  if (line.from_side == BoxSide::Side) {
    return data + "L" + point(line.points.back());
  }
  for (std::size_t i = 0; i + 1 < line.points.size(); ++i) {
    const SvgPoint from = line.points[i];
    const SvgPoint to = line.points[i + 1];
    if (line.arc == i) {
      // Both ends pull by 4/3 of the height, so that the middle of the arc is at that height.
      const double pull = line.arc_height * 4 / 3;
      data +=
          "C" + point({from.x, from.y + pull}) + " " + point({to.x, to.y + pull}) + " " + point(to);
    } else if (from.x == to.x) {
      data += "L" + point(to);
    } else {
      const double middle = (from.y + to.y) / 2;
      data += "C" + point({from.x, middle}) + " " + point({to.x, middle}) + " " + point(to);
    }
  }
  return data;
}

class Picture {
 public:
  Picture(const Cluster& cluster, const Outline& outline)
      : cluster_(&cluster),
        outline_(&outline),
        area_(picture_layout(outline)),
        size_{std::max(least_width, area_.width) + 2 * margin, 0} {
    if (const std::string text = description_text(cluster.spec()); !text.empty()) {
      description_ =
          wrapped(text, static_cast<std::size_t>((size_.width - 2 * margin) / width_of_a_letter));
    }
    const double header =
        name_height + header_line * static_cast<double>(description_.size()) + margin;
    size_.height = header + area_.height + margin + legend_rows() * legend_height + margin;
    area_.shift(margin + (size_.width - 2 * margin - area_.width) / 2, header);
    legend_top_ = header + area_.height + margin;
  }

  [[nodiscard]] std::string draw() const {
    Svg svg(size_, cluster_->name(),
            "GPUs, switches and NICs of the cluster, and the links between them", style);
    svg.text({margin, margin + 6}, cluster_->name(), "ink bold large");
    for (std::size_t i = 0; i < description_.size(); ++i) {
      svg.text({margin, name_height + header_line * static_cast<double>(i + 1) - 4},
               description_[i], "faint");
    }
    for (const PlacedFrame& frame : area_.frames) {
      svg.box(frame.corner, frame.size, "zone", frame.title);
      svg.text({frame.corner.x + 12, frame.corner.y + frame.size.height - 10}, frame.title,
               "faint small");
    }
    for (const PlacedLine& line : area_.lines) {
      draw_line(svg, line);
    }
    for (const auto& [item, box] : area_.boxes) {
      draw_box(svg, outline_->items[item], box);
    }
    draw_legend(svg);
    return std::move(svg).finish();
  }

 private:
  void draw_line(Svg& svg, const PlacedLine& placed) const {
    const OutlineLine& line = outline_->lines[placed.line];
    svg.path(
        path_data(placed), line_width(line.total_bps), fmt::format("link {}", class_of(line.kind)),
        fmt::format("{} {} {}: {}, {}", outline_->items[line.from].name, line.one_way ? "→" : "–",
                    outline_->items[line.to].name, name_of(line.kind), line_text(line)));
  }

  static void draw_box(Svg& svg, const OutlineItem& item, const PlacedBox& box) {
    const SvgPoint corner{box.middle.x - box.size.width / 2, box.middle.y - box.size.height / 2};
    svg.box(corner, box.size, class_of(item),
            item.note.empty() ? item.name : item.name + ": " + item.note);
    if (item.note.empty()) {
      svg.text({box.middle.x, box.middle.y + baseline}, item.name, "ink", Anchor::Middle);
      return;
    }
    svg.text({box.middle.x, box.middle.y - 4}, item.name, "ink", Anchor::Middle);
    svg.text({box.middle.x, box.middle.y + 14}, item.note, "faint small", Anchor::Middle);
  }

  struct LegendEntry {
    LinkKind kind = LinkKind::Generic;
    std::string text;
  };

  /// A kind of link each, with the bandwidths there are.
  [[nodiscard]] std::vector<LegendEntry> legend() const {
    std::map<LinkKind, std::pair<Bandwidth, Bandwidth>> ranges;
    for (const Link& link : cluster_->graph().links()) {
      const auto [found, is_new] = ranges.try_emplace(link.kind, link.bandwidth, link.bandwidth);
      found->second.first = std::min(found->second.first, link.bandwidth);
      found->second.second = std::max(found->second.second, link.bandwidth);
    }
    std::vector<LegendEntry> entries;
    for (const auto& [kind, range] : ranges) {
      const std::string name(kind == LinkKind::Generic ? "link" : name_of(kind));
      entries.push_back(
          {kind, name + " " + to_text(range.first) +
                     (range.first == range.second ? "" : " to " + to_text(range.second))});
    }
    return entries;
  }

  [[nodiscard]] static double entry_width(const LegendEntry& entry) {
    return legend_sample + 8 + text_width(entry.text) + 22;
  }

  [[nodiscard]] double legend_rows() const {
    double rows = 1;
    double x = margin;
    for (const LegendEntry& entry : legend()) {
      if (x > margin && x + entry_width(entry) > size_.width - margin) {
        x = margin;
        ++rows;
      }
      x += entry_width(entry);
    }
    return rows;
  }

  void draw_legend(Svg& svg) const {
    SvgPoint at{margin, legend_top_ + legend_height / 2};
    for (const LegendEntry& entry : legend()) {
      if (at.x > margin && at.x + entry_width(entry) > size_.width - margin) {
        at = {margin, at.y + legend_height};
      }
      svg.path("M" + point(at) + "L" + point({at.x + legend_sample, at.y}), 4,
               fmt::format("link {}", class_of(entry.kind)), entry.text);
      svg.text({at.x + legend_sample + 8, at.y + baseline}, entry.text, "ink");
      at.x += entry_width(entry);
    }
  }

  const Cluster* cluster_;
  const Outline* outline_;
  PictureArea area_;
  SvgSize size_;
  std::vector<std::string> description_;
  double legend_top_ = 0;
};

}  // namespace

double line_width(double bytes_per_second) {
  constexpr double thin = 1.2;
  constexpr double thick = 7;
  constexpr double slope = 0.8;
  constexpr double ten_gigabytes = 1e10;
  return std::clamp(thin + slope * std::log2(std::max(1.0, bytes_per_second / ten_gigabytes)), thin,
                    thick);
}

std::string line_text(const OutlineLine& line) {
  const std::string each = to_text(line.bandwidth);
  return line.links == 1 ? each : fmt::format("{} x {}", line.links, each);
}

std::string render_topology_svg(const Cluster& cluster, OutlineExtent extent) {
  const std::size_t devices = cluster.graph().devices().size();
  if (extent == OutlineExtent::Whole && devices > most_drawn) {
    throw InputError(
        fmt::format("a drawing shows at most {} devices, the cluster has {}", most_drawn, devices),
        "--whole", "without it, what repeats is drawn once; --as dot has no limit");
  }
  const Outline outline = outline_of(cluster.graph(), extent);
  return Picture(cluster, outline).draw();
}

}  // namespace collsim
