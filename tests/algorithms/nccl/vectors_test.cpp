// The graphs that NCCL 2.28.9's own search gives for machines in ../shared/vectors/nccl: all of them, to the last digit and
// the last NIC.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/nccl/detect.hpp"
#include "algorithms/nccl/graph_search.hpp"
#include "algorithms/nccl/io/topology_xml.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"

namespace collsim::nccl {
namespace {

using nlohmann::json;

std::string word(Pattern pattern) {
  switch (pattern) {
    case Pattern::BalancedTree:
      return "balanced_tree";
    case Pattern::SplitTree:
      return "split_tree";
    case Pattern::Tree:
      return "tree";
    case Pattern::Ring:
      return "ring";
    case Pattern::Nvls:
      return "nvls";
    case Pattern::CollNetDirect:
      return "collnet_direct";
  }
  return "";
}

json as_json(const Graph& graph, bool is_nvls) {
  json result{{"pattern", word(graph.pattern)},
              {"cross_nic", graph.cross_nic},
              {"channels", graph.channels.size()},
              // A text of the float's own digits: 45.1, where the double would be 45.099998.
              {"bw_intra_GBps", json::parse(json(graph.bandwidth_intra).dump())},
              {"bw_inter_GBps", json::parse(json(graph.bandwidth_inter).dump())},
              {"same_channels", graph.same_channels},
              {"type_intra", name(graph.type_intra)},
              {"type_inter", name(graph.type_inter)}};
  for (const GraphChannel& channel : graph.channels) {
    if (is_nvls) {
      result["heads"].push_back(channel.gpus.front());
      continue;
    }
    json order{{"gpus", channel.gpus}};
    if (channel.nic_in) {
      order["nic_in"] = std::to_string(*channel.nic_in);
      order["nic_out"] = std::to_string(*channel.nic_out);
    }
    result["orders"].push_back(order);
  }
  return result;
}

json read_json(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return json::parse(stream);
}

json graphs_of(const std::filesystem::path& xml, const json& expected) {
  const ReadMachine read = load_topology_xml(xml.string());
  SearchOptions options;
  options.nvls_enable = expected.at("env").value("NCCL_NVLS_ENABLE", "2") != "0";
  const auto span = expected.at("nodes").get<int>() == 1 ? NodeCount::One : NodeCount::Several;
  const GraphSet graphs = search_graphs(detect(read.machine, span), options);
  json found{{"ring", as_json(graphs.ring, false)}, {"tree", as_json(graphs.tree, false)}};
  if (graphs.nvls) {
    found["nvls"] = as_json(*graphs.nvls, true);
  }
  return found;
}

}  // namespace

TEST_CASE("the search gives the graphs of NCCL on every machine it was computed for") {
  const auto folder = test::shared_path("vectors/nccl");
  if (!folder) {
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 45);
  for (auto file : files) {
    const json expected = read_json(file);
    file.replace_extension(".xml");
    const json found = graphs_of(file, expected);
    INFO(file.filename().string());
    CHECK(found.size() == expected.at("graphs").size());
    for (const auto& [graph, values] : expected.at("graphs").items()) {
      INFO(graph);
      CHECK(found.value(graph, json()).dump() == values.dump());
    }
  }
}

}  // namespace collsim::nccl
