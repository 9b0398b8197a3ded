// The simulator against the closed forms: every algorithm and collective, to the picosecond.

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/closed_forms.hpp"
#include "algorithms/table.hpp"
#include "sim/collective_run.hpp"
#include "tests/catch.hpp"
#include "tests/topology/clusters.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

constexpr UniformMachine textbook{1'000'000_ps, 50_GBps};

/// A machine to simulate, and the same as the formulas see it.
struct Machine {
  Cluster cluster;
  UniformMachine uniform;
};

Machine mesh_of(std::uint32_t gpus, const UniformMachine& uniform) {
  ClusterSpec spec = test::mesh(gpus);
  spec.node.links[0].bandwidth = uniform.bandwidth;
  spec.node.links[0].latency = uniform.latency;
  return {Cluster(spec), uniform};
}

/// Each route crosses two links, so the latency must be even.
Machine star_of(std::uint32_t gpus, const UniformMachine& uniform) {
  ClusterSpec spec = test::star(gpus);
  spec.node.links[0].bandwidth = uniform.bandwidth;
  spec.node.links[0].latency = uniform.latency / 2;
  return {Cluster(spec), uniform};
}

Duration simulated(const Cluster& cluster, std::string_view algorithm, const CollectiveCall& call,
                   NetworkModel network) {
  const auto gpus = cluster.graph().gpus().first(call.ranks);
  CollectiveJob job;
  job.call = call;
  job.gpus = Communicator(gpus.begin(), gpus.end());
  job.algorithm = algorithm;
  RunOptions options;
  options.network = network;
  return run_collective(cluster, job, options).time;
}

CollectiveCall call_of(CollectiveKind kind, std::uint32_t ranks, Bytes size) {
  CollectiveCall call = call_for_size(kind, ranks, size, DataType::Float32);
  REQUIRE(call.size() == size);
  return call;
}

/// Calls and machines drawn at random, the same ones every time: the engine's sequence is fixed by
/// the standard, and no distribution is used.
class Draws {
 public:
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(end));
  }

  CollectiveCall call(CollectiveKind kind, std::uint32_t ranks) {
    constexpr std::array types{DataType::Int8, DataType::Half, DataType::Float32,
                               DataType::Float64};
    CollectiveCall call;
    call.kind = kind;
    call.ranks = ranks;
    call.type = types[static_cast<std::size_t>(below(types.size()))];
    call.root = has_root(kind) ? Rank(below(ranks)) : Rank(0);
    call.in_place = allows_in_place(kind) && below(2) == 0 ? InPlace::Yes : InPlace::No;
    // From fewer elements than ranks to many; hardly ever a multiple of anything.
    constexpr std::array<std::int64_t, 4> most{3, 100, 50'000, 3'000'000};
    call.count = below(most[static_cast<std::size_t>(below(most.size()))]);
    return call;
  }

  /// Bandwidths that divide nothing, latencies from negligible to dominant (even numbers of ps).
  UniformMachine machine() {
    constexpr std::array<std::int64_t, 4> most{2, 1'000, 2'000'000, 200'000'000};
    UniformMachine machine;
    machine.bandwidth = Bandwidth::from_units(1'000'000'007 + below(100'000'000'000'000));
    machine.latency = Duration(2 * below(most[static_cast<std::size_t>(below(most.size()))]));
    return machine;
  }

 private:
  std::mt19937_64 engine_{20'240'229};
};

std::string describe(std::string_view algorithm, const CollectiveCall& call,
                     const UniformMachine& machine) {
  return std::string(algorithm) + " " + std::string(name_of(call.kind)) + ", " +
         std::to_string(call.ranks) + " ranks, " + std::to_string(call.count) + " elements of " +
         std::to_string(size_of(call.type).count()) + " bytes, root " +
         std::to_string(call.root.value()) + ", latency " +
         std::to_string(machine.latency.count()) + " ps, " +
         std::to_string(machine.bandwidth.units()) + " units";
}

using Form = std::optional<Duration> (*)(std::string_view, const CollectiveCall&,
                                         const UniformMachine&);

/// Returns how many algorithms have a form for what is drawn.
int compare_all(const Machine& machine, std::uint32_t ranks, Form form, NetworkModel network,
                Draws& draws) {
  int compared = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const CollectiveKind kind : algorithm.collectives) {
      const CollectiveCall call = draws.call(kind, ranks);
      const auto expected = form(algorithm.name, call, machine.uniform);
      if (!expected) {
        continue;
      }
      INFO(describe(algorithm.name, call, machine.uniform));
      REQUIRE(simulated(machine.cluster, algorithm.name, call, network) == *expected);
      ++compared;
    }
  }
  return compared;
}

std::vector<std::uint32_t> rank_counts() {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t ranks = 2; ranks <= 64; ++ranks) {
    counts.push_back(ranks);
  }
  return counts;
}

// What design names: naive 8, ring 5, tree 5, double-tree 3, recursive-doubling 2,
// halving-doubling 3, bruck 2, direct 7, direct-one-shot 1, pairwise 2.
constexpr int forms_on_mesh = 38;
// naive 8, ring 5, direct 7, direct-one-shot 1.
constexpr int forms_on_star = 21;

}  // namespace

