#pragma once
// NCCL's grouped sends and receives as a program: all_to_all, gather, scatter, send_recv.
//
// For every peer a rank has a round; what goes to the peer is cut in parts, each on a channel, and
// each part is moved chunk by chunk. A channel serves its rounds in batches of eight: the works of a
// batch have lanes of their own, and a batch begins when the one before is complete (a join of the
// channel's lanes). A rank's own block is a local copy. See send_recv_plan.hpp and
// send_recv_works.hpp.

#include <memory>

#include "algorithms/nccl/send_recv_plan.hpp"
#include "algorithms/nccl/send_recv_works.hpp"
#include "algorithms/program.hpp"

namespace collsim::nccl {

/// The program "nccl-p2p". With joined channels, the data are those of one channel of each sort;
/// time is the same where the routes of connections do not depend on the channel.
/// Complexity: step O(log batches), connections O(log ranks).
[[nodiscard]] std::unique_ptr<Program> build_send_recv_program(const SendRecvPlan& plan,
                                                               EqualChannels equal);

}  // namespace collsim::nccl
