// From a topology file to everything NCCL decides: each of the reference vectors, to the last digit.

#include "algorithms/nccl/decisions.hpp"

#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/trees.hpp"
#include "tests/algorithms/nccl/decision_vectors.hpp"
#include "tests/algorithms/nccl/machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/io/load.hpp"

namespace collsim::nccl {

namespace {

using nlohmann::json;

ConfigPath shipped() { return ConfigPath{{collsim::test::source_path("configs").string()}}; }

Decisions decide(const std::filesystem::path& folder, const json& vector) {
  DecisionInput input;
  input.machine =
      load_topology_xml((folder / vector["topology"].get<std::string>()).string()).machine;
  input.nodes = vector["nodes"];
  input.constants = find_constants(shipped(), "2.28");
  for (const auto& [name, value] : vector["env"].items()) {
    parse_variable(input.configuration, name, value.get<std::string>());
  }
  return Decisions(input);
}

std::string one_decimal(double value) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1);
  return {text.data(), end.ptr};
}

json table_of(const Decisions& decisions) {
  json rows = json::array();
  for (const Function function : functions) {
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : protocols) {
        const TuningEntry& entry = decisions.tuning().table[function][algorithm][protocol];
        if (!entry.excluded) {
          rows.push_back({{"collective", name_of(collective_of(function))},
                          {"algorithm", name(algorithm)},
                          {"protocol", name(protocol)},
                          {"latency_us", one_decimal(static_cast<double>(entry.latency))},
                          {"bandwidth_GBps", one_decimal(static_cast<double>(entry.bandwidth))}});
        }
      }
    }
  }
  return rows;
}

json rounded(json rows) {
  for (json& row : rows) {
    for (const std::string key : {"latency_us", "bandwidth_GBps"}) {
      row[key] = one_decimal(row[key].get<double>());
    }
  }
  return rows;
}

json channels_of(const Decisions& decisions) {
  const Channels& channels = decisions.tuning().channels;
  return {{"collective", channels.collective.size()},
          {"nvls", channels.nvls},
          {"p2p", channels.p2p},
          {"per_peer", channels.per_peer}};
}

json rings_of(const Decisions& decisions) {
  json rings = json::array();
  for (const std::vector<Rank>& ring : build_rings(decisions.graphs(), decisions.layout(),
                                                   decisions.tuning().channels.collective)) {
    json ranks = json::array();
    for (const Rank rank : ring) {
      ranks.push_back(rank.value());
    }
    rings.push_back(std::move(ranks));
  }
  return rings;
}

json trees_of_rank_0(const Decisions& decisions) {
  json trees = json::array();
  for (const TreeLinks& links : tree_links(decisions.graphs().tree, decisions.layout(),
                                           decisions.tuning().channels.collective, Rank(0))) {
    json down = json::array();
    for (const Rank rank : links.down) {
      down.push_back(rank.value());
    }
    trees.push_back({{"down", down}, {"up", nullptr}});
    if (links.up) {
      trees.back()["up"] = links.up->value();
    }
  }
  return trees;
}

