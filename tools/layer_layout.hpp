#pragma once

// Where things in layers stand beside each other, so that lines between neighbouring layers are short
// and cross little: the second half of Sugiyama's method. Lines that skip a layer need a narrow element
// in it, so that there is room for them.
//
// Order within a layer: by the mean place of what an element is joined with, layer by layer, there and
// back. Coordinates: the widest layer stands evenly; from there, each layer as near as can be (least
// squares) to the mean of its neighbours on that side without overlapping.
// Source: Sugiyama, Tagawa, Toda 1981; for the least squares, pool adjacent violators (Barlow 1972).

#include <cstddef>
#include <vector>

namespace collsim {

struct LayerElement {
  double width = 0;
  std::vector<std::size_t> below;  ///< elements of the layer below that it is joined with
  double x = 0;                    ///< of its middle; given beforehand in a fixed first layer
  bool keeps_order = false;        ///< stands to others of its layer that do so as given
};

/// Elements by number, and the layers from the bottom with their numbers in order.
struct LayeredElements {
  std::vector<LayerElement> elements;
  std::vector<std::vector<std::size_t>> layers;
  double gap = 0;            ///< between neighbours, at least
  bool first_fixed = false;  ///< whether the first layer's coordinates and order are given
};

/// Orders the layers and sets every x.
void place_layers(LayeredElements& layered);

/// The coordinates nearest to the wished ones (least squares) that are at least `distance[i]` apart
/// between i and i + 1. Complexity: O(n).
[[nodiscard]] std::vector<double> separated(const std::vector<double>& wished,
                                            const std::vector<double>& distance);

}  // namespace collsim
