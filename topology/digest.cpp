#include "topology/digest.hpp"

namespace collsim {

void Digest::add_byte(unsigned char byte) {
  constexpr U128 prime = (U128{1} << 88) | 0x13bU;
  state_ = (state_ ^ byte) * prime;
}

void Digest::add(std::string_view field) {
  for (const char c : field) {
    add_byte(static_cast<unsigned char>(c));
  }
  // Not part of UTF-8, so no field contains it.
  constexpr unsigned char end_of_field = 0xFF;
  add_byte(end_of_field);
}

std::string Digest::hex() const {
  std::string text;
  for (int shift = 124; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[static_cast<unsigned>(state_ >> shift) & 0xFU];
  }
  return text;
}

}  // namespace collsim
