#pragma once
// Numbers in hexadecimal digits, as bus ids and guids have them.

#include <cstddef>
#include <cstdint>
#include <string>

namespace collsim::nccl {

/// The lowest digits of a number, as many as asked for, zeros in front.
[[nodiscard]] inline std::string hex(std::uint32_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4U) {
    text[i] = "0123456789abcdef"[number & 0xFU];
  }
  return text;
}

}  // namespace collsim::nccl
