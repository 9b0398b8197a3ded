#pragma once

// A correct program with a fault planted in it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/program.hpp"

namespace collsim::test {

struct At {
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint64_t step = 0;
  bool operator==(const At&) const = default;
};

/// A program with some of its steps changed.
class FaultyProgram final : public Program {
 public:
  using Change = std::function<void(Step&)>;

  explicit FaultyProgram(const Program& base) : base_(base) {}
  explicit FaultyProgram(std::unique_ptr<Program> base) : owned_(std::move(base)), base_(*owned_) {}

  FaultyProgram& change(At at, Change change) {
    changes_.emplace_back(at, std::move(change));
    return *this;
  }
  /// Nothing is left of the step but its place in the order.
  FaultyProgram& drop(At at) {
    return change(at, [](Step& step) {
      Step empty;
      empty.phase = step.phase;
      empty.join = step.join;
      empty.after = step.after;
      step = empty;
    });
  }

  [[nodiscard]] const CollectiveCall& call() const override { return base_.call(); }
  [[nodiscard]] std::string_view algorithm() const override { return base_.algorithm(); }
  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return base_.lane_count(rank);
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    return base_.lane(rank, lane);
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return base_.step_count(rank, lane);
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    Step step = base_.step(rank, lane, index);
    for (const auto& [at, change] : changes_) {
      if (at == At{rank.value(), lane, index}) {
        change(step);
      }
    }
    return step;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return base_.send_to(rank, lane, slot);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return base_.receive_from(rank, lane, slot);
  }
  [[nodiscard]] Bytes scratch_bytes(Rank rank) const override { return base_.scratch_bytes(rank); }
  [[nodiscard]] std::uint32_t channels() const override { return base_.channels(); }
  [[nodiscard]] std::uint32_t chunks() const override { return base_.chunks(); }
  [[nodiscard]] std::uint64_t transfer_count() const override { return base_.transfer_count(); }

 private:
  std::unique_ptr<Program> owned_;
  const Program& base_;
  std::vector<std::pair<At, Change>> changes_;
};

}  // namespace collsim::test
