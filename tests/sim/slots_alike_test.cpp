// One message over slots that are alike, and one step that uses them in turn: the result of the run of
// every lane, from fewer events. Programs with the lanes of NVLS on GPUs around a switch.

#include "sim/slots_alike.hpp"

#include <memory>

#include "tests/catch.hpp"
#include "tests/sim/costly_programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

constexpr std::uint32_t ranks = 4;
constexpr std::uint64_t loops = 5;
constexpr Bytes block = 100'000_B;
constexpr std::uint32_t scatter = 0;
constexpr std::uint32_t reduce = 1;
constexpr std::uint32_t gather = 2;

/// What is unlike NVLS.
enum class But {
  Nothing,
  TellsAtOnce,      ///< each head of its block, when that is there
  GatherWaits,      ///< for another lane, between two results
  ReduceLooksIn,    ///< waits for a scatter step that is not the last
  NotOnePrimitive,  ///< each copy synchronises
};

/// Slot t of each rank's lane leads to slot t of the t-th rank behind it.
void connect(TableProgram& program, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t turn = 0; turn + 1 < ranks; ++turn) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      (void)program.connect({Rank(rank), from}, {Rank((rank + 1 + turn) % ranks), to});
    }
  }
}

void add_scatter(TableProgram& program, Rank rank, But but) {
  for (std::uint32_t turn = 0; turn < ranks; ++turn) {
    const bool own = turn + 1 == ranks;
    Step copy = step(block).moves(Movement::Post).from(input(0_B)).to(scratch(0_B));
    copy.sends = {turn, own ? 0U : 1U};
    copy.continues = turn > 0 && but != But::NotOnePrimitive;
    copy.posts_later = !own && but != But::TellsAtOnce;
    program.add(rank, scatter, copy);
  }
}

void add_loop(TableProgram& program, Rank rank, std::uint64_t loop, But but) {
  add_scatter(program, rank, but);
  const std::uint64_t end = (loop + 1) * ranks;
  program.add(rank, reduce,
              step(block)
                  .moves(Movement::Multimem)
                  .receive(0, ranks - 1)
                  .send(0, ranks - 1)
                  .from(scratch(0_B))
                  .to(scratch(0_B))
                  .after(scatter, but == But::ReduceLooksIn ? end - ranks : end - 1));
  for (std::uint32_t turn = 0; turn < ranks; ++turn) {
    const bool own = turn + 1 == ranks;
    Step copy = own ? step(block).from(scratch(0_B)).to(output(0_B)).after(reduce, loop)
                    : step(block).receive(turn).to(output(0_B));
    copy.continues = turn > 0 && but != But::NotOnePrimitive;
    if (turn == 1 && but == But::GatherWaits) {
      copy.after = StepRef{scatter, end - 1};
    }
    program.add(rank, gather, copy);
  }
}

TableProgram small_nvls(But but) {
  TableProgram program = program_for(ranks);
  Lane lane = lane_of(WireProtocol::Simple, Kernel::Multicast);
  lane.fifo_depth = 2;
  program.set_lanes(lane);
  connect(program, scatter, reduce);
  connect(program, reduce, gather);
  for (std::uint64_t loop = 0; loop < loops; ++loop) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      add_loop(program, Rank(rank), loop, but);
    }
  }
  return program;
}

CostParameters costs_of_nvls() {
  CostParameters costs =
      costs_with({{CostItem::MulticastStage, us(8)}, {CostItem::MulticastHandoff, us(2)}});
  set_rate(costs, CostItem::MulticastCopyRate, 10_GBps);
  return costs;
}

RunResult result_of(But but, FoldMode fold) {
  const CostParameters costs = costs_of_nvls();
  RunOptions options;
  options.costs = &costs;
  options.fold = fold;
  return run_on_all(Cluster(star(ranks)), small_nvls(but), options);
}

/// Checks that folding changes nothing. How many events it takes.
std::uint64_t events_folded(But but) {
  const RunResult folded = result_of(but, FoldMode::Require);
  const RunResult whole = result_of(but, FoldMode::Off);
  CHECK(folded.folding.ranks.classes == 1);
  CHECK(folded.time == whole.time);
  CHECK(folded.transfers == whole.transfers);
  const OperationResult& one = folded.operations.at(0);
  const OperationResult& other = whole.operations.at(0);
  CHECK(one.time_of_rank == other.time_of_rank);
  REQUIRE(one.attribution.size() == other.attribution.size());
  for (std::size_t i = 0; i < one.attribution.size(); ++i) {
    CHECK(one.attribution[i].cause == other.attribution[i].cause);
    CHECK(one.attribution[i].parameter == other.attribution[i].parameter);
    CHECK(one.attribution[i].time == other.attribution[i].time);
  }
  return folded.events;
}

}  // namespace

TEST_CASE(
    "messages to heads that are alike are one, and so are the steps that send and take them") {
  const std::uint64_t fewest = events_folded(But::Nothing);
  // Scatter and gather: of each loop two copies instead of four; one flag each way instead of three.
  const std::uint64_t saved_by_copies = ranks - 2;
  const std::uint64_t saved_by_flags = ranks - 2;
  const std::uint64_t saved_one_way = loops * (saved_by_copies + saved_by_flags);
  CHECK(events_folded(But::GatherWaits) == fewest + saved_one_way);
  CHECK(events_folded(But::ReduceLooksIn) == fewest + saved_one_way);
}

TEST_CASE("steps that do not belong together stay as they are") {
  const std::uint64_t fewest = events_folded(But::Nothing);
  CHECK(events_folded(But::TellsAtOnce) > fewest);
  CHECK(events_folded(But::NotOnePrimitive) > fewest);
}

TEST_CASE("slots that are alike have one number at both ends") {
  const Cluster cluster(star(ranks));
  std::vector<detail::LaneClass> lanes;
  detail::RankFolding folding;
  for (std::uint32_t lane = 0; lane < 3; ++lane) {
    lanes.push_back({Rank(0), lane, ranks});
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    folding.add(Rank(0), {0, 1, 2});
  }
  detail::FoldedProgram program(std::make_shared<TableProgram>(small_nvls(But::Nothing)),
                                gpus(cluster), {{Rank(0), lanes}}, std::move(folding));
  detail::find_slots_alike(cluster, program);
  const SlotRange all{0, ranks - 1};
  CHECK(program.lane_class(Rank(0), scatter).sends_alike == all);
  CHECK(program.lane_class(Rank(0), reduce).receives_alike == all);
  CHECK(program.lane_class(Rank(0), reduce).sends_alike == all);
  CHECK(program.lane_class(Rank(0), gather).receives_alike == all);
  CHECK(program.send_to(Rank(0), scatter, 0) == Connection{Rank(0), reduce, 0});
  CHECK(program.send_to(Rank(0), scatter, ranks - 2) == Connection{Rank(0), reduce, 0});

  Step copies = program.step(Rank(0), scatter, ranks);
  CHECK(program.fold_slots(Rank(0), scatter, ranks, copies) == ranks - 1);
  CHECK(copies.sends == SlotRange{0, 1});
  Step own = program.step(Rank(0), scatter, ranks - 1);
  CHECK(program.fold_slots(Rank(0), scatter, ranks - 1, own) == 1);
  Step through = program.step(Rank(0), reduce, 0);
  CHECK(program.fold_slots(Rank(0), reduce, 0, through) == 1);
  CHECK(through.receives == SlotRange{0, 1});
  detail::SwitchPeers peers{through.receives, through.sends, true, true};
  program.unfold_slots(Rank(0), reduce, peers);
  CHECK(peers == detail::SwitchPeers{all, all, true, true});
}
