#include "study/placement.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "study/node_list.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using GpusByNode = std::vector<std::vector<DeviceId>>;

GpusByNode gpus_by_node(const Graph& graph) {
  std::map<NodeId, std::vector<DeviceId>> by_node;
  for (const DeviceId gpu : graph.gpus()) {
    by_node[graph.device(gpu).node.value_or(NodeId(0))].push_back(gpu);
  }
  GpusByNode groups;
  groups.reserve(by_node.size());
  for (auto& [node, gpus] : by_node) {
    groups.push_back(std::move(gpus));
  }
  return groups;
}

/// The same nodes on every machine: the engine's sequence is fixed by the standard.
void shuffle(GpusByNode& groups, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (std::size_t left = groups.size(); left > 1; --left) {
    std::swap(groups[left - 1], groups[engine() % left]);
  }
}

void keep_listed_nodes(const Graph& graph, GpusByNode& groups, const std::string& list) {
  std::map<NodeId, std::size_t> group_of;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    group_of.emplace(graph.device(groups[i].front()).node.value_or(NodeId(0)), i);
  }
  GpusByNode kept;
  for (const NodeId node : parse_node_list(list, graph.nodes())) {
    const auto found = group_of.find(node);
    if (found == group_of.end()) {
      throw InputError("node" + std::to_string(node.value()) + " has no GPU", "--node-list");
    }
    kept.push_back(std::move(groups[found->second]));
  }
  groups = std::move(kept);
}

void require_at_least_one(const std::optional<std::uint32_t>& value, const char* option) {
  if (value && *value == 0) {
    throw InputError("must be at least 1", option);
  }
}

void keep_first_nodes(GpusByNode& groups, const std::optional<std::uint32_t>& nodes) {
  require_at_least_one(nodes, "--nodes");
  if (!nodes) {
    return;
  }
  if (*nodes > groups.size()) {
    throw InputError("asks for " + std::to_string(*nodes) + " nodes; the cluster has " +
                         std::to_string(groups.size()) + " with GPUs",
                     "--nodes", "a larger cluster: --set nodes=" + std::to_string(*nodes));
  }
  groups.resize(*nodes);
}

void keep_first_gpus(const Graph& graph, GpusByNode& groups,
                     const std::optional<std::uint32_t>& gpus_per_node) {
  require_at_least_one(gpus_per_node, "--gpus-per-node");
  if (!gpus_per_node) {
    return;
  }
  for (std::vector<DeviceId>& gpus : groups) {
    if (*gpus_per_node > gpus.size()) {
      const NodeId node = graph.device(gpus.front()).node.value_or(NodeId(0));
      throw InputError("asks for " + std::to_string(*gpus_per_node) + " GPUs a node; node " +
                           std::to_string(node.value()) + " has " + std::to_string(gpus.size()),
                       "--gpus-per-node");
    }
    gpus.resize(*gpus_per_node);
  }
}

void keep_first_ranks(GpusByNode& groups, const std::optional<std::uint32_t>& ranks) {
  require_at_least_one(ranks, "--ranks");
  if (!ranks) {
    return;
  }
  std::size_t left = *ranks;
  for (std::vector<DeviceId>& gpus : groups) {
    gpus.resize(std::min(gpus.size(), left));
    left -= gpus.size();
  }
  if (left > 0) {
    throw InputError("asks for " + std::to_string(*ranks) + " ranks; there are " +
                         std::to_string(*ranks - left) + " GPUs to place them on",
                     "--ranks", "a larger cluster: --set nodes=N or --set gpus=N");
  }
  std::erase_if(groups, [](const std::vector<DeviceId>& gpus) { return gpus.empty(); });
}

Communicator in_blocks(const GpusByNode& groups) {
  Communicator order;
  for (const std::vector<DeviceId>& gpus : groups) {
    order.insert(order.end(), gpus.begin(), gpus.end());
  }
  return order;
}

Communicator round_robin(const GpusByNode& groups) {
  Communicator order;
  std::size_t most = 0;
  for (const std::vector<DeviceId>& gpus : groups) {
    most = std::max(most, gpus.size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    for (const std::vector<DeviceId>& gpus : groups) {
      if (i < gpus.size()) {
        order.push_back(gpus[i]);
      }
    }
  }
  return order;
}

Communicator as_listed(const Graph& graph, const PlacementRequest& request) {
  if (request.nodes || request.gpus_per_node || request.ranks || !request.node_list.empty()) {
    throw InputError(
        "a list of GPUs already says how many: leave out --nodes, --node-list, --gpus-per-node and "
        "--ranks",
        "--placement");
  }
  std::unordered_map<std::string, DeviceId> gpu_of_name;
  std::vector<std::string> names;
  for (const DeviceId gpu : graph.gpus()) {
    names.push_back(graph.name(gpu));
    gpu_of_name.emplace(names.back(), gpu);
  }
  Communicator order;
  std::unordered_map<DeviceId, std::uint32_t> line_of;
  for (const ListedGpu& listed : request.listed) {
    const auto place = [&] {
      return SourceLocation{request.list_name, listed.line, listed.column, {}};
    };
    const auto found = gpu_of_name.find(listed.name);
    if (found == gpu_of_name.end()) {
      const std::string close = did_you_mean(listed.name, names);
      throw InputError("there is no GPU " + in_quotes(listed.name), "--placement",
                       close.empty() ? "the first is called " + names.front() : close, place());
    }
    const auto [first, is_new] = line_of.emplace(found->second, listed.line);
    if (!is_new) {
      throw InputError(
          "GPU " + in_quotes(listed.name) + " is listed twice" +
              (first->second == 0 ? "" : ", first in line " + std::to_string(first->second)),
          "--placement", "", place());
    }
    order.push_back(found->second);
  }
  if (order.empty()) {
    throw InputError("the list names no GPU", "--placement");
  }
  return order;
}

}  // namespace

std::string_view name_of(Placement placement) {
  switch (placement) {
    case Placement::Block:
      return "block";
    case Placement::Cyclic:
      return "cyclic";
    case Placement::Random:
      return "random";
    case Placement::Listed:
      return "listed";
  }
  return "?";
}

Communicator place_ranks(const Graph& graph, const PlacementRequest& request) {
  if (request.order == Placement::Listed) {
    return as_listed(graph, request);
  }
  GpusByNode groups = gpus_by_node(graph);
  if (request.nodes && !request.node_list.empty()) {
    throw InputError("already says which nodes: leave out --nodes", "--node-list");
  }
  if (!request.node_list.empty()) {
    keep_listed_nodes(graph, groups, request.node_list);
  }
  if (request.order == Placement::Random) {
    shuffle(groups, request.seed);
  }
  keep_first_nodes(groups, request.nodes);
  keep_first_gpus(graph, groups, request.gpus_per_node);
  keep_first_ranks(groups, request.ranks);
  return request.order == Placement::Cyclic ? round_robin(groups) : in_blocks(groups);
}

std::uint32_t nodes_of(const Graph& graph, const Communicator& gpus) {
  std::set<NodeId> nodes;
  for (const DeviceId gpu : gpus) {
    nodes.insert(graph.device(gpu).node.value_or(NodeId(0)));
  }
  return static_cast<std::uint32_t>(nodes.size());
}

}  // namespace collsim
