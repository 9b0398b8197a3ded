#include "algorithms/race_detector.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::detail;

namespace {

/// The steps of one rank, and which come before which by following every dependency: the definition
/// that RankOrder computes with clocks.
class RandomRank {
 public:
  explicit RandomRank(std::uint32_t seed) : random_(seed) {
    const std::uint32_t lanes = 2 + below(4);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      groups_.push_back(below(2));
      add_steps();
    }
    // Dependencies on steps of any lane, once all are known; mostly early ones, so that few of the
    // programs deadlock at once.
    for (auto& lane : lanes_) {
      for (std::uint32_t i = 0; i < lane.size(); ++i) {
        if (below(4) != 0) {
          continue;
        }
        const std::uint32_t other = below(lanes);
        const auto steps = static_cast<std::uint32_t>(lanes_[other].size());
        lane[i].step.after = StepRef{other, below(std::min(steps, i + 1))};
      }
    }
  }

  void run_and_compare() {
    RankOrder order(groups_);
    std::vector<std::uint32_t> ready = runnable();
    while (!ready.empty()) {
      const std::uint32_t lane = ready[below(static_cast<std::uint32_t>(ready.size()))];
      Node& node = lanes_[lane][done_[lane]];
      collect_predecessors(lane, node);
      order.begin({lane, done_[lane]}, node.step);
      compare(order, lane, node);
      ++done_[lane];
      ++executed_;
      ready = runnable();
    }
  }
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

 private:
  struct Node {
    Step step;
    std::vector<std::uint64_t> before;  ///< by lane: so many of its steps come before
  };

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_()) % limit; }

  void add_steps() {
    std::vector<Node> lane(3 + below(30));
    std::uint64_t phase = 0;
    for (Node& node : lane) {
      phase += below(3);
      node.step.phase = phase;
      if (below(5) == 0) {
        node.step.join = below(2);
      }
    }
    lanes_.push_back(std::move(lane));
    done_.push_back(0);
  }

  [[nodiscard]] std::vector<std::uint32_t> runnable() const {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      if (done_[lane] < lanes_[lane].size() && can_run(lanes_[lane][done_[lane]].step)) {
        ready.push_back(lane);
      }
    }
    return ready;
  }
  [[nodiscard]] bool can_run(const Step& step) const {
    if (step.after && done_[step.after->lane] <= step.after->index) {
      return false;
    }
    for (std::uint32_t lane = 0; step.join && lane < lanes_.size(); ++lane) {
      if (groups_[lane] == *step.join && done_[lane] < below_phase(lane, step.phase)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] std::uint64_t below_phase(std::uint32_t lane, std::uint64_t phase) const {
    std::uint64_t count = 0;
    for (const Node& node : lanes_[lane]) {
      count += node.step.phase < phase ? 1U : 0U;
    }
    return count;
  }

  void collect_predecessors(std::uint32_t lane, Node& node) {
    node.before.assign(lanes_.size(), 0);
    auto come_before = [&](std::uint32_t other, std::uint64_t count) {
      if (count == 0) {
        return;
      }
      node.before[other] = std::max(node.before[other], count);
      const Node& last = lanes_[other][count - 1];
      for (std::size_t i = 0; i < last.before.size(); ++i) {
        node.before[i] = std::max(node.before[i], last.before[i]);
      }
    };
    come_before(lane, done_[lane]);
    if (node.step.after) {
      come_before(node.step.after->lane, node.step.after->index + 1);
    }
    for (std::uint32_t other = 0; node.step.join && other < lanes_.size(); ++other) {
      if (groups_[other] == *node.step.join) {
        come_before(other, below_phase(other, node.step.phase));
      }
    }
  }

  void compare(const RankOrder& order, std::uint32_t lane, const Node& node) const {
    for (std::uint32_t other = 0; other < lanes_.size(); ++other) {
      if (other == lane) {
        continue;
      }
      for (std::uint64_t index = 0; index < done_[other]; ++index) {
        REQUIRE(order.before({other, index}, lane) == (index < node.before[other]));
      }
    }
  }

  std::mt19937 random_;
  std::vector<std::uint32_t> groups_;
  std::vector<std::vector<Node>> lanes_;
  std::vector<std::uint64_t> done_;
  std::uint64_t executed_ = 0;
};

RankOrder two_lanes() { return RankOrder({0, 0}); }

void begin(RankOrder& order, std::uint32_t lane, std::uint64_t index,
           std::optional<StepRef> after = {}) {
  Step step;
  step.after = after;
  order.begin({lane, index}, step);
}

}  // namespace

TEST_CASE("the order of steps is what lane order, joins and dependencies imply, no more, no less") {
  std::uint64_t executed = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    RandomRank rank(seed);
    rank.run_and_compare();
    executed += rank.executed();
  }
  CHECK(executed > 3000);  // many of the random programs get far before they deadlock
}

TEST_CASE("reads do not race with each other") {
  RankOrder order = two_lanes();
  AccessLog log;
  begin(order, 0, 0);
  CHECK_FALSE(log.read(0, 8, {0, 0}, order));
  begin(order, 1, 0);
  CHECK_FALSE(log.read(4, 12, {1, 0}, order));
}

TEST_CASE("a write races with an earlier read of any of its bytes") {
  RankOrder order = two_lanes();
  AccessLog log;
  begin(order, 0, 0);
  CHECK_FALSE(log.read(0, 8, {0, 0}, order));
  begin(order, 1, 0);
  const auto race = log.write(6, 12, {1, 0}, order);
  REQUIRE(race);
  CHECK(race->kind == RacingAccess::Kind::Read);
  CHECK(race->step == StepRef{0, 0});
  CHECK(race->begin == 6);
  CHECK(race->end == 8);
}

TEST_CASE("a write after an ordered read is no race, but it is one with an older unordered read") {
  RankOrder order = two_lanes();
  AccessLog log;
  begin(order, 0, 0);
  CHECK_FALSE(log.read(0, 4, {0, 0}, order));
  begin(order, 0, 1);
  CHECK_FALSE(log.read(4, 8, {0, 1}, order));
  begin(order, 1, 0, StepRef{0, 0});
  CHECK_FALSE(log.write(0, 4, {1, 0}, order));
  begin(order, 1, 1);
  const auto race = log.write(0, 8, {1, 1}, order);
  REQUIRE(race);
  CHECK(race->step == StepRef{0, 1});
  CHECK(race->begin == 4);
}

TEST_CASE("of many reads the one that races is still known") {
  // Lane 0 reads a hundred times; lane 1 knows of all but the last one.
  RankOrder order = two_lanes();
  AccessLog log;
  for (std::uint64_t i = 0; i < 100; ++i) {
    begin(order, 0, i);
    CHECK_FALSE(log.read(0, 4, {0, i}, order));
  }
  begin(order, 1, 0, StepRef{0, 98});
  const auto race = log.write(0, 4, {1, 0}, order);
  REQUIRE(race);
  CHECK(race->step == StepRef{0, 99});
}
