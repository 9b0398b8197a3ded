#pragma once

// What the executor keeps per operation, rank and lane while the operation runs. Packed: direct
// algorithms over 1,024 ranks have a million lanes. Internal to the executor.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "algorithms/program.hpp"
#include "sim/connection_route.hpp"
#include "sim/critical_path.hpp"
#include "sim/fifo_counts.hpp"
#include "sim/folded_program.hpp"
#include "sim/joins.hpp"
#include "sim/mailbox.hpp"
#include "sim/messages.hpp"
#include "sim/step_costs.hpp"
#include "sim/workload.hpp"

namespace collsim::detail {

/// What a lane's current step waits for, in the order in which it does.
enum class LaneStage : std::uint8_t {
  Idle,          ///< its rank has not started the operation
  Dependencies,  ///< `after` and `join`
  Messages,      ///< one of each receive slot
  Credit,        ///< a free FIFO slot at each peer
  Held,          ///< the end of what it costs before bytes move
  Copying,       ///< the end of a local copy
  Sending,       ///< the last byte of each send
  Done,          ///< no step is left
};

/// Where a send slot leads, looked up once and kept while the lane uses the slot.
struct SendTarget {
  std::uint32_t slot = no_index;
  PathId path;
  std::uint32_t lane = 0;  ///< the peer's, as a position among the operation's lanes
  std::uint32_t receive_slot = 0;
};

/// How the bytes of a send left its lane.
struct SendEnd {
  Duration wire{};
  Duration capped{};
  Duration elapsed{};
  std::uint32_t wire_at = 0;  ///< positions of attribution
  std::uint32_t sharing_at = 0;
};

struct LaneState {
  std::uint64_t step = 0;
  std::uint64_t steps = 0;
  std::uint64_t phase = 0;        ///< of the current step
  std::uint64_t after_index = 0;  ///< the step waited for, while in a list of `first_dependent`
  Bytes bytes;                    ///< of each message of the current step
  SlotRange receives;
  SlotRange sends;

  Time reached;      ///< when the previous step was complete
  Time clock;        ///< what its attribution vector sums to: the end of what it waited for last
  Time started;      ///< when its sends started
  Time last_left;    ///< of the step's sends: when the one that left last left
  SendEnd last_end;  ///< of that send
  std::uint32_t last_slot = no_index;    ///< of that send (the lowest of equals)
  std::uint32_t waited_lane = no_index;  ///< whose end the clock is, where it is another lane's

  Rank rank;
  std::uint32_t group = 0;
  std::uint32_t fifo_depth = no_index;  ///< no_index: unlimited
  std::uint32_t missing = 0;            ///< receive slots without a message
  std::uint32_t sending = 0;            ///< sends whose last byte has not left
  std::uint32_t threads = 0;
  std::uint32_t channel = 0;  ///< read where there is a protocol
  std::uint32_t multiplicity = 1;

  Mailbox mailbox;
  std::uint32_t first_dependent = no_index;  ///< head of the list of lanes with `after` on this one
  std::uint32_t next_dependent = no_index;   ///< in the list of the lane that this one waits for
  std::uint32_t next_joiner = no_index;      ///< in the list of a group's waiters

  std::uint32_t first_posted = no_index;  ///< of messages that wait for the primitive's end

  SendTarget target;                      ///< the slot used first
  std::uint32_t more_targets = no_index;  ///< a block of targets for the others

  Duration work{};  ///< that the current step's bytes need at least
  LaneStage stage = LaneStage::Idle;
  std::uint8_t unmet = 0;  ///< dependencies
  WireProtocol protocol = WireProtocol::None;
  Kernel kernel = Kernel::Collective;
  // Of the current step; read where there is a protocol.
  Primitive primitive = Primitive::Nothing;
  Movement movement = Movement::Route;
  bool continues = false;
  bool posts_later = false;
  std::uint8_t own_reads = 0;  ///< spans of the own memory
  bool writes_own = false;
  bool to_scratch = false;
  CostItem held_item{};
  CostItem work_item{};
  std::uint16_t steps_at_once = 1;  ///< that the current one stands for, see slots_alike.hpp
};

static_assert(sizeof(LaneState) <= 256, "there may be millions");

/// Messages of a connection that wait for the wire, oldest first, linked by Message::later.
struct WireQueue {
  std::uint32_t first = no_index;
  std::uint32_t last = no_index;
  bool busy = false;
  Time arrival;  ///< of the last one that left the wire
};

/// Whom a step with Movement::Multimem reads from and writes to, and its tree of links.
struct GroupPath {
  SwitchPeers peers;
  PathId path;
};

/// The last few of a lane, whose steps read and write by turns.
struct GroupPaths {
  static constexpr std::size_t most = 8;
  std::vector<GroupPath> paths;
  std::size_t oldest = 0;  ///< which gives way to another, once there are `most`
};

struct RankState {
  std::uint32_t first_lane = 0;
  std::uint32_t first_group = 0;
  std::uint32_t lanes_left = 0;
  std::uint32_t last_lane = no_index;  ///< that was done last (the lowest of equals)
  Time end;                            ///< of that lane
  Bandwidth memory{};                  ///< each lane's part of its GPU's; zero: no limit
};

struct OperationState {
  OperationId id;
  const Program* program = nullptr;
  const FoldedProgram* folded = nullptr;  ///< the same, where lanes stand for others
  const Communicator* communicator = nullptr;
  std::vector<RankState> ranks;  ///< one more than there are: where the last one's lanes end
  std::vector<LaneState> lanes;
  std::vector<PhaseGroup> groups;
  std::vector<std::int64_t> vectors;   ///< attribution, one row a lane
  std::vector<LaneHistory> histories;  ///< by lane; empty unless the critical path is asked for
  /// Of lanes with a FIFO depth: messages of (lane, send slot) that were sent and not received.
  FifoCounts fifo_used;
  std::uint64_t messages = 0;  ///< sent and not received
  /// Of (lane, send slot) with messages over the network by a proxy: those on the wire go one after
  /// the other.
  std::unordered_map<std::uint64_t, WireQueue> wires;
  /// Of lanes that send through a switch to all their peers at once.
  std::unordered_map<std::uint32_t, GroupPaths> group_paths;
  std::uint32_t channels = 1;
  std::uint32_t proxies = 1;  ///< GPUs of a node by which channels leave it
  bool narrow = false;        ///< elements of one byte

  [[nodiscard]] std::uint32_t lane_number(std::uint32_t lane) const {
    return lane - ranks[lanes[lane].rank.index()].first_lane;
  }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const {
    return ranks[rank.index() + 1].first_lane - ranks[rank.index()].first_lane;
  }
  [[nodiscard]] std::uint32_t group_count(Rank rank) const {
    return ranks[rank.index() + 1].first_group - ranks[rank.index()].first_group;
  }
  [[nodiscard]] DeviceId gpu(Rank rank) const { return (*communicator)[rank.index()]; }
  /// Lanes that one stands for, itself among them.
  [[nodiscard]] std::uint32_t lanes_alike(std::uint32_t lane) const {
    return folded == nullptr ? 1 : folded->lane_class(lanes[lane].rank, lane_number(lane)).size;
  }
};

}  // namespace collsim::detail
