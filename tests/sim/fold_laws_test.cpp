// Random programs on random machines, more or less regular: folded as in full.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sim/executor.hpp"
#include "sim/unshared.hpp"
#include "tests/catch.hpp"
#include "tests/sim/cost_sets.hpp"
#include "tests/sim/programs.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace collsim::test;

namespace {

template <class Number>
Number any_of(std::initializer_list<Number> numbers) {
  return *rc::gen::elementOf(std::vector<Number>(numbers));
}

std::string name(const char* stem, std::uint32_t number) { return stem + std::to_string(number); }

/// GPUs on switches, switches joined in a circle with chords; alike from every switch, unless some cable is
/// another one.
ClusterSpec any_machine() {
  const auto switches = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto gpus_each = *rc::gen::inRange<std::uint32_t>(1, 4) + (switches == 1 ? 1U : 0U);
  ExplicitGraphSpec graph;
  const auto rate = [] {
    return Bandwidth::bytes_per_second(any_of<std::int64_t>({7, 10, 10, 25}) * 1'000'000'000);
  };
  const auto delay = [] { return Duration(any_of<std::int64_t>({1, 1000, 1000, 70'001})); };
  for (std::uint32_t s = 0; s < switches; ++s) {
    graph.devices.push_back({name("sw", s), DeviceKind::NetworkSwitch, std::nullopt});
  }
  for (std::uint32_t g = 0; g < switches * gpus_each; ++g) {
    graph.devices.push_back({name("gpu", g), DeviceKind::Gpu, NodeId(0).value()});
  }
  for (std::uint32_t place = 0; place < gpus_each; ++place) {
    const Bandwidth bandwidth = rate();
    const Duration latency = delay();
    for (std::uint32_t s = 0; s < switches; ++s) {
      graph.links.push_back(link(name("gpu", s * gpus_each + place), name("sw", s), bandwidth,
                                 latency, place % 2 == 0 ? LinkKind::Generic : LinkKind::Nvlink));
    }
  }
  for (std::uint32_t reach = 1; reach < switches && reach < 3; ++reach) {
    const Bandwidth bandwidth = rate();
    const Duration latency = delay();
    const auto parallel = *rc::gen::inRange<std::uint32_t>(1, 3);
    const LinkKind kind = any_of({LinkKind::Generic, LinkKind::Infiniband});
    for (std::uint32_t s = 0; s < switches; ++s) {
      LinkSpec cable =
          link(name("sw", s), name("sw", (s + reach) % switches), bandwidth, latency, kind);
      cable.duplex = Duplex::OneWay;
      cable.count = parallel;
      graph.links.push_back(cable);
      std::swap(cable.from, cable.to);
      graph.links.push_back(cable);
    }
  }
  if (*rc::gen::inRange(0, 3) == 0) {
    LinkSpec& cable = **rc::gen::element(&graph.links.front(), &graph.links.back());
    cable.bandwidth = rate();
    cable.latency = delay();
  }
  ClusterSpec spec;
  spec.name = "any";
  spec.graph = graph;
  spec.fabric.routing = any_of({RoutingKind::Fixed, RoutingKind::Spray, RoutingKind::Ecmp});
  return spec;
}

/// A message of each rank to the one at a distance, sent and received in rounds that never run backwards, so
/// that it cannot lock up.
struct Exchange {
  std::uint32_t distance = 1;
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  std::uint32_t sent = 0;      ///< round
  std::uint32_t received = 0;  ///< the same, not before
  std::int64_t bytes = 0;
};

constexpr std::uint32_t lanes = 3;
constexpr std::uint32_t rounds = 6;

Lane any_lane() {
  Lane lane;
  lane.protocol = any_of({WireProtocol::None, WireProtocol::Simple, WireProtocol::LL});
  lane.threads = any_of({128U, 512U});
  lane.channel = *rc::gen::inRange(0U, 3U);
  lane.multiplicity = any_of({1U, 1U, 2U});
  if (any_of({0, 1}) == 0) {
    lane.fifo_depth = *rc::gen::inRange(1U, 3U);
  }
  return lane;
}

std::vector<Exchange> any_exchanges(std::uint32_t ranks) {
  std::vector<Exchange> exchanges(*rc::gen::inRange<std::size_t>(1, 8));
  for (Exchange& exchange : exchanges) {
    exchange.distance = *rc::gen::inRange(1U, ranks);
    exchange.from_lane = *rc::gen::inRange(0U, lanes);
    exchange.to_lane = *rc::gen::inRange(0U, lanes);
    exchange.sent = *rc::gen::inRange(0U, rounds);
    exchange.received = *rc::gen::inRange(exchange.sent, rounds);
    exchange.bytes = any_of<std::int64_t>({0, 1, 1000, 1000, 4096, 77'777});
  }
  return exchanges;
}

/// Messages of a program, and one of them by rank 1 that is larger than the others', or none.
struct Exchanges {
  std::vector<Exchange> all;
  std::vector<std::vector<TableProgram::Slots>> slots;  ///< by exchange and sender
  std::int64_t odd_bytes = 0;

  [[nodiscard]] Bytes bytes(std::size_t exchange, std::uint32_t sender) const {
    const bool odd = exchange == 0 && sender == 1;
    return Bytes(all[exchange].bytes + (odd ? odd_bytes : 0));
  }
};

void set_lanes(TableProgram& program, std::uint32_t ranks) {
  const Lane sort = any_lane();
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    Lane its = any_of({0, 1}) == 0 ? sort : any_lane();
    its.multiplicity = sort.multiplicity;
    its.protocol = sort.protocol;
    its.group = any_of({0U, lane});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      program.set_lane(Rank(rank), lane, its);
    }
  }
}

void connect(TableProgram& program, Exchanges& exchanges, std::uint32_t ranks) {
  for (const Exchange& exchange : exchanges.all) {
    std::vector<TableProgram::Slots>& of_ranks = exchanges.slots.emplace_back();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      of_ranks.push_back(
          program.connect({Rank(rank), exchange.from_lane},
                          {Rank((rank + exchange.distance) % ranks), exchange.to_lane}));
    }
  }
}

/// What a rank sends and receives in a round.
void add_round(TableProgram& program, const Exchanges& exchanges, std::uint32_t ranks,
               std::uint32_t rank, std::uint32_t round) {
  for (std::size_t i = 0; i < exchanges.all.size(); ++i) {
    if (exchanges.all[i].sent == round) {
      program.add(Rank(rank), exchanges.all[i].from_lane,
                  step(exchanges.bytes(i, rank))
                      .from(input(0_B))
                      .send(exchanges.slots[i][rank].send)
                      .phase(round));
    }
  }
  for (std::size_t i = 0; i < exchanges.all.size(); ++i) {
    const std::uint32_t sender = (rank + ranks - exchanges.all[i].distance) % ranks;
    if (exchanges.all[i].received == round) {
      program.add(Rank(rank), exchanges.all[i].to_lane,
                  step(exchanges.bytes(i, sender))
                      .receive(exchanges.slots[i][sender].receive)
                      .to(output(0_B))
                      .phase(round));
    }
  }
}

TableProgram any_program(std::uint32_t ranks) {
  TableProgram program = program_for(ranks);
  set_lanes(program, ranks);
  Exchanges exchanges;
  exchanges.all = any_exchanges(ranks);
  exchanges.odd_bytes = any_of<std::int64_t>({0, 0, 0, 8});
  connect(program, exchanges, ranks);
  const auto joining = *rc::gen::inRange(0U, 2 * rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      add_round(program, exchanges, ranks, rank, round);
      if (round == joining) {
        program.add(Rank(rank), 0, step(0_B).phase(round).join(0));
      }
    }
  }
  return program;
}

CostParameters any_costs() {
  CostParameters costs = costs_with({{CostItem::LaunchCollective, us(3)},
                                     {CostItem::SimpleSliceCopy, ns(150)},
                                     {CostItem::SimpleHandoffNvlink, ns(700)},
                                     {CostItem::LLHopNvlink, ns(300)},
                                     {CostItem::NetworkMessage, ns(450)},
                                     {CostItem::NetworkRendezvous, us(1)},
                                     {CostItem::NetworkLateness, us(2)},
                                     {CostItem::LLPassCopy, ns(2)}});
  set_rate(costs, CostItem::SimpleChannelRate, Bandwidth::bytes_per_second(6'000'000'001));
  set_rate(costs, CostItem::SimpleLocalRate, Bandwidth::bytes_per_second(9'000'000'000));
  set_share(costs, CostItem::SimpleUnevenness, any_of<std::int64_t>({0, 200'000}));
  set_share(costs, CostItem::ShareNvlink, 812'345);
  return costs;
}

std::string text_of(const RunResult& result) {
  std::ostringstream text;
  text << result.time.count() << ' ' << result.transfers << ' ' << result.contention_ignored;
  for (const OperationResult& operation : result.operations) {
    for (const Duration time : operation.time_of_rank) {
      text << ' ' << time.count();
    }
    for (const AttributedTime& part : operation.attribution) {
      text << '\n'
           << name_of(part.cause) << ' ' << (part.level ? part.level->value() : 99U) << ' '
           << (part.parameter ? static_cast<int>(*part.parameter) : -1) << ' ' << part.time.count();
    }
  }
  for (const LinkUse& link : result.links) {
    text << '\n'
         << static_cast<std::uint64_t>(link.fine_bytes >> 64U) << ' '
         << static_cast<std::uint64_t>(link.fine_bytes) << ' ' << link.busy.count() << ' '
         << link.peak_flows;
  }
  return text.str();
}

std::optional<RunResult> run(const Cluster& cluster, const Workload& workload, RunOptions options,
                             FoldMode fold) {
  options.fold = fold;
  try {
    return run_workload(cluster, workload, options);
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const SimulationError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("random programs on random machines give the same, folded") {
  CHECK(rc::check("folded = full", [] {
    const Cluster cluster(any_machine());
    const auto all = gpus(cluster);
    const auto ranks = static_cast<std::uint32_t>(all->size());
    RC_PRE(ranks > 1U);
    Workload workload;
    const Collective call = collective(any_program(ranks), all);
    workload.operations.assign(*rc::gen::inRange<std::size_t>(1, 3), call);
    const CostParameters costs = any_costs();
    RunOptions options;
    options.network = any_of({NetworkModel::Flow, NetworkModel::Flow, NetworkModel::Ideal});
    options.costs = any_of({0, 1}) == 0 ? nullptr : &costs;
    // Compared all with all, or shifted.
    options.most_compared = any_of({options.most_compared, std::size_t{0}});
    const auto folded = run(cluster, workload, options, FoldMode::Require);
    RC_CLASSIFY(folded.has_value());
    if (folded) {
      const auto full = run(cluster, workload, options, FoldMode::Off);
      RC_ASSERT(full.has_value());
      RC_ASSERT(text_of(*folded) == text_of(*full));
    }
  }));
}

namespace {

/// On a mesh, where every pair of ranks has a link of its own: again and again a message to each of some
/// distances, each by one lane.
TableProgram any_plain_program(std::uint32_t ranks) {
  TableProgram program = program_for(ranks);
  Exchanges exchanges;
  const auto distances = *rc::gen::inRange(1U, ranks);
  for (std::uint32_t distance = 1; distance <= distances; ++distance) {
    Exchange exchange;
    exchange.distance = distance;
    exchange.from_lane = any_of({0U, 1U});
    exchange.to_lane = any_of({0U, 1U});
    exchange.bytes = any_of<std::int64_t>({0, 1, 1000, 4096});
    exchanges.all.push_back(exchange);
  }
  exchanges.odd_bytes = any_of<std::int64_t>({0, 0, 64});
  connect(program, exchanges, ranks);
  const auto repeats = *rc::gen::inRange(1U, 40U);
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      add_round(program, exchanges, ranks, rank, 0);
    }
  }
  return program;
}

}  // namespace

TEST_CASE("where no two lanes share a link, steps one by one give what events give") {
  CHECK(rc::check("unshared = events", [] {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(2, 7);
    ClusterSpec spec = mesh(ranks);
    spec.node.links[0].bandwidth =
        Bandwidth::bytes_per_second(any_of<std::int64_t>({7, 50}) * 1'000'000'000);
    const Cluster cluster(spec);
    Workload workload;
    workload.operations.emplace_back(collective(any_plain_program(ranks), gpus(cluster)));
    RunOptions options;
    options.network = any_of({NetworkModel::Flow, NetworkModel::Ideal});
    options.fold = FoldMode::Off;
    const auto plain = detail::run_unshared(cluster, workload, options, nullptr);
    RC_ASSERT(plain.has_value());
    RC_ASSERT(plain->events == 0U);
    RC_ASSERT(text_of(*plain) == text_of(run_workload(cluster, workload, options)));
  }));
}
