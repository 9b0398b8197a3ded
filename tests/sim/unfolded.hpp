#pragma once

// A program with every lane as often as its multiplicity says.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/program.hpp"

namespace collsim::test {

/// Copy c of a lane is connected with copy c of its peers' lanes and waits for copy c of its own
/// rank's. Requires: lanes that are connected or wait for each other have equal multiplicities.
class Unfolded final : public Program {
 public:
  explicit Unfolded(std::shared_ptr<const Program> folded) : folded_(std::move(folded)) {
    for (std::uint32_t r = 0; r < folded_->call().ranks; ++r) {
      ranks_.emplace_back();
      for (std::uint32_t lane = 0; lane < folded_->lane_count(Rank(r)); ++lane) {
        ranks_.back().first.push_back(static_cast<std::uint32_t>(ranks_.back().lanes.size()));
        for (std::uint32_t copy = 0; copy < folded_->lane(Rank(r), lane).multiplicity; ++copy) {
          ranks_.back().lanes.push_back({lane, copy});
        }
      }
    }
  }

  [[nodiscard]] const CollectiveCall& call() const override { return folded_->call(); }
  [[nodiscard]] std::string_view algorithm() const override { return folded_->algorithm(); }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return static_cast<std::uint32_t>(ranks_[rank.index()].lanes.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    constexpr std::uint32_t most_copies = 64;
    const Copy copy = at(rank, lane);
    Lane properties = folded_->lane(rank, copy.lane);
    properties.group = properties.group * most_copies + copy.number;
    properties.multiplicity = 1;
    return properties;
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return folded_->step_count(rank, at(rank, lane).lane);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    const Copy copy = at(rank, lane);
    Step step = folded_->step(rank, copy.lane, index);
    if (step.after) {
      step.after->lane = lane_of(rank, step.after->lane, copy.number);
    }
    if (step.join) {
      step.join = this->lane(rank, lane).group;
    }
    return step;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const Copy copy = at(rank, lane);
    Connection to = folded_->send_to(rank, copy.lane, slot);
    to.lane = lane_of(to.peer, to.lane, copy.number);
    return to;
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const Copy copy = at(rank, lane);
    Connection from = folded_->receive_from(rank, copy.lane, slot);
    from.lane = lane_of(from.peer, from.lane, copy.number);
    return from;
  }
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override {
    return folded_->scratch_bytes(rank);
  }
  [[nodiscard]] std::uint32_t peers(Rank rank) const override { return folded_->peers(rank); }
  [[nodiscard]] std::uint32_t channels() const override { return folded_->channels(); }
  [[nodiscard]] std::uint32_t chunks() const override { return folded_->chunks(); }
  [[nodiscard]] std::uint64_t transfer_count() const override { return folded_->transfer_count(); }

 private:
  struct Copy {
    std::uint32_t lane = 0;
    std::uint32_t number = 0;
  };
  struct Lanes {
    std::vector<std::uint32_t> first;  ///< by folded lane: its copy 0
    std::vector<Copy> lanes;
  };
  [[nodiscard]] Copy at(Rank rank, std::uint32_t lane) const {
    return ranks_[rank.index()].lanes[lane];
  }
  [[nodiscard]] std::uint32_t lane_of(Rank rank, std::uint32_t lane, std::uint32_t copy) const {
    return ranks_[rank.index()].first[lane] + copy;
  }

  std::shared_ptr<const Program> folded_;
  std::vector<Lanes> ranks_;
};

}  // namespace collsim::test
