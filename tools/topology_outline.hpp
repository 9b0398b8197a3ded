#pragma once

// Which devices of a cluster a picture shows one by one, and which stand together in one box.
//
// Small clusters are shown whole. Of larger ones the first node is (and the first of each other make
// of node); of everything that repeats, at every level, the first is shown and what follows is
// counted: "× 31 more nodes". So a picture of 16,384 GPUs has as many boxes as one of 64.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/graph.hpp"

namespace collsim {

/// A box: a device, or several things together.
struct OutlineItem {
  std::string name;                ///< "gpu0", "node1", "× 30 more nodes"
  std::string note;                ///< what is inside: "8 GPUs, 8 NICs"; of a device empty
  std::optional<DeviceKind> kind;  ///< of a device, or of several of one kind
  std::uint64_t copies = 1;        ///< how many things of a kind stand together
};

/// What encloses boxes: a node, a group of nodes with the switches that join them, the whole.
struct OutlineBlock {
  std::string title;  ///< empty: none is shown
  bool is_node = false;
  std::vector<OutlineBlock> blocks;
  std::vector<std::size_t> boxes;  ///< of whole nodes and groups, beside the blocks
  /// Devices: of a node all, of a group its switches, by distance from what is inside.
  std::vector<std::vector<std::size_t>> devices;
};

/// All links of a kind between two boxes.
struct OutlineLine {
  std::size_t from = 0;  ///< box; the one with the lower number, unless all links go the other way
  std::size_t to = 0;
  LinkKind kind = LinkKind::Generic;
  std::uint64_t links = 0;  ///< cables, or links one way
  Bandwidth bandwidth;      ///< of each link; of unlike ones the narrowest
  double total_bps =
      0;  ///< of all of them, one direction; where several things share a box, for a pair of them
  bool one_way = false;
};

struct Outline {
  std::vector<OutlineItem> items;
  OutlineBlock whole;
  std::vector<OutlineLine> lines;
  std::size_t devices_left_out = 0;  ///< they stand together in boxes
};

enum class OutlineExtent : std::uint8_t { Readable, Whole };

/// Complexity: O(links · log links).
[[nodiscard]] Outline outline_of(const Graph& graph, OutlineExtent extent);

}  // namespace collsim
