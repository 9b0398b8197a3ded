#pragma once

// By which wire the messages of a program travel between the blocks of GPUs.

#include <cstdint>
#include <string_view>

#include "algorithms/program.hpp"
#include "kernels/lane_tables.hpp"

namespace collsim {

/// What is asked for.
enum class LaneWire : std::uint8_t {
  AsProgram,  ///< as the program's lanes say where all say the same, else Simple
  Simple,
  Lines,      ///< LL
  WideLines,  ///< LL128
};

/// Whether the machine moves lines of LL128 whole: within a GPU, over NVLink.
enum class WideLines : std::uint8_t { Carried, Torn };

struct LaneWireChoice {
  kernels::WireKind kind = kernels::WireKind::Simple;
  std::uint64_t replaced_lanes = 0;  ///< that say LL128 and run as LL
};

/// Throws: InputError("--wire") where LL128 is asked for and lines would be torn.
[[nodiscard]] LaneWireChoice choose_wire(const Program& program, LaneWire wire, WideLines wide);

/// "Simple", "LL", "LL128".
[[nodiscard]] std::string_view name_of(kernels::WireKind kind);

}  // namespace collsim
