// Every decision of NCCL 2.28.9 on the machines of ../shared/vectors/nccl, from the graphs it
// searched: exact.

#include "tests/algorithms/nccl/decision_vectors.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/nccl/choice.hpp"
#include "algorithms/nccl/rings.hpp"
#include "algorithms/nccl/trees.hpp"
#include "tests/algorithms/nccl/reference_machines.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"

namespace collsim::nccl {

namespace {

using nlohmann::json;

std::string text(std::string_view view) { return std::string(view); }

/// "all_reduce Ring LL" → "15.0/80.6" for every entry that takes part.
std::map<std::string, std::string> table_of(const TuningTable& table) {
  std::map<std::string, std::string> lines;
  for (const Function function : functions) {
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : protocols) {
        const TuningEntry& entry = table[function][algorithm][protocol];
        if (!entry.excluded) {
          lines[text(name_of(collective_of(function))) + " " + text(name(algorithm)) + " " +
                text(name(protocol))] = test::one_decimal(static_cast<double>(entry.latency)) +
                                        "/" +
                                        test::one_decimal(static_cast<double>(entry.bandwidth));
        }
      }
    }
  }
  return lines;
}

std::map<std::string, std::string> table_of(const json& vector) {
  std::map<std::string, std::string> lines;
  for (const json& entry : vector["table"]) {
    lines[entry["collective"].get<std::string>() + " " + entry["algorithm"].get<std::string>() +
          " " + entry["protocol"].get<std::string>()] =
        test::one_decimal(entry["latency_us"]) + "/" + test::one_decimal(entry["bandwidth_GBps"]);
  }
  return lines;
}

std::vector<std::string> choices_of(const json& list) {
  std::vector<std::string> lines;
  for (const json& entry : list) {
    lines.push_back(std::to_string(entry["from_bytes"].get<std::uint64_t>()) + " " +
                    entry["algorithm"].get<std::string>() + " " +
                    entry["protocol"].get<std::string>());
  }
  return lines;
}

std::vector<std::string> choices_of(const std::vector<Crossover>& list) {
  std::vector<std::string> lines;
  for (const Crossover& entry : list) {
    lines.push_back(std::to_string(entry.from_bytes) + " " + text(name(entry.algorithm)) + " " +
                    text(name(entry.protocol)));
  }
  return lines;
}

json tree_json(const std::vector<TreeLinks>& links) {
  json list = json::array();
  for (const TreeLinks& link : links) {
    json down = json::array();
    for (const Rank rank : link.down) {
      down.push_back(rank.value());
    }
    json entry{{"down", down}, {"up", nullptr}};
    if (link.up) {
      entry["up"] = link.up->value();
    }
    list.push_back(entry);
  }
  return json::array({list});
}

json ring_json(const std::vector<std::vector<Rank>>& rings) {
  json list = json::array();
  for (const std::vector<Rank>& ring : rings) {
    json ranks = json::array();
    for (const Rank rank : ring) {
      ranks.push_back(rank.value());
    }
    list.push_back(ranks);
  }
  return list;
}

RankLayout layout_of(const Communicator& communicator) {
  return {communicator.nodes, communicator.max_ranks_per_node};
}

/// Runs a check on every vector, or says that they are missing.
template <class Check>
void on_every_vector(Check check) {
  const auto folder = collsim::test::shared_path("vectors/nccl");
  if (!folder) {
    return;
  }
  const std::vector<std::string> names = test::vector_names(*folder);
  CHECK(names.size() >= 45);
  for (const std::string& name : names) {
    INFO(name);
    const json vector = test::load_vector(*folder, name);
    const test::VectorMachine machine = test::vector_machine(*folder, vector);
    const TuningInput input{test::constants_of("2.28.9"), machine.configuration,
                            machine.communicator, machine.graphs};
    check(vector, machine, input);
  }
}

}  // namespace

TEST_CASE("vectors: the channels are NCCL's") {
  on_every_vector([](const json& vector, const test::VectorMachine&, const TuningInput& input) {
    const Channels channels = execution_channels(input);
    const json& expected = vector["channels"];
    CHECK(static_cast<int>(channels.collective.size()) == expected["collective"].get<int>());
    CHECK(channels.nvls == expected["nvls"].get<int>());
    CHECK(channels.p2p == expected["p2p"].get<int>());
    CHECK(channels.per_peer == expected["per_peer"].get<int>());
  });
}

TEST_CASE("vectors: the rings are NCCL's") {
  on_every_vector(
      [](const json& vector, const test::VectorMachine& machine, const TuningInput& input) {
        const Channels channels = execution_channels(input);
        const auto rings =
            build_rings(machine.graphs, layout_of(machine.communicator), channels.collective);
        if (vector.contains("rings")) {
          CHECK(ring_json(rings) == vector["rings"]);
        }
      });
}

TEST_CASE("vectors: the trees of rank 0 are NCCL's") {
  on_every_vector(
      [](const json& vector, const test::VectorMachine& machine, const TuningInput& input) {
        const Channels channels = execution_channels(input);
        const RankLayout layout = layout_of(machine.communicator);
        CHECK(tree_json(tree_links(machine.graphs.tree, layout, channels.collective, Rank(0))) ==
              vector["trees_rank0"]);
      });
}

TEST_CASE("vectors: the table is NCCL's") {
  on_every_vector([](const json& vector, const test::VectorMachine&, const TuningInput& input) {
    CHECK(table_of(tuning_table(input)) == table_of(vector));
  });
}

TEST_CASE("vectors: the choices are NCCL's") {
  on_every_vector([](const json& vector, const test::VectorMachine&, const TuningInput& input) {
    const Tuning tuning = tune(input);
    for (const auto& [collective, expected] : vector["choices"].items()) {
      INFO(collective);
      Call call;
      call.function = *function_of(*parse_collective(collective));
      CHECK(choices_of(choices(input, tuning, call)) == choices_of(expected));
    }
  });
}

}  // namespace collsim::nccl
