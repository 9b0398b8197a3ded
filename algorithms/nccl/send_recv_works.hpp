#pragma once
// What the blocks of a rank serve: its sends and receives, dealt to channels, batches and warps.
//
// On a channel the rounds that have a part there follow each other in batches of up to eight (from
// 2.29 on of the same eight rounds); the works of a batch run side by side, each with an equal share of the block's warps, divided between
// its send and its receive (a lone send, a lone receive and a local copy have both shares). Protocol
// and warps of a lane are fixed: a place in the batch is a lane for each combination that occurs.
// Source: NCCL 2.28.9, src/device/sendrecv.h, src/enqueue.cc, src/device/prims_simple.h.

#include <cstdint>
#include <vector>

#include "algorithms/nccl/send_recv_plan.hpp"
#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

/// Whether channels that do the same on all ranks are one, with a multiplicity.
enum class EqualChannels : std::uint8_t { Apart, Joined };

enum class WorkKind : std::uint8_t { Send, Receive, Copy };

/// The part of one round's send or receive that a lane does: one batch.
struct LaneWork {
  std::uint32_t round{0};
  std::uint32_t part{0};
  std::uint32_t batch{0};
  std::uint64_t first_step{0};  ///< of the lane
};

struct WorkLane {
  WorkKind kind{WorkKind::Send};
  Protocol protocol{Protocol::Simple};
  std::uint32_t channel{0};
  std::uint32_t place{0};    ///< in the batch
  std::uint32_t threads{0};  ///< that move data
  std::uint64_t steps{0};
  std::vector<LaneWork> works{};  ///< in order of batches; a work's number is its slot
};

/// Where a part of a round is done.
struct WorkPlace {
  std::uint32_t round{0};
  std::uint32_t part{0};
  std::uint32_t lane{0};
  std::uint32_t slot{0};
};

struct RankWorks {
  std::vector<WorkLane> lanes{};
  std::vector<WorkPlace> sends{};  ///< in order of (round, part)
  std::vector<WorkPlace> receives{};
};

/// The works of all ranks. Memory: O(ranks · parts), times the groups of a node where all_to_all
/// cuts differently for other nodes.
class SendRecvWorks {
 public:
  SendRecvWorks(const SendRecvPlan& plan, EqualChannels equal);

  [[nodiscard]] const RankWorks& of(Rank rank) const { return works_[kind_of(rank)]; }
  /// Complexity: O(log(ranks · parts)).
  [[nodiscard]] const WorkPlace& place(Rank rank, WorkKind kind, std::uint32_t round,
                                       std::uint32_t part) const;
  /// Channels that this one stands for.
  [[nodiscard]] std::uint32_t multiplicity(std::uint32_t channel) const {
    return multiplicity_[channel];
  }
  /// Channels with anything to do; joined ones once.
  [[nodiscard]] std::uint32_t channels() const;
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  /// Ranks with the same number have the same works.
  [[nodiscard]] std::size_t kind_of(Rank rank) const;

  std::uint32_t ranks_;
  std::uint32_t ranks_per_kind_{1};
  std::vector<RankWorks> works_{};             ///< by kind of rank
  std::vector<std::uint32_t> multiplicity_{};  ///< by channel; 0: idle, or another stands for it
  std::uint64_t messages_{0};
};

}  // namespace collsim::nccl
