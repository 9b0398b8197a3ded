#pragma once

// Quantities as people write them: "1.2 us", "450 GB/s", "64 MiB".
//
// A quantity is a decimal number and a unit, with or without a space between. The conversion is
// exact: what is not a whole number of picoseconds, bytes or 2^-10 B/s is refused, never rounded,
// and so is a number without a unit. GB is 10^9 bytes, GiB 2^30, b a bit, B a byte. There are no
// signs and no exponents. Printing is exact too: parse(to_text(x)) == x.

#include <string>
#include <string_view>

#include "topology/units.hpp"

namespace collsim {

/// Units: ps, ns, us (or µs), ms, s.
/// Throws: InputError that shows an example, without a path, if the text is anything else.
[[nodiscard]] Duration parse_duration(std::string_view text);

/// Units: B/s, kB/s (or KB/s), MB/s, GB/s, TB/s, PB/s; KiB/s, MiB/s, GiB/s, TiB/s; b/s, kb/s (or
/// Kb/s), Mb/s, Gb/s, Tb/s. Throws: as parse_duration.
[[nodiscard]] Bandwidth parse_bandwidth(std::string_view text);

/// Units: B, kB (or KB), MB, GB, TB; KiB, MiB, GiB, TiB. Throws: as parse_duration.
[[nodiscard]] Bytes parse_bytes(std::string_view text);

/// A size as the command line takes it: like nccl-tests a bare number is bytes, and K, M, G (in
/// either case) are powers of 1024; besides these, the units of parse_bytes. "8", "64K", "1.5M".
/// Throws: as parse_duration.
[[nodiscard]] Bytes parse_size_argument(std::string_view text);

/// The value in the largest unit in which it is at least 1: "118 ns", "1.2 us", "0 ns".
[[nodiscard]] std::string to_text(Duration duration);
/// The value in the largest decimal unit in which it is at least 1: "450 GB/s", "12.5 GB/s".
[[nodiscard]] std::string to_text(Bandwidth bandwidth);
/// The value in the largest unit that divides it: "64 MiB", "1536 KiB", "80 GB", "1001 B".
[[nodiscard]] std::string to_text(Bytes bytes);

}  // namespace collsim