json choices_of(const Decisions& decisions) {
  json all = json::object();
  for (const Function function : functions) {
    json& list = all[std::string(name_of(collective_of(function)))];
    Call call;
    call.function = function;
    for (const Crossover& crossover : choices(decisions.input(), decisions.tuning(), call)) {
      list.push_back({{"from_bytes", crossover.from_bytes},
                      {"algorithm", name(crossover.algorithm)},
                      {"protocol", name(crossover.protocol)}});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("from a topology file NCCL's decisions come out as the library computes them") {
  const auto folder = collsim::test::shared_path("vectors/nccl");
  if (!folder) {
    return;
  }
  const std::vector<std::string> names = test::vector_names(*folder);
  CHECK(names.size() == 45);
  for (const std::string& name : names) {
    CAPTURE(name);
    const json vector = test::load_vector(*folder, name);
    const Decisions decisions = decide(*folder, vector);
    CHECK(channels_of(decisions) == vector["channels"]);
    CHECK(table_of(decisions) == rounded(vector["table"]));
    CHECK(trees_of_rank_0(decisions) == vector["trees_rank0"][0]);
    const json found = choices_of(decisions);
    // The vectors leave out those that have but one algorithm.
    for (const auto& [collective, list] : vector["choices"].items()) {
      CAPTURE(collective);
      CHECK(found.at(collective) == list);
    }
    if (vector.contains("rings")) {
      CHECK(rings_of(decisions) == vector["rings"]);
    }
  }
}

namespace {

/// Two Skylake sockets (10 GB/s between them) with a switch each: a NIC of 100 Gb/s (12.5 GB/s), and so
/// many GPUs.
Machine sockets_with_gpus(int first, int second) {
  const std::string gen4 = "16.0 GT/s PCIe";
  Machine machine{{collsim::test::intel_cpu(0, 0x55), collsim::test::intel_cpu(1, 0x55)}};
  int rank = 0;
  for (const int socket : {0, 1}) {
    MachinePci pci = collsim::test::pci_device(16 * (socket + 1), "0x060400", gen4);
    for (int i = 0; i < (socket == 0 ? first : second); ++i) {
      const int bus = 16 * (socket + 1) + 1 + i;
      pci.children.push_back(collsim::test::gpu_device(bus, rank++, 80, 0, gen4));
    }
    const int bus = 16 * (socket + 1) + 15;
    pci.children.push_back(collsim::test::nic_device(bus, socket, 100'000, gen4));
    machine.cpus[static_cast<std::size_t>(socket)].devices.emplace_back(pci);
  }
  return machine;
}

MachinePci& switch_of(Machine& machine, std::size_t socket) {
  return std::get<MachinePci>(machine.cpus[socket].devices[0]);
}

/// What becomes of three such hosts: how many nodes, or why there are none.
std::string outcome(const Machine& machine) {
  DecisionInput input;
  input.machine = machine;
  input.nodes = 3;
  input.constants = find_constants(shipped(), "2.28");
  try {
    const Decisions decisions(input);
    return std::to_string(decisions.communicator().nodes) + " nodes of " +
           std::to_string(decisions.communicator().max_ranks_per_node);
  } catch (const InputError& error) {
    return error.message();
  }
}

}  // namespace

TEST_CASE("decisions: groups of GPUs that talk over NICs are nodes, if they are alike") {
  const std::string unlike =
      "NCCL takes groups of GPUs of the host for nodes, and they are not alike: group 1 has other ";
  CHECK(outcome(sockets_with_gpus(1, 1)) == "6 nodes of 1");
  CHECK(outcome(sockets_with_gpus(2, 2)) == "6 nodes of 2");
  CHECK(outcome(sockets_with_gpus(1, 3)) == unlike + "numbers of GPUs than group 0");
  CHECK(outcome(sockets_with_gpus(3, 1)) == unlike + "numbers of GPUs than group 0");
  Machine crossed = sockets_with_gpus(2, 2);
  std::swap(switch_of(crossed, 0).children[1].gpu->rank,
            switch_of(crossed, 1).children[0].gpu->rank);
  CHECK(outcome(crossed) == unlike + "ranks (those behind are expected) than group 0");
  // NICs of the second socket are slower, yet faster than 10 GB/s.
  Machine slower = sockets_with_gpus(2, 2);
  switch_of(slower, 1).children[2].nic->nets[0].speed = 90'000;
  CHECK(outcome(slower) == unlike + "graphs than group 0");
}

// A PCIe switch stands between each GPU and its host: up to 2.28 NCCL counts no NIC there. From 2.29
// on the 48 GB/s of the NIC (400 Gb/s behind gen 5 x16) fill the 48 GB/s to the host: ceil(48 / 14).
TEST_CASE("decisions: NICs of a GPU behind a PCIe switch, by version") {
  DecisionInput input;
  input.machine = collsim::test::nic_per_gpu(8, 90, 18, 400000, "32.0 GT/s PCIe");
  input.nodes = 2;
  input.constants = find_constants(shipped(), "2.28");
  const Decisions old(input);
  CHECK(old.communicator().nics.front().count == 0);
  CHECK(old.tuning().channels.per_peer == 2);
  input.constants = find_constants(shipped(), "2.29.7");
  const Decisions current(input);
  CHECK(current.communicator().nics == std::vector<LocalNics>{{1, 48.0F}});
  CHECK(current.tuning().channels.per_peer == 4);
}

}  // namespace collsim::nccl
