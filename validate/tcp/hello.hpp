#pragma once

// What goes over a connection while a group comes together; structs go as they lie in memory, between machines with the same
// byte order (the magic tells).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace collsim {

/// Of the protocol, version included: "COLLSIM1" where the first byte is the lowest.
inline constexpr std::uint64_t tcp_magic = 0x314d49534c4c4f43U;
inline constexpr std::size_t longest_secret = 255;

template <std::size_t Size>
using Text = std::array<char, Size>;

/// What does not fit is cut off.
template <std::size_t Size>
Text<Size> packed(std::string_view text) {
  Text<Size> result{};
  std::copy_n(text.begin(), std::min(text.size(), Size - 1), result.begin());
  return result;
}
template <std::size_t Size>
std::string unpacked(const Text<Size>& text) {
  return {text.begin(), std::find(text.begin(), text.end() - 1, '\0')};
}

/// How a rank is reached.
struct Address {
  Text<48> host{};
  std::uint64_t port = 0;
};

/// The first thing that a rank says.
struct Hello {
  std::uint64_t magic = tcp_magic;
  Text<longest_secret + 1> secret{};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t digest = 0;
  Address address;  ///< where the sender listens
};

struct Answer {
  std::uint64_t magic = tcp_magic;
  Text<128> refusal{};  ///< empty: welcome
};

}  // namespace collsim
