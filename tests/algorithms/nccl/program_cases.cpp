#include "tests/algorithms/nccl/program_cases.hpp"

#include <algorithm>
#include <deque>

#include "algorithms/check.hpp"
#include "algorithms/nccl/ring_program.hpp"
#include "algorithms/nccl/tree_program.hpp"
#include "algorithms/program_walk.hpp"
#include "tests/algorithms/program_laws.hpp"
#include "tests/catch.hpp"

namespace collsim::nccl::test {

namespace {

/// Carries the number of hops behind each message.
class HopCounter final : public detail::StepHandler {
 public:
  detail::Walk execute(const detail::StepPlace& place, const Step&,
                       std::span<const detail::ConnectionId> received,
                       std::span<const detail::ConnectionId> sent) override {
    std::uint64_t& hops = lanes_[{place.rank.value(), place.lane}];
    for (const detail::ConnectionId connection : received) {
      std::deque<std::uint64_t>& messages = messages_[connection.value()];
      hops = std::max(hops, messages.front());
      messages.pop_front();
    }
    for (const detail::ConnectionId connection : sent) {
      messages_[connection.value()].push_back(hops + 1);
      most_ = std::max(most_, hops + 1);
    }
    return detail::Walk::GoOn;
  }

  [[nodiscard]] std::uint64_t most() const { return most_; }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lanes_;
  std::map<std::uint32_t, std::deque<std::uint64_t>> messages_;
  std::uint64_t most_ = 0;
};

}  // namespace

ReferenceMachine small_machine(int nodes, int gpus) {
  ReferenceMachine machine = h100(nodes > 1 ? 2 : 1);
  machine.communicator.nodes = nodes;
  machine.communicator.ranks = nodes * gpus;
  machine.communicator.min_ranks_per_node = gpus;
  machine.communicator.max_ranks_per_node = gpus;
  GraphChannel up;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    up.gpus.push_back(gpu);
  }
  GraphChannel down = up;
  std::ranges::reverse(down.gpus);
  for (Graph* graph : {&machine.graphs.ring, &machine.graphs.tree}) {
    graph->channels = {up, down};
    graph->bandwidth_intra = 40;  // above 45 channels would be doubled once more
    graph->bandwidth_inter = 40;
  }
  machine.graphs.nvls.reset();
  return machine;
}

std::vector<RankLayout> small_layouts() {
  std::vector<RankLayout> layouts;
  for (int gpus = 1; gpus <= 8; ++gpus) {
    for (int nodes = 1; nodes * gpus <= 16; ++nodes) {
      if (nodes * gpus > 1) {
        layouts.push_back({nodes, gpus});
      }
    }
  }
  return layouts;
}

std::vector<RankLayout> large_layouts() {
  return {{3, 8}, {12, 2}, {4, 8}, {32, 1}, {8, 8}, {16, 4}};
}

RankLayout layout_of(const ReferenceMachine& machine) {
  return {machine.communicator.nodes, machine.communicator.max_ranks_per_node};
}

std::vector<std::vector<Rank>> rings_of(const ReferenceMachine& machine) {
  return build_rings(machine.graphs, layout_of(machine),
                     execution_channels(machine.input()).collective);
}

std::vector<std::vector<TreeLinks>> trees_of(const ReferenceMachine& machine) {
  return build_trees(machine.graphs.tree, layout_of(machine),
                     execution_channels(machine.input()).collective);
}

CollectiveCall call_on(const ReferenceMachine& machine, CollectiveKind kind, std::int64_t count) {
  CollectiveCall call;
  call.kind = kind;
  call.ranks = static_cast<std::uint32_t>(machine.communicator.ranks);
  call.count = count;
  return call;
}

Execution execution_on(const ReferenceMachine& machine, const CollectiveCall& call,
                       Algorithm algorithm, Protocol protocol) {
  TunedChoice choice;
  choice.contender.algorithm = algorithm;
  choice.contender.protocol = protocol;
  return execution_of(machine.input(), tune(machine.input()), call, choice);
}

std::unique_ptr<Program> program_on(const ReferenceMachine& machine, const Execution& execution) {
  return execution.algorithm == Algorithm::Tree ? build_tree_program(execution, trees_of(machine))
                                                : build_ring_program(execution, rings_of(machine));
}

void require_right(const Program& program) {
  INFO(collsim::test::describe(program));
  INFO("protocol " << name_of(program.lane(Rank(0), 0).protocol));
  REQUIRE(collsim::test::first_breach(program) == "");
  const CheckReport report = check_program(program);
  INFO((report.ok() ? std::string() : report.failures.front().text));
  REQUIRE(report.ok());
}

Traffic traffic_of(const Program& program) {
  Traffic traffic;
  for (std::uint32_t r = 0; r < program.call().ranks; ++r) {
    const Rank rank(r);
    for (std::uint32_t lane = 0; lane < program.lane_count(rank); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(rank, lane); ++index) {
        const Step step = program.step(rank, lane, index);
        for (std::uint32_t i = 0; i < step.sends.count; ++i) {
          const Connection to = program.send_to(rank, lane, step.sends.first + i);
          traffic[{r, to.peer.value()}] += step.bytes.count();
        }
      }
    }
  }
  return traffic;
}

std::uint64_t serial_hops(const Program& program) {
  HopCounter counter;
  REQUIRE(detail::walk_program(program, counter).finished);
  return counter.most();
}

}  // namespace collsim::nccl::test
