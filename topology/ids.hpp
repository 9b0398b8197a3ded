#pragma once

// Distinct dense indices. An id is a position in some vector; "none" is std::optional, never -1.

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace collsim {

/// A dense 32-bit index of one kind of thing; ids of different kinds do not mix.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  template <std::integral Value>
  explicit constexpr Id(Value value) : value_(static_cast<std::uint32_t>(value)) {}

  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  /// The id as a subscript.
  [[nodiscard]] constexpr std::size_t index() const { return value_; }

  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t value_ = 0;
};

using DeviceId = Id<struct DeviceTag>;  ///< position in Graph::devices()
using LinkId = Id<struct LinkTag>;      ///< position in Graph::links()
using NodeId = Id<struct NodeTag>;      ///< host number, 0 … nodes-1
using LevelId = Id<struct LevelTag>;    ///< position in Graph::levels(): "nvlink", "leaf", …
using Rank = Id<struct RankTag>;        ///< position in a communicator

}  // namespace collsim

template <class Tag>
struct std::hash<collsim::Id<Tag>> {
  std::size_t operator()(collsim::Id<Tag> id) const noexcept { return id.index(); }
};
