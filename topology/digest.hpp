#pragma once

// A stable fingerprint of text: equal inputs have equal digests on every machine and in every
// release. FNV-1a with 128 bits: it tells inputs apart that differ by accident; it is no protection
// against somebody who looks for a collision.
//
// Source: Fowler, Noll, Vo; draft-eastlake-fnv, offset basis and prime of the 128-bit variant.

#include <string>
#include <string_view>

#include "topology/units.hpp"

namespace collsim {

class Digest {
 public:
  /// Adds the characters of a field and a mark of its end, so that ("ab", "c") and ("a", "bc")
  /// differ.
  void add(std::string_view field);
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  void add_byte(unsigned char byte);

  U128 state_ = (U128{0x6c62272e07bb0142U} << 64) | 0x62b821756295c58dU;
};

}  // namespace collsim
