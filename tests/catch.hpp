#pragma once

// Catch2 as the system has it: 2.13 in Debian 12, 3 in Debian 13. Tests write what both understand;
// where the names differ they use those of version 3.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // version 2 has it in the global namespace, too
#else
#define CATCH_CONFIG_FAST_COMPILE
#include <catch2/catch.hpp>
#include <string>

namespace Catch::Matchers {

// NOLINTNEXTLINE(readability-identifier-naming): the name is version 3's
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }

}  // namespace Catch::Matchers
#endif
