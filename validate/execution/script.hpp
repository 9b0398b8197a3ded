#pragma once

// What one rank of a real executor runs: the steps of its lanes, written out, with the connections numbered.
//
// A program generates its steps; a machine that is being timed should not have to. All of a rank's receive slots are
// its *in ports*, all send slots its *out ports*; a step's slot ranges become ranges of ports. Checked here, once, is
// what the data checker checks at every step: spans inside buffers and of whole elements, steps with a value, phases that never fall.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program.hpp"

namespace collsim {

/// One end of a connection.
struct Port {
  std::uint32_t lane = 0;      ///< of this rank
  Connection peer;             ///< lane and slot at the other end
  std::uint64_t messages = 0;  ///< of one call; 0: the slot is not used
  Bytes largest;               ///< of them
  /// Messages under way or arrived and not received; absent: unlimited. As the sender's lane says.
  std::optional<std::uint32_t> depth;

  /// Of the FIFO: an unlimited one has room for one call.
  [[nodiscard]] std::uint64_t slots() const {
    return depth && *depth < messages ? *depth : messages;
  }
};

struct LaneScript {
  std::uint64_t first_step = 0;
  std::uint64_t steps = 0;
  std::uint32_t group = 0;
  /// Its slots are ports from here on: slot s is port first + s.
  std::uint32_t first_in = 0;
  std::uint32_t first_out = 0;
};

struct RankScript {
  Rank rank;
  std::vector<LaneScript> lanes;
  /// Of all lanes, one after the other. Their slots are ports, their `after` counts from the lane's first.
  std::vector<Step> steps;
  std::vector<Port> in;
  std::vector<Port> out;
  std::uint32_t groups = 0;  ///< the highest number of a lane's group, plus one
  /// Steps that NVLink SHARP takes on the machine that the program is made for: emulated by copies and loops.
  std::uint64_t emulated = 0;

  /// "rank 1, lane 0".
  [[nodiscard]] std::string peer_name(const Port& port) const;
};

/// Throws: SimulationError where the program makes no sense, with rank, lane and step; InputError for equal channels
/// that were joined (no real machine can run one for several).
[[nodiscard]] RankScript script_of(const Program& program, Rank rank);

}  // namespace collsim
