#pragma once

// A program written out by hand, step by step, for tests of what runs programs.
//
//   TableProgram program(call);
//   const auto slot = program.connect({Rank(0), 0}, {Rank(1), 0});
//   program.add(Rank(0), 0, step(8_B).from(input(0_B)).send(slot.send));
//   program.add(Rank(1), 0, step(8_B).receive(slot.receive).to(output(0_B)));

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/program.hpp"

namespace collsim::test {

/// A contiguous place in a buffer; the step says how many bytes.
struct Spot {
  Buffer buffer = Buffer::Input;
  Bytes offset;
};
inline Spot input(Bytes offset) { return {Buffer::Input, offset}; }
inline Spot output(Bytes offset) { return {Buffer::Output, offset}; }
inline Spot scratch(Bytes offset) { return {Buffer::Scratch, offset}; }

/// Composes a step, part by part.
class StepMaker {
 public:
  explicit StepMaker(Bytes bytes) { step_.bytes = bytes; }

  StepMaker& receive(std::uint32_t slot, std::uint32_t count = 1) {
    step_.receives = {slot, count};
    return *this;
  }
  StepMaker& send(std::uint32_t slot, std::uint32_t count = 1) {
    step_.sends = {slot, count};
    return *this;
  }
  StepMaker& from(Spot spot) {
    step_.source = span_at(spot);
    return *this;
  }
  /// A second local input.
  StepMaker& with(Spot spot) {
    step_.operand = span_at(spot);
    return *this;
  }
  StepMaker& to(Spot spot) {
    step_.destination = span_at(spot);
    return *this;
  }
  StepMaker& phase(std::uint64_t value) {
    step_.phase = value;
    return *this;
  }
  StepMaker& join(std::uint32_t group) {
    step_.join = group;
    return *this;
  }
  StepMaker& after(std::uint32_t lane, std::uint64_t index) {
    step_.after = StepRef{lane, index};
    return *this;
  }

  StepMaker& moves(Movement movement) {
    step_.movement = movement;
    return *this;
  }
  /// One peer more of the primitive that the step before began.
  StepMaker& posts_later() {
    step_.posts_later = true;
    return *this;
  }
  StepMaker& continues() {
    step_.continues = true;
    return *this;
  }

  operator Step() const { return step_; }  // NOLINT(google-explicit-constructor): the point of it

 private:
  [[nodiscard]] Span span_at(Spot spot) const {
    return Span::contiguous(spot.buffer, spot.offset, step_.bytes);
  }

  Step step_;
};
inline StepMaker step(Bytes bytes) { return StepMaker(bytes); }

/// Each of two ranks sends the other so many bytes, out of place.
inline CollectiveCall exchange_of_two(std::int64_t bytes = 4) {
  CollectiveCall call;
  call.kind = CollectiveKind::SendRecv;
  call.ranks = 2;
  call.count = bytes;
  call.type = DataType::Uint8;
  call.in_place = InPlace::No;
  return call;
}

/// The lanes of each rank as vectors of steps. Lanes appear when they are first named.
class TableProgram : public Program {
 public:
  struct LaneName {
    Rank rank;
    std::uint32_t lane = 0;
  };
  struct Slots {
    std::uint32_t send = 0;     ///< of the sender's lane
    std::uint32_t receive = 0;  ///< of the receiver's lane
  };

  explicit TableProgram(CollectiveCall call) : call_(call), ranks_(call.ranks) {}

  /// What lanes are that appear from here on.
  void set_lanes(const Lane& properties) { default_lane_ = properties; }

  /// A connection on the next free slots of two lanes.
  Slots connect(LaneName from, LaneName to) {
    TableLane& sender = at(from);
    TableLane& receiver = at(to);
    const Slots slots{static_cast<std::uint32_t>(sender.sends.size()),
                      static_cast<std::uint32_t>(receiver.receives.size())};
    sender.sends.push_back({to.rank, to.lane, slots.receive});
    receiver.receives.push_back({from.rank, from.lane, slots.send});
    return slots;
  }
  void add(Rank rank, std::uint32_t lane, const Step& step) {
    at({rank, lane}).steps.push_back(step);
  }
  void set_lane(Rank rank, std::uint32_t lane, Lane properties) {
    at({rank, lane}).properties = properties;
  }
  /// Of every rank, itself among them.
  void set_peers(std::uint32_t peers) { peers_ = peers; }
  void set_scratch(Rank rank, Bytes bytes) { ranks_[rank.index()].scratch = bytes; }
  /// The vectors themselves, to break them.
  std::vector<Connection>& sends(Rank rank, std::uint32_t lane) { return at({rank, lane}).sends; }
  std::vector<Connection>& receives(Rank rank, std::uint32_t lane) {
    return at({rank, lane}).receives;
  }

  [[nodiscard]] const CollectiveCall& call() const override { return call_; }
  [[nodiscard]] std::uint32_t peers(Rank) const override { return peers_; }
  [[nodiscard]] std::string_view algorithm() const override { return "table"; }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return static_cast<std::uint32_t>(ranks_[rank.index()].lanes.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    return at(rank, lane).properties;
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return at(rank, lane).steps.size();
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    return at(rank, lane).steps.at(index);
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return at(rank, lane).sends.at(slot);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return at(rank, lane).receives.at(slot);
  }
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override {
    return ranks_[rank.index()].scratch;
  }
  [[nodiscard]] std::uint32_t channels() const override {
    std::uint32_t highest = 0;
    for (const TableRank& rank : ranks_) {
      for (const TableLane& lane : rank.lanes) {
        highest = std::max(highest, lane.properties.channel);
      }
    }
    return highest + 1;
  }
  [[nodiscard]] std::uint32_t chunks() const override { return 1; }
  [[nodiscard]] std::uint64_t transfer_count() const override {
    std::uint64_t count = 0;
    for (const TableRank& rank : ranks_) {
      for (const TableLane& lane : rank.lanes) {
        for (const Step& step : lane.steps) {
          count += step.sends.count;
        }
      }
    }
    return count;
  }

 private:
  struct TableLane {
    Lane properties;
    std::vector<Step> steps;
    std::vector<Connection> sends;
    std::vector<Connection> receives;
  };
  struct TableRank {
    std::vector<TableLane> lanes;
    Bytes scratch;
  };

  TableLane& at(LaneName name) {
    auto& lanes = ranks_.at(name.rank.index()).lanes;
    while (name.lane >= lanes.size()) {
      lanes.emplace_back().properties = default_lane_;
    }
    return lanes[name.lane];
  }
  [[nodiscard]] const TableLane& at(Rank rank, std::uint32_t lane) const {
    return ranks_.at(rank.index()).lanes.at(lane);
  }

  std::uint32_t peers_ = 1;
  CollectiveCall call_;
  Lane default_lane_;
  std::vector<TableRank> ranks_;
};

}  // namespace collsim::test
