#pragma once

// What this machine's memory and threads can do, measured: the figures of a cluster that stands for the host backend.
//
// Measured are single things (a copy, a wake-up) and exchanges of neighbours (send_recv), never the algorithms that are then
// predicted from them.

#include <cstdint>

#include "topology/units.hpp"

namespace collsim {

struct HostFigures {
  std::uint32_t ranks = 2;
  Bandwidth copy;      ///< of one thread, memory to memory, large blocks
  Duration wake_up{};  ///< from a ring to the thread that slept being awake
  Duration fifo{};     ///< of a message of 8 bytes between 2 ranks
  Duration
      message{};   ///< the same where all ranks send at once, taking turns where cores are fewer
  Bandwidth pair;  ///< of messages of 4 MiB between 2 ranks, each way at once
  Bandwidth all;   ///< the sum over all ranks where all send messages of 4 MiB at once
};

/// Takes a second or two. Requires: at least 2 ranks. Throws: InputError (too_few_threads).
[[nodiscard]] HostFigures measure_host(std::uint32_t ranks);

}  // namespace collsim
