#pragma once

// The parts of routes that were found lately, so that they need not be searched again: most
// connections of a rank leave by the same few links. A table in which a newer leg takes the place of an
// older one; whoever asks a Router with it gets the routes that he would get without.
//
// Kept are legs of a few links that carry all the bytes; sprayed ones are searched every time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim {

class LegMemory {
 public:
  /// `gpus`: of the cluster. The memory grows with what is kept, to at most 32 legs a GPU and 6 MiB.
  explicit LegMemory(std::size_t gpus);

  struct Key {
    DeviceId from;
    DeviceId to;
    std::uint32_t connection = 0;
    bool operator==(const Key&) const = default;
  };
  struct Leg {
    std::span<const LinkId> links;  ///< none: there is no path
    Duration latency{};
  };
  /// Absent: not known, or no longer. The links are there until the next call of keep().
  [[nodiscard]] std::optional<Leg> find(const Key& key) const;
  void keep(const Key& key, std::span<const LinkId> links, Duration latency);

  static constexpr std::size_t most_links = 6;

 private:
  struct Entry {
    Key key;
    std::uint32_t count = unused;
    Duration latency{};
    std::array<LinkId, most_links> links{};
  };
  static constexpr std::uint32_t unused = 0xffff'ffffU;

  [[nodiscard]] std::size_t place_of(const Key& key) const;
  void put(const Entry& entry);
  void grow();

  std::vector<Entry> entries_;  ///< a power of two of them
  std::size_t used_ = 0;        ///< of them
  std::size_t most_;
};

}  // namespace collsim
