#pragma once

// A program in which one lane stands for all that are alike: rank c is the lowest rank of class c, its
// lanes are the lowest of their classes in it. Who sends to whom is said by class, so that a lane may
// send to itself. See fold.hpp. Internal to the executor.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "algorithms/program.hpp"
#include "sim/connection_route.hpp"
#include "sim/workload.hpp"

namespace collsim::detail {

/// A class of lanes: one of them, and how many there are.
struct LaneClass {
  Rank rank;
  std::uint32_t lane = 0;
  std::uint32_t size = 0;
  // Of which the first stands for all, see slots_alike.hpp:
  SlotRange sends_alike{};
  SlotRange receives_alike{};
};

/// A class of ranks: their lanes are of the same classes, though not always in the same order.
struct RankClass {
  Rank first;
  std::vector<LaneClass> lanes;
  /// By group of the first rank's lanes, see Step::join: the one whose lanes stand for its own.
  std::vector<std::uint32_t> group_of_group{};
};

/// Which class each rank is of, and each of its lanes.
class RankFolding {
 public:
  RankFolding() = default;
  RankFolding(RankFolding&&) = default;
  RankFolding& operator=(RankFolding&&) = default;
  RankFolding(const RankFolding&) = delete;
  RankFolding& operator=(const RankFolding&) = delete;
  ~RankFolding() = default;

  /// The next rank. `order`: by its lanes: which one of RankClass::lanes of its class.
  void add(Rank its_class, std::vector<std::uint32_t> order);

  [[nodiscard]] Rank class_of(Rank rank) const { return Rank(ranks_[rank.index()].its_class); }
  [[nodiscard]] std::uint32_t class_of_lane(Rank rank, std::uint32_t lane) const {
    return (*ranks_[rank.index()].order)[lane];
  }

 private:
  struct FoldedRank {
    std::uint32_t its_class = 0;
    const std::vector<std::uint32_t>* order = nullptr;
  };
  std::set<std::vector<std::uint32_t>>
      orders_;  ///< most ranks have one of a few; its places are stable
  std::vector<FoldedRank> ranks_;
};

class FoldedProgram final : public Program {
 public:
  FoldedProgram(std::shared_ptr<const Program> whole,
                std::shared_ptr<const Communicator> communicator, std::vector<RankClass> classes,
                RankFolding folding);

  [[nodiscard]] const CollectiveCall& call() const override { return call_; }
  [[nodiscard]] std::string_view algorithm() const override { return whole_->algorithm(); }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return static_cast<std::uint32_t>(of(rank).lanes.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    const LaneClass& at = lane_class(rank, lane);
    return whole_->lane(at.rank, at.lane);
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    const LaneClass& at = lane_class(rank, lane);
    return whole_->step_count(at.rank, at.lane);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override;
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override;
  [[nodiscard]] std::optional<LaneSchedule> schedule(Rank rank, std::uint32_t lane) const override {
    const LaneClass& at = lane_class(rank, lane);
    return whole_->schedule(at.rank, at.lane);
  }
  [[nodiscard]] std::optional<StepPeriod> period(Rank rank, std::uint32_t lane) const override {
    const LaneClass& at = lane_class(rank, lane);
    return whole_->period(at.rank, at.lane);
  }
  [[nodiscard]] bool reduces_in_network() const override { return whole_->reduces_in_network(); }
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override {
    return whole_->scratch_bytes(of(rank).first);
  }
  [[nodiscard]] std::uint32_t peers(Rank rank) const override {
    return whole_->peers(of(rank).first);
  }
  [[nodiscard]] std::uint32_t channels() const override { return whole_->channels(); }
  [[nodiscard]] std::uint32_t chunks() const override { return whole_->chunks(); }
  [[nodiscard]] std::uint64_t transfer_count() const override { return whole_->transfer_count(); }

  [[nodiscard]] const Program& whole() const { return *whole_; }
  [[nodiscard]] const Communicator& communicator() const { return *communicator_; }
  /// Of a rank of this program.
  [[nodiscard]] const LaneClass& lane_class(Rank rank, std::uint32_t lane) const {
    return of(rank).lanes[lane];
  }
  [[nodiscard]] LaneClass& lane_class(Rank rank, std::uint32_t lane) {
    return classes_[rank.index()].lanes[lane];
  }
  /// Makes one slot of those of a step that are alike, and one step of those that use one each. How many steps it
  /// stands for now.
  [[nodiscard]] std::uint16_t fold_slots(Rank rank, std::uint32_t lane, std::uint64_t index,
                                         Step& step) const;
  /// Of a step through a switch: all slots again.
  void unfold_slots(Rank rank, std::uint32_t lane, SwitchPeers& peers) const;
  /// The rank of this program that stands for one of the whole.
  [[nodiscard]] Rank class_of(Rank whole) const { return folding_.class_of(whole); }
  [[nodiscard]] const std::vector<RankClass>& classes() const { return classes_; }

 private:
  [[nodiscard]] const RankClass& of(Rank rank) const { return classes_[rank.index()]; }
  [[nodiscard]] Connection folded(const Connection& end) const;

  std::shared_ptr<const Program> whole_;
  std::shared_ptr<const Communicator> communicator_;
  CollectiveCall call_;
  std::vector<RankClass> classes_;
  RankFolding folding_;  ///< of the ranks of the whole
};

}  // namespace collsim::detail
