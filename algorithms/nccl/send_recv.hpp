#pragma once
// How one send or receive is cut: its protocol, parts (one a channel) and chunks, and which channels
// the parts run on.
//
// User-registered buffers are not modelled. Source: NCCL 2.28.9, src/enqueue.cc,
// src/include/channel.h, src/include/device.h; from 2.29 on NCCL 2.29.7.

#include <cstdint>

#include "algorithms/nccl/channels.hpp"
#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

enum class PeerIs : std::uint8_t { Local, Remote };

struct SendRecvShape {
  Protocol protocol{Protocol::Simple};  ///< LL or Simple
  std::int64_t chunk{0};                ///< bytes of data
  int parts{1};
  std::int64_t part{0};  ///< bytes of each part but the last

  bool operator==(const SendRecvShape&) const = default;
};

/// Bytes of a slot of a Simple send or receive.
[[nodiscard]] std::int64_t send_recv_slot(const TuningInput& input);

/// The shape of a send or receive of so many bytes (0 or more) to another rank.
[[nodiscard]] SendRecvShape send_recv_shape(const TuningInput& input, const Channels& channels,
                                            std::int64_t bytes, PeerIs peer);

/// The channel of a part in a round of the schedule (see p2p_schedule.hpp).
[[nodiscard]] int send_recv_channel(const TuningInput& input, const Channels& channels, int round,
                                    int part);

/// A chunk size as it survives NCCL's 8 bits: the four leading bits of the number.
[[nodiscard]] std::int64_t eight_bit_float(std::int64_t value);

}  // namespace collsim::nccl
