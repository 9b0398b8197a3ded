#include "algorithms/program_wiring.hpp"

namespace collsim::detail {

namespace {

std::uint64_t key_of(LaneId lane, std::uint32_t slot) {
  return (std::uint64_t{lane.value()} << 32U) | slot;
}

std::string text_of(const Connection& end) {
  return "slot " + std::to_string(end.slot) + " of rank " + std::to_string(end.peer.value()) +
         ", lane " + std::to_string(end.lane);
}

}  // namespace

std::string text_of(const StepPlace& place) {
  return "rank " + std::to_string(place.rank.value()) + ", lane " + std::to_string(place.lane) +
         ", step " + std::to_string(place.step);
}

BrokenProgram::BrokenProgram(CheckFailure::Kind kind, const StepPlace& at, const std::string& what)
    : failure{kind, at.rank, at.lane, at.step, text_of(at) + ", " + what} {}

ProgramWiring::ProgramWiring(const Program& program) : program_(program), lane_begin_{0} {
  for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
    const std::uint32_t count = program.lane_count(Rank(rank));
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      const auto key = std::pair(Rank(rank), program.lane(Rank(rank), lane).group);
      const GroupId next(group_ids_.size());
      const GroupId group = group_ids_.try_emplace(key, next).first->second;
      lanes_.push_back({Rank(rank), lane, group, program.step_count(Rank(rank), lane)});
    }
    lane_begin_.push_back(lanes_.size());
  }
}

std::vector<LaneId> ProgramWiring::lanes_of(Rank rank) const {
  std::vector<LaneId> ids;
  for (std::size_t i = lane_begin_[rank.index()]; i < lane_begin_[rank.index() + 1]; ++i) {
    ids.emplace_back(i);
  }
  return ids;
}

std::string ProgramWiring::name_of(LaneId id) const {
  return "rank " + std::to_string(lane(id).rank.value()) + ", lane " +
         std::to_string(lane(id).lane);
}

ConnectionId ProgramWiring::receives(LaneId id, std::uint32_t slot, const StepPlace& place) {
  const auto known = receive_slots_.find(key_of(id, slot));
  if (known != receive_slots_.end()) {
    return known->second;
  }
  const Connection here{place.rank, place.lane, slot};
  const Connection there = program_.receive_from(place.rank, place.lane, slot);
  const LaneId peer = peer_lane(there, place);
  const Connection back = program_.send_to(there.peer, there.lane, there.slot);
  if (back != here) {
    throw BrokenProgram(CheckFailure::Kind::BadProgram, place,
                        "receives from " + text_of(there) + ", which sends to " + text_of(back));
  }
  return open(peer, there.slot, id, slot);
}

ConnectionId ProgramWiring::sends(LaneId id, std::uint32_t slot, const StepPlace& place) {
  const auto known = send_slots_.find(key_of(id, slot));
  if (known != send_slots_.end()) {
    return known->second;
  }
  const Connection here{place.rank, place.lane, slot};
  const Connection there = program_.send_to(place.rank, place.lane, slot);
  const LaneId peer = peer_lane(there, place);
  const Connection back = program_.receive_from(there.peer, there.lane, there.slot);
  if (back != here) {
    throw BrokenProgram(CheckFailure::Kind::BadProgram, place,
                        "sends to " + text_of(there) + ", which receives from " + text_of(back));
  }
  return open(id, slot, peer, there.slot);
}

ConnectionId ProgramWiring::open(LaneId sender, std::uint32_t send_slot, LaneId receiver,
                                 std::uint32_t receive_slot) {
  const ConnectionId id(connections_.size());
  const LaneEntry& from = lane(sender);
  connections_.push_back({sender, receiver, program_.lane(from.rank, from.lane).fifo_depth});
  send_slots_.emplace(key_of(sender, send_slot), id);
  receive_slots_.emplace(key_of(receiver, receive_slot), id);
  return id;
}

LaneId ProgramWiring::peer_lane(const Connection& peer, const StepPlace& place) const {
  const std::size_t rank = peer.peer.index();
  const bool exists =
      rank + 1 < lane_begin_.size() && peer.lane < lane_begin_[rank + 1] - lane_begin_[rank];
  if (!exists || peer.peer == place.rank) {
    throw BrokenProgram(CheckFailure::Kind::BadProgram, place,
                        "is connected to " + text_of(peer) +
                            (exists ? ", which is its own rank" : ", which does not exist"));
  }
  return LaneId(lane_begin_[rank] + peer.lane);
}

LaneId ProgramWiring::dependency(const StepRef& after, const StepPlace& place) const {
  const std::size_t begin = lane_begin_[place.rank.index()];
  const std::size_t end = lane_begin_[place.rank.index() + 1];
  if (after.lane >= end - begin || after.index >= lanes_[begin + after.lane].steps) {
    throw BrokenProgram(CheckFailure::Kind::BadProgram, place,
                        "comes after step " + std::to_string(after.index) + " of lane " +
                            std::to_string(after.lane) + ", which does not exist");
  }
  return LaneId(begin + after.lane);
}

GroupId ProgramWiring::joined_group(std::uint32_t group, const StepPlace& place) const {
  const auto entry = group_ids_.find({place.rank, group});
  if (entry == group_ids_.end()) {
    throw BrokenProgram(CheckFailure::Kind::BadProgram, place,
                        "joins group " + std::to_string(group) + ", which has no lane");
  }
  return entry->second;
}

}  // namespace collsim::detail