TEST_CASE("on a mesh every algorithm takes the time of its closed form") {
  Draws draws;
  for (const std::uint32_t ranks : rank_counts()) {
    const Machine machine = mesh_of(ranks, textbook);
    REQUIRE(compare_all(machine, ranks, closed_form_mesh, NetworkModel::Ideal, draws) ==
            forms_on_mesh);
  }
}

TEST_CASE("closed forms hold whatever the latency and the bandwidth") {
  Draws draws;
  for (int repetition = 0; repetition < 150; ++repetition) {
    const auto ranks = static_cast<std::uint32_t>(2 + draws.below(15));
    compare_all(mesh_of(ranks, draws.machine()), ranks, closed_form_mesh, NetworkModel::Ideal,
                draws);
  }
}

TEST_CASE("fair sharing without contention is no different") {
  Draws draws;
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    // On a mesh no two transfers of these share a link.
    const Machine machine = mesh_of(ranks, textbook);
    for (const char* algorithm : {"ring", "tree", "recursive-doubling", "bruck", "pairwise"}) {
      for (const CollectiveKind kind : find_algorithm(algorithm).collectives) {
        const CollectiveCall call = draws.call(kind, ranks);
        INFO(describe(algorithm, call, machine.uniform));
        REQUIRE(simulated(machine.cluster, algorithm, call, NetworkModel::Flow) ==
                simulated(machine.cluster, algorithm, call, NetworkModel::Ideal));
      }
    }
  }
}

TEST_CASE("on a star naive, direct and ring share links as their closed forms say") {
  Draws draws;
  for (const std::uint32_t ranks : rank_counts()) {
    const Machine machine = star_of(ranks, textbook);
    REQUIRE(compare_all(machine, ranks, closed_form_star, NetworkModel::Flow, draws) ==
            forms_on_star);
  }
  for (int repetition = 0; repetition < 150; ++repetition) {
    const auto ranks = static_cast<std::uint32_t>(2 + draws.below(15));
    compare_all(star_of(ranks, draws.machine()), ranks, closed_form_star, NetworkModel::Flow,
                draws);
  }
}

TEST_CASE("hierarchical on equal nodes takes the time of its closed form") {
  Draws draws;
  // The latencies of the shipped textbook-2x4. Inside: two links of 500 ns, 50 GB/s. Between: 500 ns to
  // the node's switch, nothing to the NIC, 1 us to the network's, and the same back; 12.5 GB/s.
  const UniformMachine between{3'000'000_ps, Bandwidth::bytes_per_second(12'500'000'000)};
  for (std::uint32_t nodes = 2; nodes <= 6; ++nodes) {
    for (std::uint32_t gpus = 1; gpus <= 9; ++gpus) {
      ClusterSpec spec = test::textbook_nodes(nodes);
      spec.node.gpus = gpus;
      spec.node.links.back().latency = 0_ps;  // NIC and switch
      const Cluster cluster(spec);
      for (const CollectiveKind kind : find_algorithm("hierarchical").collectives) {
        CollectiveCall call = draws.call(kind, nodes * gpus);
        const auto expected = closed_form_hierarchical(call, gpus, textbook, between);
        REQUIRE(expected);
        INFO(describe("hierarchical", call, between) << ", " << gpus << " GPUs a node");
        REQUIRE(simulated(cluster, "hierarchical", call, NetworkModel::Ideal) == *expected);
      }
    }
  }
}

TEST_CASE("the lesson's examples, simulated") {
  using enum CollectiveKind;
  const Machine star = star_of(8, textbook);
  const Machine mesh = mesh_of(8, textbook);
  const auto on_star = [&](const char* algorithm, CollectiveKind kind, Bytes size) {
    return simulated(star.cluster, algorithm, call_of(kind, 8, size), NetworkModel::Flow);
  };
  const auto on_mesh = [&](const char* algorithm, CollectiveKind kind, std::uint32_t ranks,
                           Bytes size) {
    return simulated(mesh.cluster, algorithm, call_of(kind, ranks, size), NetworkModel::Ideal);
  };
  // 20 ps a byte, 10^6 ps a message: 14·(2^27·20 + 10^6).
  CHECK(on_mesh("ring", AllReduce, 8, 1_GiB) == 37'594'963'840_ps);
  // A gather of blocks over the root's link, then the whole buffer to each of 7 peers.
  CHECK(on_star("naive", AllGather, 128_MiB) == 21'141'292'160_ps);
  CHECK(on_star("ring", AllGather, 128_MiB) == 2'355'810'240_ps);
  CHECK(on_star("naive", AllReduce, 1_GiB) == 300'649'710'720_ps);
  CHECK(on_star("ring", AllReduce, 1_GiB) == 37'594'963'840_ps);
  // The last of three children: 3·2^20·20 + 10^6; rounds of 1, 2 and 1 blocks: 4·2^20·20 + 3·10^6.
  CHECK(on_mesh("tree", Broadcast, 5, 1_MiB) == 63'914'560_ps);
  CHECK(on_mesh("bruck", AllGather, 5, 5_MiB) == 86'886'080_ps);
  // 2·(7/8·2^20·20 + 3·10^6), and two shots of 2^17 bytes to 7 peers: 2·(7·2^17·20 + 10^6).
  CHECK(on_mesh("halving-doubling", AllReduce, 8, 1_MiB) == 42'700'160_ps);
  CHECK(on_star("direct", AllReduce, 1_MiB) == 38'700'160_ps);
}
