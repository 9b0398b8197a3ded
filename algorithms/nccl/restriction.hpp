#pragma once
// NCCL_ALGO and NCCL_PROTO: which algorithms or protocols each function may use.
//
// Grammar: entries separated by ';', each `[function:]list`; a list is words separated by ',', and a
// '^' before it means all but these. The first entry may lack the function and then stands for all;
// a later one replaces what was said of its function. Case does not matter.
//
// Source: NCCL 2.28.9, src/graph/tuning.cc; NCCL user guide, environment variables.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

/// The words a function may use, one bit each in the order of the enumeration; absent where the
/// variable says nothing of the function.
struct Restriction {
  ByFunction<std::optional<std::uint8_t>> allowed{};
  /// Some entry names a function: NCCL has that from 2.24 on.
  bool names_functions = false;

  /// Whether the variable leaves the word (its position in the enumeration) to the function.
  [[nodiscard]] bool allows(Function function, std::size_t word) const {
    return !allowed[function] || ((std::uint32_t{*allowed[function]} >> word) & 1U) != 0;
  }
};

/// Parses a value over `words`. Throws: InputError (path: `variable`) with the offending word and
/// the nearest accepted one; for an empty value or list, too.
[[nodiscard]] Restriction parse_restriction(std::string_view variable, std::string_view value,
                                            std::span<const std::string_view> words);

}  // namespace collsim::nccl
