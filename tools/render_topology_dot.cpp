// Source: The DOT Language, graphviz.org/doc/info/lang.html.

#include <fmt/format.h>

#include <string_view>

#include "tools/render_topology_picture.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// A name or label: everything is quoted, so only quotes and backslashes matter.
std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + '"';
}

std::string_view colour_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::Generic:
      return "#6e7781";
    case LinkKind::Nvlink:
      return "#1a7f37";
    case LinkKind::Xgmi:
      return "#8a5a00";
    case LinkKind::Pcie:
      return "#0969da";
    case LinkKind::Socket:
      return "#bc4c00";
    case LinkKind::Infiniband:
      return "#8250df";
    case LinkKind::Ethernet:
      return "#bf3989";
  }
  COLLSIM_ENSURE(false, "unknown kind of link");
}

std::string_view colour_of(const OutlineItem& item) {
  if (!item.kind) {
    return "#f6f8fa";
  }
  switch (*item.kind) {
    case DeviceKind::Gpu:
    case DeviceKind::Nvswitch:
      return "#dafbe1";
    case DeviceKind::PcieSwitch:
      return "#ddf4ff";
    case DeviceKind::Cpu:
      return "#fff1e5";
    case DeviceKind::Nic:
    case DeviceKind::NetworkSwitch:
      return "#fbefff";
  }
  COLLSIM_ENSURE(false, "unknown kind of device");
}

class DotWriter {
 public:
  explicit DotWriter(const Outline& outline) : outline_(&outline) {}

  [[nodiscard]] std::string write(const std::string& name) {
    text_ = fmt::format(
        "graph {} {{\n"
        "  graph [rankdir=BT, fontname=\"Helvetica\", ranksep=0.8]\n"
        "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"]\n"
        "  edge [fontname=\"Helvetica\", fontsize=9]\n",
        dot_string(name));
    write_block(outline_->whole, 1);
    for (const OutlineLine& line : outline_->lines) {
      text_ += fmt::format("  d{} -- d{} [label={}, color=\"{}\", penwidth={:.1f}{}]\n", line.from,
                           line.to, dot_string(line_text(line)), colour_of(line.kind),
                           line_width(line.total_bps), line.one_way ? ", dir=forward" : "");
    }
    return text_ + "}\n";
  }

 private:
  void write_block(const OutlineBlock& block, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    const bool framed = !block.title.empty();
    if (framed) {
      text_ += fmt::format("{0}subgraph cluster{1} {{\n{0}  label={2}\n", indent, clusters_++,
                           dot_string(block.title));
    }
    for (const OutlineBlock& inner : block.blocks) {
      write_block(inner, depth + (framed ? 1 : 0));
    }
    const std::string inside = indent + (framed ? "  " : "");
    for (const std::size_t item : block.boxes) {
      write_item(item, inside);
    }
    for (const auto& tier : block.devices) {
      for (const std::size_t item : tier) {
        write_item(item, inside);
      }
    }
    if (framed) {
      text_ += indent + "}\n";
    }
  }

  void write_item(std::size_t number, const std::string& indent) {
    const OutlineItem& item = outline_->items[number];
    text_ += fmt::format("{}d{} [label={}, fillcolor=\"{}\"]\n", indent, number,
                         dot_string(item.note.empty() ? item.name : item.name + ": " + item.note),
                         colour_of(item));
  }

  const Outline* outline_;
  std::string text_;
  std::size_t clusters_ = 0;
};

}  // namespace

std::string render_topology_dot(const Cluster& cluster, OutlineExtent extent) {
  const Outline outline = outline_of(cluster.graph(), extent);
  return DotWriter(outline).write(cluster.name());
}

}  // namespace collsim
