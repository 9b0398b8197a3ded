#pragma once

// What a run says about how it was made smaller: see fold.hpp.

#include <cstdint>
#include <string>

#include "topology/units.hpp"

namespace collsim {

/// Whether lanes that do the same at the same times are simulated once.
enum class FoldMode : std::uint8_t {
  Auto,     ///< where it can be shown that they do
  Off,      ///< each for itself
  Require,  ///< InputError where nothing can be folded
};

/// How many there are, and how many of them are not alike.
struct FoldedCount {
  std::uint64_t all = 0;
  std::uint64_t classes = 0;
};

/// How a run was folded.
struct Folding {
  bool folded = false;
  bool evaluated = false;  ///< without events, since no two lanes share a link (see unshared.hpp)
  FoldedCount ranks;
  FoldedCount lanes;
  FoldedCount links;   ///< that carry something
  std::string reason;  ///< why not; empty where it was
  std::string remedy;  ///< what would help, if anything does: "--set fabric.routing=static"
  // Of a steady state (see steady_state.hpp):
  std::uint64_t periods_skipped = 0;
  Duration period{};
};

}  // namespace collsim
