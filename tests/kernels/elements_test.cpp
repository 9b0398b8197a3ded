#include "kernels/elements.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/catch.hpp"

using namespace collsim::kernels;

namespace {

/// What the bits mean by the definition of a binary format: (-1)^s * 2^(e-bias) * 1.m, or 2^(1-bias) * 0.m for e = 0.
double meaning(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const double sign = (bits >> (exponent_bits + mantissa_bits)) != 0 ? -1 : 1;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

template <class Small>
Small of_bits(unsigned bits) {
  Small small;
  small.bits = static_cast<decltype(small.bits)>(bits);
  return small;
}

/// Every finite value has its meaning and survives the way to float and back; halfway between neighbours (which float
/// has exactly) rounds to the even one, and a little less or more to the nearer one.
template <class Small>
void check_finite(unsigned largest, int exponent_bits, int mantissa_bits) {
  int wrong = 0;
  for (unsigned bits = 0; bits <= largest; ++bits) {
    const auto value = static_cast<float>(of_bits<Small>(bits));
    wrong += static_cast<double>(value) != meaning(bits, exponent_bits, mantissa_bits);
    wrong += Small(value).bits != bits;
    wrong += Small(-value).bits != (bits | (1U << (exponent_bits + mantissa_bits)));
    if (bits == largest) {
      break;
    }
    const auto next = static_cast<float>(of_bits<Small>(bits + 1));
    const float halfway = value + (next - value) / 2;
    wrong += Small(halfway).bits != (bits % 2 == 0 ? bits : bits + 1);
    wrong += Small(std::nextafter(halfway, 0.0F)).bits != bits;
    wrong += Small(std::nextafter(halfway, next)).bits != bits + 1;
  }
  CHECK(wrong == 0);
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("halves are IEEE 754's") {
  check_finite<Half>(0x7bff, 5, 10);
  CHECK(static_cast<float>(of_bits<Half>(0x3c00)) == 1.0F);
  CHECK(static_cast<float>(of_bits<Half>(0x7bff)) == 65504.0F);
  CHECK(Half(65519.0F).bits == 0x7bff);
  CHECK(Half(65520.0F).bits == 0x7c00);  // halfway to 65536, which is not finite
  CHECK(Half(infinity).bits == 0x7c00);
  CHECK(Half(-1e30F).bits == 0xfc00);
  CHECK(std::isinf(static_cast<float>(of_bits<Half>(0x7c00))));
  CHECK(std::isnan(static_cast<float>(of_bits<Half>(0x7c01))));
  CHECK(std::isnan(static_cast<float>(Half(quiet_nan))));
}

TEST_CASE("bfloat16 is the upper half of a float") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x7f80; ++bits) {
    const auto value = static_cast<float>(of_bits<Bfloat16>(bits));
    wrong += std::bit_cast<std::uint32_t>(value) != bits << 16U;
    wrong += Bfloat16(value).bits != bits;
    // Halfway to the next is bit 15 of the float.
    wrong += Bfloat16(std::bit_cast<float>((bits << 16U) | 0x8000U)).bits != bits + bits % 2;
    wrong += Bfloat16(std::bit_cast<float>((bits << 16U) | 0x8001U)).bits != bits + 1;
    wrong += Bfloat16(std::bit_cast<float>((bits << 16U) | 0x7fffU)).bits != bits;
  }
  CHECK(wrong == 0);
  CHECK(Bfloat16(infinity).bits == 0x7f80);
  CHECK(std::isnan(static_cast<float>(Bfloat16(quiet_nan))));
  CHECK(std::isinf(static_cast<float>(of_bits<Bfloat16>(0xff80))));
}

TEST_CASE("8-bit floats stay at their largest value") {
  check_finite<Fp8E4m3>(0x7e, 4, 3);
  check_finite<Fp8E5m2>(0x7b, 5, 2);
  CHECK(static_cast<float>(of_bits<Fp8E4m3>(0x7e)) == 448.0F);
  CHECK(static_cast<float>(of_bits<Fp8E5m2>(0x7b)) == 57344.0F);
  CHECK(Fp8E4m3(1e9F).bits == 0x7e);
  CHECK(Fp8E4m3(-infinity).bits == 0xfe);
  CHECK(Fp8E5m2(infinity).bits == 0x7b);
  CHECK(std::isnan(static_cast<float>(of_bits<Fp8E4m3>(0x7f))));
  CHECK(std::isnan(static_cast<float>(Fp8E4m3(quiet_nan))));
  CHECK(std::isnan(static_cast<float>(Fp8E5m2(quiet_nan))));
  CHECK(std::isinf(static_cast<float>(of_bits<Fp8E5m2>(0x7c))));
}
