#pragma once

// Counts what crosses each link over a run: bytes, busy time, transfers at once. What the network
// models have in common about utilisation.
//
// The order of events within an instant leaves no mark: a stretch of busy time that ends where the
// next one begins adds up to the same, and the peak is taken once per instant (note_peak).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network.hpp"

namespace collsim {

class LinkUsage {
 public:
  explicit LinkUsage(std::size_t links) : links_(links), uses_(links), present_(links) {}

  /// See Network::add_resource.
  void add_resource() {
    uses_.emplace_back();
    present_.emplace_back();
  }

  void enter(LinkId link, std::uint32_t multiplicity, Time now) {
    Present& present = present_[link.index()];
    if (present.flows == 0) {
      present.since = now;
    }
    present.flows += multiplicity;
  }

  /// `fine_bytes`: of all that leave, since they entered.
  void leave(LinkId link, std::uint32_t multiplicity, U128 fine_bytes, Time now) {
    Present& present = present_[link.index()];
    present.flows -= multiplicity;
    uses_[link.index()].fine_bytes += fine_bytes;
    if (present.flows == 0) {
      uses_[link.index()].busy += now - present.since;
    }
  }

  /// To be called for links that transfers entered, after all events of an instant.
  void note_peak(LinkId link) {
    LinkUse& use = uses_[link.index()];
    use.peak_flows = std::max(use.peak_flows, flows(link));
  }

  /// Transfers on the link now.
  [[nodiscard]] std::uint32_t flows(LinkId link) const { return present_[link.index()].flows; }
  /// Of the graph's links.
  [[nodiscard]] std::span<const LinkUse> uses() const {
    return std::span<const LinkUse>(uses_).first(links_);
  }
  /// The same, with the time that links have been busy up to now.
  [[nodiscard]] std::vector<LinkUse> uses_until(Time now) const {
    std::vector<LinkUse> uses(uses_.begin(), uses_.begin() + static_cast<std::ptrdiff_t>(links_));
    for (std::size_t link = 0; link < links_; ++link) {
      if (present_[link].flows != 0) {
        uses[link].busy += now - present_[link].since;
      }
    }
    return uses;
  }

 private:
  struct Present {
    Time since;  ///< when the first of those present entered
    std::uint32_t flows = 0;
  };
  std::size_t links_;
  std::vector<LinkUse> uses_;
  std::vector<Present> present_;
};

}  // namespace collsim
