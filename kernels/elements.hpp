#pragma once

// The elements of NCCL's data types that C++ has no type for: half, bfloat16 and the two 8-bit floats.
// They are stored as bits and computed with as float, each result rounded to nearest, ties to even.
//
// Beyond the largest finite value half and bfloat16 become infinite, as in IEEE 754; the 8-bit floats stay at
// the largest, as in CUDA's conversions (__NV_SATFINITE). All functions are free of branches that depend on
// data, so that loops over them become vector code, and compile as CUDA device code, too.
// Source: IEEE 754-2008; OCP 8-bit Floating Point Specification 1.0 (E4M3 has no infinity, one NaN).

#include <cstdint>
#include <cstring>

#include "kernels/host_device.hpp"

namespace collsim::kernels {

COLLSIM_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

COLLSIM_HOST_DEVICE inline std::uint32_t bits_of_float(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// `condition ? a : b` without a branch: compilers that must respect traps of floating point keep the branch else.
COLLSIM_HOST_DEVICE inline std::uint32_t chosen(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

/// What lies beyond the largest finite value.
enum class Beyond : std::uint8_t {
  Infinity,   ///< infinity and NaNs take the highest exponent
  Saturates,  ///< the same encoding, but conversions never give infinity
  OnlyNan,  ///< numbers take the highest exponent, too: all ones is the only NaN; conversions saturate
};

/// A binary float of a sign, `ExponentBits` and `MantissaBits`, stored in Storage.
template <class Storage, unsigned ExponentBits, unsigned MantissaBits, Beyond Excess>
struct SmallFloat {
  Storage bits = 0;

  /// Bits of the significand, the leading one among them.
  static constexpr int precision = MantissaBits + 1;

  SmallFloat() = default;
  COLLSIM_HOST_DEVICE explicit SmallFloat(float value) : bits(rounded(value)) {}

  COLLSIM_HOST_DEVICE explicit operator float() const {
    const std::uint32_t magnitude = bits & magnitude_mask;
    // The exponent counts from another bias: a product puts that right, and subnormals, too.
    const float scaled = float_of_bits(magnitude << shift) * float_of_bits((254U - bias) << 23U);
    const bool is_number =
        Excess == Beyond::OnlyNan ? magnitude < magnitude_mask : magnitude < infinity;
    const std::uint32_t special = chosen(is_number, 0U, float_infinity);
    const std::uint32_t sign = (std::uint32_t{bits} & sign_mask) << (31U - sign_position);
    return float_of_bits(bits_of_float(scaled) | special | sign);
  }

 private:
  static constexpr unsigned shift = 23U - MantissaBits;
  static constexpr unsigned sign_position = ExponentBits + MantissaBits;
  static constexpr std::uint32_t bias = (1U << (ExponentBits - 1U)) - 1U;
  static constexpr std::uint32_t sign_mask = 1U << sign_position;
  static constexpr std::uint32_t magnitude_mask = sign_mask - 1U;
  static constexpr std::uint32_t infinity = ((1U << ExponentBits) - 1U) << MantissaBits;
  static constexpr std::uint32_t largest =
      Excess == Beyond::OnlyNan ? magnitude_mask - 1U : infinity - 1U;
  static constexpr std::uint32_t float_infinity = 0xffU << 23U;

  COLLSIM_HOST_DEVICE static Storage rounded(float value) {
    const std::uint32_t all = bits_of_float(value);
    const std::uint32_t magnitude = all & 0x7fffffffU;
    // Normal: half a unit is added (less one bit where the last kept bit is even) and the rest cut off.
    const std::uint32_t odd = (magnitude >> shift) & 1U;
    const std::uint32_t normal =
        (magnitude - ((127U - bias) << 23U) + (1U << (shift - 1U)) - 1U + odd) >> shift;
    // Subnormal: added to a number whose last bit is worth our smallest, the sum is rounded by the machine.
    const std::uint32_t magic = (151U - bias - MantissaBits) << 23U;
    const std::uint32_t subnormal =
        bits_of_float(float_of_bits(magnitude) + float_of_bits(magic)) - magic;
    const bool is_normal = magnitude >= ((128U - bias) << 23U);
    const std::uint32_t finite = chosen(is_normal, normal, subnormal);
    const std::uint32_t limit = Excess == Beyond::Infinity ? infinity : largest;
    const bool too_large = is_normal && (finite > limit || magnitude >= float_infinity);
    const std::uint32_t number = chosen(too_large, limit, finite);
    const std::uint32_t result = chosen(magnitude > float_infinity, nan, number);
    return static_cast<Storage>(result | ((all >> 31U) << sign_position));
  }
  static constexpr std::uint32_t nan =
      Excess == Beyond::OnlyNan ? magnitude_mask : infinity | (1U << (MantissaBits - 1U));
};

using Half = SmallFloat<std::uint16_t, 5, 10, Beyond::Infinity>;
using Bfloat16 = SmallFloat<std::uint16_t, 8, 7, Beyond::Infinity>;
using Fp8E4m3 = SmallFloat<std::uint8_t, 4, 3, Beyond::OnlyNan>;
using Fp8E5m2 = SmallFloat<std::uint8_t, 5, 2, Beyond::Saturates>;

}  // namespace collsim::kernels
