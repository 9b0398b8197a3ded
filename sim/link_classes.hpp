#pragma once

// Links that are alike in a run, and what a route comes to where one link stands for all of its class.
// See fold.hpp. Internal to the executor.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/messages.hpp"
#include "topology/routing.hpp"

namespace collsim::detail {

/// A route over links that stand for their classes.
struct CrowdedRoute {
  Route route;
  /// By hop: how many flows cross the link for each that is simulated; empty: one each.
  std::vector<std::uint32_t> crowds;
};

class LinkClasses {
 public:
  /// Of so many links and, behind them, as many other things as there are devices: the proxies of GPUs.
  LinkClasses(std::size_t links, std::size_t devices)
      : links_(links), class_of_(links + devices, no_index) {}

  /// Things are added in ascending order.
  void add(std::uint32_t thing, std::uint32_t to_class) {
    class_of_[thing] = to_class;
    if (to_class >= size_.size()) {
      size_.resize(std::size_t{to_class} + 1);
      first_.resize(size_.size(), no_index);
    }
    if (size_[to_class]++ == 0) {
      first_[to_class] = thing;
    }
  }
  [[nodiscard]] std::uint32_t proxy(DeviceId gpu) const {
    return static_cast<std::uint32_t>(links_) + gpu.value();
  }
  /// no_index: nobody uses it.
  [[nodiscard]] std::uint32_t class_of(std::uint32_t thing) const { return class_of_[thing]; }
  /// The lowest of its class.
  [[nodiscard]] std::uint32_t representative(std::uint32_t thing) const {
    return first_[class_of_[thing]];
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t thing) const { return size_[class_of_[thing]]; }

  /// The route of `flows` equal flows, one of which it is of. Where it crosses links of a class in
  /// different parts, the one that stands for them stands in it once for each part.
  [[nodiscard]] CrowdedRoute folded(const Route& route, std::uint32_t flows) const;

 private:
  std::size_t links_;
  std::vector<std::uint32_t> class_of_;
  std::vector<std::uint32_t> first_;  ///< by class
  std::vector<std::uint32_t> size_;   ///< by class
};

}  // namespace collsim::detail
