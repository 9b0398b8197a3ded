#include "topology/quantity_text.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "tests/catch.hpp"
#include "topology/digest.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using namespace collsim::literals;

template <class Parse>
std::string refusal(Parse parse, const std::string& text) {
  try {
    static_cast<void>(parse(text));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("durations are read exactly", "[quantity_text]") {
  CHECK(parse_duration("0 ns") == 0_ps);
  CHECK(parse_duration("7 ps") == 7_ps);
  CHECK(parse_duration("230 ns") == 230'000_ps);
  CHECK(parse_duration("117.5 ns") == 117'500_ps);
  CHECK(parse_duration("1.2us") == 1'200'000_ps);
  CHECK(parse_duration("1.2 \u00B5s") == 1'200'000_ps);  // micro sign
  CHECK(parse_duration("1.2 \u03BCs") == 1'200'000_ps);  // Greek mu
  CHECK(parse_duration("3 ms") == 3'000'000'000_ps);
  CHECK(parse_duration("0.000000000001 s") == 1_ps);
  CHECK(parse_duration("1.000 ps") == 1_ps);
  // 2^63 - 1 ps is the end of the range.
  CHECK(parse_duration("9223372036854775807 ps").count() ==
        std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("bandwidths are read exactly", "[quantity_text]") {
  CHECK(parse_bandwidth("450 GB/s") == 450_GBps);
  CHECK(parse_bandwidth("400 Gb/s") == 50_GBps);  // 8 bits a byte
  CHECK(parse_bandwidth("3.35 TB/s") == 3350_GBps);
  CHECK(parse_bandwidth("12.5GB/s") == Bandwidth::bytes_per_second(12'500'000'000));
  CHECK(parse_bandwidth("1 KB/s") == Bandwidth::bytes_per_second(1000));
  CHECK(parse_bandwidth("1 kb/s") == Bandwidth::bytes_per_second(125));
  CHECK(parse_bandwidth("2 MiB/s") == Bandwidth::bytes_per_second(2 * 1'048'576));
  // A bit per second is an eighth of 1024 units; 2^-10 B/s is one.
  CHECK(parse_bandwidth("1 b/s") == Bandwidth::from_units(128));
  CHECK(parse_bandwidth("0.0009765625 B/s") == Bandwidth::from_units(1));
}

TEST_CASE("sizes are read exactly", "[quantity_text]") {
  CHECK(parse_bytes("0 B") == 0_B);
  CHECK(parse_bytes("64 MiB") == 64_MiB);
  CHECK(parse_bytes("1.5 KiB") == 1536_B);
  CHECK(parse_bytes("1 GB") == 1'000'000'000_B);
  CHECK(parse_bytes("7 TiB") == 7168_GiB);
}

TEST_CASE("the command line's sizes are those of nccl-tests", "[quantity_text]") {
  CHECK(parse_size_argument("0") == 0_B);
  CHECK(parse_size_argument("8") == 8_B);
  CHECK(parse_size_argument("64K") == 64_KiB);
  CHECK(parse_size_argument("8m") == 8_MiB);
  CHECK(parse_size_argument("1G") == 1_GiB);
  CHECK(parse_size_argument("0.5M") == 512_KiB);
  CHECK(parse_size_argument("1GiB") == 1_GiB);
  CHECK(parse_size_argument("1 GB") == 1'000'000'000_B);
  CHECK(
      refusal(parse_size_argument, "8Q") ==
      "error: expected a size such as \"64M\", got \"8Q\"\n"
      "hint: unknown unit \"Q\"; units: none or B (bytes), K, M, G, KiB, MiB, GiB, TiB (powers of "
      "1024), kB, MB, GB, TB (powers of 1000)");
  CHECK(refusal(parse_size_argument, "-8") ==
        "error: expected a size such as \"64M\", got \"-8\"\nhint: a size cannot be negative");
}

TEST_CASE("what is no quantity is refused with an example and the units", "[quantity_text]") {
  const std::string units =
      "units: B/s, kB/s, MB/s, GB/s, TB/s, PB/s (bytes), KiB/s, MiB/s, GiB/s, TiB/s (powers of "
      "1024), "
      "b/s, kb/s, Mb/s, Gb/s, Tb/s (bits)";
  CHECK(refusal(parse_bandwidth, "450") ==
        "error: expected a bandwidth such as \"450 GB/s\", got \"450\"\n"
        "hint: a number needs a unit; " +
            units);
  CHECK(refusal(parse_bandwidth, "450 GBps") ==
        "error: expected a bandwidth such as \"450 GB/s\", got \"450 GBps\"\n"
        "hint: unknown unit \"GBps\", did you mean \"GB/s\"?; " +
            units);
  CHECK(refusal(parse_bandwidth, "450 Gb/S") ==
        "error: expected a bandwidth such as \"450 GB/s\", got \"450 Gb/S\"\n"
        "hint: unknown unit \"Gb/S\", did you mean \"Gb/s\"?; " +
            units);
  for (const char* text : {"100 Gbit/s", "100 Gbits/s", "100 Gbps", "100gb/s"}) {
    CAPTURE(text);
    CHECK_THAT(refusal(parse_bandwidth, text),
               Catch::Matchers::ContainsSubstring("did you mean \"Gb/s\"?"));
  }
  CHECK(refusal(parse_duration, "fast") ==
        "error: expected a duration such as \"1.2 us\", got \"fast\"");
  CHECK(refusal(parse_duration, "") == "error: expected a duration such as \"1.2 us\", got \"\"");
  CHECK(refusal(parse_duration, "-1 us") ==
        "error: expected a duration such as \"1.2 us\", got \"-1 us\"\n"
        "hint: a duration cannot be negative");
  CHECK(refusal(parse_duration, "0") ==
        "error: expected a duration such as \"1.2 us\", got \"0\"\n"
        "hint: a number needs a unit; units: ps, ns, us, ms, s");
  for (const char* text : {"1e3 ns", "1. ns", ".5 ns", "+1 ns", "1,5 ns", " 1 ns", "1 ns ", "1\tns",
                           "0x10 ns", "1 NS", "inf s", "1 2 ns"}) {
    CAPTURE(text);
    CHECK(refusal(parse_duration, text).starts_with("error: expected a duration such as"));
  }
}

TEST_CASE("what cannot be kept exactly is refused", "[quantity_text]") {
  CHECK(refusal(parse_duration, "0.5 ps") ==
        "error: \"0.5 ps\" is too fine: a duration is a multiple of 1 ps");
  CHECK(refusal(parse_bandwidth, "0.1 B/s") ==
        "error: \"0.1 B/s\" is too fine: a bandwidth is a multiple of 2^-10 B/s");
  CHECK(refusal(parse_bytes, "0.3 KiB") ==
        "error: \"0.3 KiB\" is too fine: a size is a multiple of 1 B");
  CHECK(refusal(parse_duration, "9223372036854775808 ps") ==
        "error: \"9223372036854775808 ps\" is too large: a duration is less than 106 days");
  CHECK(refusal(parse_bandwidth, "10 PB/s") ==
        "error: \"10 PB/s\" is too large: a bandwidth is less than 9 PB/s");
  CHECK(refusal(parse_bytes, "8388608 TiB") ==
        "error: \"8388608 TiB\" is too large: a size is less than 8 EiB");
  // 30 digits are the most that are read; times the largest unit they exceed 128 bits.
  CHECK(refusal(parse_bandwidth, "999999999999999999999999999999 PB/s") ==
        "error: \"999999999999999999999999999999 PB/s\" is too large: a bandwidth is less than 9 "
        "PB/s");
  CHECK(refusal(parse_bytes, "0.0000000000000000000000000000000 B") ==
        "error: \"0.0000000000000000000000000000000 B\" has more than 30 digits");
}

TEST_CASE("quantities are printed in the largest unit that fits", "[quantity_text]") {
  CHECK(to_text(0_ps) == "0 ns");
  CHECK(to_text(7_ps) == "7 ps");
  CHECK(to_text(117'500_ps) == "117.5 ns");
  CHECK(to_text(1'200'000_ps) == "1.2 us");
  CHECK(to_text(Duration(-1'500)) == "-1.5 ns");
  CHECK(to_text(450_GBps) == "450 GB/s");
  CHECK(to_text(Bandwidth::bytes_per_second(12'500'000'000)) == "12.5 GB/s");
  CHECK(to_text(3350_GBps) == "3.35 TB/s");
  CHECK(to_text(Bandwidth()) == "0 B/s");
  CHECK(to_text(Bandwidth::from_units(1)) == "0.0009765625 B/s");
  CHECK(to_text(0_B) == "0 B");
  CHECK(to_text(64_MiB) == "64 MiB");
  CHECK(to_text(1536_KiB) == "1536 KiB");
  CHECK(to_text(1000_B) == "1 kB");
  CHECK(to_text(1001_B) == "1001 B");
  CHECK(to_text(Bytes(80'000'000'000)) == "80 GB");
}

TEST_CASE("reading what was printed gives the same quantity", "[quantity_text]") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    // All magnitudes, not only the large ones.
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    CAPTURE(value);
    CHECK(parse_duration(to_text(Duration(value))) == Duration(value));
    CHECK(parse_bytes(to_text(Bytes(value))) == Bytes(value));
    CHECK(parse_bandwidth(to_text(Bandwidth::from_units(value))) == Bandwidth::from_units(value));
  }
}

TEST_CASE("a digest is FNV-1a of the fields with 0xFF behind each", "[digest]") {
  // The offset basis.
  CHECK(Digest().hex() == "6c62272e07bb014262b821756295c58d");
  Digest joined;
  joined.add("ab");
  joined.add("c");
  Digest split;
  split.add("a");
  split.add("bc");
  CHECK(joined.hex() != split.hex());
  // (basis ^ 0xFF) · (2^88 + 0x13b) mod 2^128, computed with integers of any size:
  //   hex(((0x6c62272e07bb014262b821756295c58d ^ 0xff) * (2**88 + 0x13b)) % 2**128) in Python.
  Digest empty_field;
  empty_field.add("");
  CHECK(empty_field.hex() == "d228cb68f51a8caf78912b704e49f346");
}

TEST_CASE("text for messages has no control characters and ends between characters", "[error]") {
  CHECK(printable("a\x1b[1m\n\x7f") == "a?[1m??");
  CHECK(printable("\xC2\x9B") == "?");  // U+009B, an escape sequence in one character
  CHECK(printable("\xC2\xB5s") == "\xC2\xB5s");
  CHECK(printable("abc", 2) == "ab...");
  CHECK(printable("a\xC2\xB5", 2) == "a...");
  // No UTF-8: a stray byte, a cut character, an overlong one, a surrogate, beyond U+10FFFF.
  CHECK(printable("a\xFFz") == "a?z");
  CHECK(printable("\xE2\x82") == "??");
  CHECK(printable("\xC0\x80") == "??");
  CHECK(printable("\xED\xA0\x80") == "???");
  CHECK(printable("\xF4\x90\x80\x80") == "????");
  CHECK(printable("\xF0\x9F\x98\x80") == "\xF0\x9F\x98\x80");
  CHECK(in_quotes("x") == "\"x\"");
}

}  // namespace collsim
