#include "topology/torus_routing.hpp"

#include <algorithm>
#include <cstdint>

namespace collsim::detail {

namespace {

/// The dimension in which two neighbours differ.
std::size_t dimension_between(const TorusPlace& a, const TorusPlace& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Whether `next` is one up from `here`, around the edge too. In a ring of 2 there is but one way.
bool goes_up(std::uint32_t here, std::uint32_t next) {
  return next > here ? next - here == 1 : next == 0 && here != 1;
}

}  // namespace

std::optional<std::size_t> torus_choice(const Graph& graph, DeviceId here, DeviceId destination,
                                        std::span<const LinkId> choices) {
  const std::optional<TorusPlace> from = graph.torus_place(here);
  const std::optional<TorusPlace> to = graph.torus_place(destination);
  if (!from || !to) {
    return std::nullopt;
  }
  std::size_t lowest = from->size();
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::optional<TorusPlace> next = graph.torus_place(graph.link(choices[i]).target);
    if (!next) {
      return std::nullopt;
    }
    const std::size_t dimension = dimension_between(*from, *next);
    if (dimension > lowest) {
      continue;
    }
    const bool upwards = goes_up((*from)[dimension], (*next)[dimension]);
    const bool wanted = upwards == ((*to)[dimension] % 2 == 0);
    if (dimension < lowest || wanted) {
      lowest = dimension;
      chosen = i;
    }
  }
  return chosen;
}

}  // namespace collsim::detail
