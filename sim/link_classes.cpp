#include "sim/link_classes.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim::detail {

namespace {

bool are_equal_parts(const RouteHop& a, const RouteHop& b) {
  return std::uint64_t{a.share_numerator} * b.share_denominator ==
         std::uint64_t{b.share_numerator} * a.share_denominator;
}

}  // namespace

// A flow that crosses h of the |A| links of a class in one part is one of `flows`: each of those links
// carries flows · h / |A| of them in that part.
CrowdedRoute LinkClasses::folded(const Route& route, std::uint32_t flows) const {
  CrowdedRoute folded;
  folded.route.latency = route.latency;
  std::vector<std::uint64_t> crossings;
  for (const RouteHop& hop : route.hops) {
    const LinkId link(representative(hop.link.value()));
    const auto known = std::ranges::find_if(folded.route.hops, [&](const RouteHop& other) {
      return other.link == link && are_equal_parts(other, hop);
    });
    if (known == folded.route.hops.end()) {
      folded.route.hops.push_back({link, hop.share_numerator, hop.share_denominator});
      crossings.push_back(1);
    } else {
      ++crossings[static_cast<std::size_t>(known - folded.route.hops.begin())];
    }
  }
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    const std::uint64_t all = crossings[i] * flows;
    const std::uint32_t links = size(folded.route.hops[i].link.value());
    COLLSIM_ENSURE(all % links == 0, "flows of a class do not cross all links of another alike");
    folded.crowds.push_back(static_cast<std::uint32_t>(all / links));
  }
  return folded;
}

}  // namespace collsim::detail
