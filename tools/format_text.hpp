#pragma once

// Numbers as people read them: three or four significant digits and a unit. For tables only; JSON and
// CSV give exact integers.

#include <cstdint>
#include <string>
#include <string_view>

#include "topology/units.hpp"

namespace collsim {

/// "37.59 ms", "1.25 us", "0 s".
[[nodiscard]] std::string human_time(Duration time);
/// "1 GiB", "128 MiB", "1000 B": a binary unit where it divides, else with two decimals.
[[nodiscard]] std::string human_bytes(Bytes bytes);
/// "50 GB/s".
[[nodiscard]] std::string human_bandwidth(Bandwidth bandwidth);
/// "12.3 %".
[[nodiscard]] std::string human_percent(double fraction);
/// "1,024".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "1 row", "1,024 rows".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view what);

}  // namespace collsim
