#pragma once

// Who is who in a program: its lanes, groups and connections as dense ids, checked on first use.
//
// A program names a lane by rank and number, a connection by a lane and one of its slots. What runs
// the program needs one state for each, whichever end names it.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algorithms/check.hpp"
#include "algorithms/program.hpp"

namespace collsim::detail {

using LaneId = Id<struct ProgramLaneTag>;    ///< a lane of some rank, numbered rank by rank
using GroupId = Id<struct ProgramGroupTag>;  ///< a group of lanes of some rank
/// A send slot and the receive slot at its other end; numbered in the order of first use.
using ConnectionId = Id<struct ProgramConnectionTag>;

struct StepPlace {
  Rank rank;
  std::uint32_t lane = 0;
  std::uint64_t step = 0;
};

/// "rank 1, lane 0, step 3".
[[nodiscard]] std::string text_of(const StepPlace& place);

/// Thrown where a program makes no sense, so that it cannot be run any further.
struct BrokenProgram {
  CheckFailure failure;

  /// The text says where, then `what`.
  BrokenProgram(CheckFailure::Kind kind, const StepPlace& at, const std::string& what);
};

class ProgramWiring {
 public:
  struct LaneEntry {
    Rank rank;
    std::uint32_t lane = 0;
    GroupId group;
    std::uint64_t steps = 0;
  };
  struct ConnectionEntry {
    LaneId sender;
    LaneId receiver;
    std::optional<std::uint32_t> depth;  ///< of the sender's FIFO
  };

  /// Requires: the program outlives the wiring.
  explicit ProgramWiring(const Program& program);

  [[nodiscard]] std::span<const LaneEntry> lanes() const { return lanes_; }
  [[nodiscard]] const LaneEntry& lane(LaneId id) const { return lanes_[id.index()]; }
  /// In order; empty for a rank without lanes.
  [[nodiscard]] std::vector<LaneId> lanes_of(Rank rank) const;
  [[nodiscard]] std::size_t groups() const { return group_ids_.size(); }
  [[nodiscard]] std::span<const ConnectionEntry> connections() const { return connections_; }
  [[nodiscard]] const ConnectionEntry& connection(ConnectionId id) const {
    return connections_[id.index()];
  }
  /// "rank 1, lane 0".
  [[nodiscard]] std::string name_of(LaneId id) const;

  /// The four below throw BrokenProgram where the step at `place` (of lane `id`) asks for what does
  /// not exist, or where the two ends of a connection contradict each other.
  [[nodiscard]] ConnectionId receives(LaneId id, std::uint32_t slot, const StepPlace& place);
  [[nodiscard]] ConnectionId sends(LaneId id, std::uint32_t slot, const StepPlace& place);
  [[nodiscard]] LaneId dependency(const StepRef& after, const StepPlace& place) const;
  [[nodiscard]] GroupId joined_group(std::uint32_t group, const StepPlace& place) const;

 private:
  [[nodiscard]] LaneId peer_lane(const Connection& peer, const StepPlace& place) const;
  ConnectionId open(LaneId sender, std::uint32_t send_slot, LaneId receiver,
                    std::uint32_t receive_slot);

  const Program& program_;
  std::vector<std::size_t> lane_begin_;  ///< by rank, and one past the last
  std::vector<LaneEntry> lanes_;
  std::map<std::pair<Rank, std::uint32_t>, GroupId> group_ids_;
  std::vector<ConnectionEntry> connections_;
  std::unordered_map<std::uint64_t, ConnectionId> send_slots_;  ///< by lane and slot
  std::unordered_map<std::uint64_t, ConnectionId> receive_slots_;
};

}  // namespace collsim::detail
