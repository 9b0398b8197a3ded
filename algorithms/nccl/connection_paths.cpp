#include "algorithms/nccl/connection_paths.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/nccl/local_devices.hpp"
#include "algorithms/nccl/paths.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using Inside = ConnectionTables::Inside;
using Pair = ConnectionTables::Pair;
using ToNic = ConnectionTables::ToNic;
using Nic = ConnectionTables::Nic;

/// A node, and where its parts stand among those of their kind.
class NodeParts {
 public:
  explicit NodeParts(const DetectedNode& node)
      : node_(&node), nets_(node.system.all(PartKind::Net)), number_(node.system.parts().size()) {
    std::ranges::stable_sort(nets_, {}, [&](PartId net) { return dev(net); });
    number(node.gpus);
    number(nets_);
  }

  [[nodiscard]] const DetectedNode& node() const { return *node_; }
  /// By `dev`.
  [[nodiscard]] const std::vector<PartId>& nets() const { return nets_; }
  /// Of a GPU or NIC.
  [[nodiscard]] std::uint32_t number(PartId part) const { return number_[part.index()]; }
  [[nodiscard]] Nic nic_with(std::optional<int> wanted) const {
    for (const PartId net : nets_) {
      if (wanted == dev(net)) {
        return number(net);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<PartId> local_nets_of(PartId gpu) const {
    return local_nets(node_->system, node_->paths, node_->options, gpu);
  }
  [[nodiscard]] bool gpu_direct(PartId gpu, PartId net) const {
    return uses_gpu_direct(node_->system, node_->paths, gpu, net, node_->options);
  }

 private:
  void number(const std::vector<PartId>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      number_[parts[i].index()] = static_cast<std::uint32_t>(i);
    }
  }
  [[nodiscard]] int dev(PartId net) const { return node_->system.part(net).net.dev; }

  const DetectedNode* node_;
  std::vector<PartId> nets_;
  std::vector<std::uint32_t> number_;
};

Pair pair_of(const NodeParts& parts, PathType worst_p2p, std::size_t from, std::size_t to) {
  const Path& path = gpu_path(parts.node(), from, to);
  if (path.type == PathType::Net) {
    return {Inside::Network, 0};
  }
  if (path.type > worst_p2p) {
    return {Inside::Host, 0};
  }
  if (const std::optional<PartId> middle = gpu_on(parts.node().system, path)) {
    return {Inside::ThroughGpu, parts.number(*middle)};
  }
  return {};
}

void read_pairs(const NodeParts& parts, ConnectionTables& tables) {
  const PathType worst_p2p = worst_for_p2p(parts.node().system, parts.node().options);
  bool all_direct = true;
  for (std::size_t from = 0; from < tables.gpus; ++from) {
    for (std::size_t to = 0; to < tables.gpus; ++to) {
      tables.pairs.push_back(from == to ? Pair{} : pair_of(parts, worst_p2p, from, to));
      all_direct = all_direct && tables.pairs.back().inside == Inside::Direct;
    }
  }
  if (all_direct) {
    tables.pairs.clear();
  }
}

/// By the path that the graph search counted on.
ToNic by_path(const NodeParts& parts, PartId gpu, PartId net) {
  const Path& path = parts.node().paths.between(gpu, net);
  ToNic way;
  way.host = !parts.gpu_direct(gpu, net);
  if (path.type == PathType::Pxn) {
    if (const std::optional<PartId> relay = gpu_on(parts.node().system, path)) {
      way.through = parts.number(*relay);
    }
  }
  return way;
}

/// A send goes through the GPU next to the NIC wherever NVLink leads there, so that one proxy has all
/// that goes to a GPU of another node.
ToNic by_aggregation(const NodeParts& parts, PartId gpu, PartId net) {
  const DetectedNode& node = parts.node();
  ToNic way;
  way.host = !parts.gpu_direct(gpu, net);
  way.allowed = false;
  const std::optional<PartId> near = local_gpu(node.system, node.paths, node.options, net);
  if (node.options.pxn_disable || !near) {
    return way;
  }
  const PathType worst = node.options.pxn_c2c ? PathType::P2c : PathType::Pxb;
  way.allowed = node.paths.between(*near, gpu).type <= PathType::Nvl &&
                node.paths.between(*near, net).type <= worst;
  if (way.allowed && *near != gpu && !way.host) {
    way.through = parts.number(*near);
  }
  return way;
}

template <class Rule>
void read_ways_to_nics(const NodeParts& parts, ConnectionTables& tables, Rule rule) {
  tables.nics = static_cast<std::uint32_t>(parts.nets().size());
  for (const PartId gpu : parts.node().gpus) {
    for (const PartId net : parts.nets()) {
      tables.to_nic.push_back(rule(parts, gpu, net));
    }
  }
}

/// The first GPU of a search channel has the NIC that it comes in by, all others the other one.
std::vector<Nic> nics_of(const NodeParts& parts, const GraphChannel& channel) {
  std::vector<Nic> nics(parts.node().gpus.size(), parts.nic_with(channel.nic_out));
  nics.at(static_cast<std::size_t>(channel.gpus.front())) = parts.nic_with(channel.nic_in);
  return nics;
}

/// The chains of CollNet's graph in turn.
void take_chain_nics(const NodeParts& parts, const Graph& graph, std::size_t channels,
                     ConnectionTables& tables) {
  for (std::size_t channel = 0; channel < channels; ++channel) {
    tables.nic_of_channel.push_back(
        nics_of(parts, graph.channels[channel % graph.channels.size()]));
  }
}

void take_graph_nics(const NodeParts& parts, const Decisions& decisions, const Graph& graph,
                     ConnectionTables& tables) {
  for (const ExecutionChannel& channel : decisions.tuning().channels.collective) {
    tables.nic_of_channel.push_back(
        nics_of(parts, graph.channels.at(static_cast<std::size_t>(channel.search_channel))));
  }
}

/// The heads' NICs, those of each in turn.
void take_head_nics(const NodeParts& parts, const Graph& graph, int channels,
                    ConnectionTables& tables) {
  std::vector<std::vector<Nic>> nics(parts.node().gpus.size());
  for (const GraphChannel& channel : graph.channels) {
    nics.at(static_cast<std::size_t>(channel.gpus.front()))
        .push_back(parts.nic_with(channel.nic_in));
  }
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels); ++channel) {
    std::vector<Nic>& row = tables.nic_of_channel.emplace_back();
    for (const std::vector<Nic>& own : nics) {
      row.push_back(own.empty() ? std::nullopt : own[channel % own.size()]);
    }
  }
}

void take_local_nics(const NodeParts& parts, int channels, ConnectionTables& tables) {
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels); ++channel) {
    std::vector<Nic>& row = tables.nic_of_channel.emplace_back();
    for (const PartId gpu : parts.node().gpus) {
      const std::vector<PartId> nets = parts.local_nets_of(gpu);
      row.push_back(nets.empty() ? Nic{} : Nic(parts.number(nets[channel % nets.size()])));
    }
  }
}

void read_rails(const NodeParts& parts, ConnectionTables& tables) {
  const DetectedNode& node = parts.node();
  for (const PartId from : node.gpus) {
    for (const PartId to : node.gpus) {
      const auto rail = std::ranges::find_if(node.gpus, [&](PartId gpu) {
        return node.system.part(gpu).host == node.system.part(from).host &&
               node.system.part(gpu).gpu.dev == node.system.part(to).gpu.dev;
      });
      tables.rail_gpu.push_back(rail == node.gpus.end()
                                    ? std::nullopt
                                    : std::optional<std::uint32_t>(parts.number(*rail)));
    }
  }
}

ConnectionTables empty_tables(const Decisions& decisions) {
  ConnectionTables tables;
  tables.gpus = static_cast<std::uint32_t>(decisions.node().gpus.size());
  tables.nodes_in_host = static_cast<std::uint32_t>(decisions.node().part_ranks.size());
  return tables;
}

/// How a GPU leaves its node.
struct WayOut {
  Nic nic{};
  std::optional<std::uint32_t> through{};
};

WayOut way_out(const ConnectionTables& tables, std::uint32_t from, std::uint32_t to,
               const std::vector<Nic>& nics) {
  const auto way = [&](const Nic& nic) { return tables.to_nic[from * tables.nics + *nic]; };
  if (tables.rail_gpu.empty()) {
    return {nics[from], nics[from] ? way(nics[from]).through : std::nullopt};
  }
  const std::optional<std::uint32_t>& gpu = tables.rail_gpu[from * tables.gpus + to];
  const Nic rail = gpu ? nics[*gpu] : std::nullopt;
  if (rail && way(rail).allowed) {
    return {rail, way(rail).through};
  }
  return {rail && tables.keeps_to_rail ? rail : nics[from], std::nullopt};
}

/// The tables are of the first of the nodes that share a host.
std::uint32_t nic_in_host(const ConnectionTables& tables, Rank rank, std::uint32_t nic) {
  const std::uint32_t node = rank.value() / tables.gpus % tables.nodes_in_host;
  return tables.nics % tables.nodes_in_host == 0
             ? (nic + node * (tables.nics / tables.nodes_in_host)) % tables.nics
             : nic;
}

Waypoints by_network(const ConnectionTables& tables, Rank from, Rank to, std::uint32_t channel) {
  if (tables.nic_of_channel.empty()) {
    return {};
  }
  const std::vector<Nic>& nics = tables.nic_of_channel[channel % tables.nic_of_channel.size()];
  const std::uint32_t sender = from.value() % tables.gpus;
  const std::uint32_t receiver = to.value() % tables.gpus;
  const WayOut out = way_out(tables, sender, receiver, nics);
  const Nic in = nics[receiver];
  if (!out.nic || !in) {
    return {};
  }
  Waypoints waypoints;
  if (out.through) {
    waypoints.through = Rank(from.value() - sender + *out.through);
  }
  waypoints.nic_out = nic_in_host(tables, from, *out.nic);
  waypoints.nic_in = nic_in_host(tables, to, *in);
  waypoints.host_out = tables.to_nic[sender * tables.nics + *out.nic].host;
  waypoints.host_in = tables.to_nic[receiver * tables.nics + *in].host;
  return waypoints;
}

}  // namespace

ConnectionTables algorithm_connections(const Decisions& decisions, Algorithm algorithm) {
  ConnectionTables tables = empty_tables(decisions);
  const NodeParts parts(decisions.node());
  const bool through_switch = algorithm == Algorithm::Nvls || algorithm == Algorithm::NvlsTree;
  if (!through_switch) {
    read_pairs(parts, tables);
  }
  if (decisions.communicator().nodes == 1) {
    return tables;
  }
  read_ways_to_nics(parts, tables, by_path);
  const GraphSet& graphs = decisions.graphs();
  const std::size_t channels = decisions.tuning().channels.collective.size();
  switch (algorithm) {
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
      take_head_nics(parts, *graphs.nvls, decisions.tuning().channels.nvls, tables);
      break;
    case Algorithm::CollNetDirect:
      take_head_nics(parts, *graphs.collnet_direct, static_cast<int>(channels), tables);
      break;
    case Algorithm::CollNetChain:
      take_chain_nics(parts, *graphs.collnet_chain, channels, tables);
      break;
    case Algorithm::Ring:
      take_graph_nics(parts, decisions, graphs.ring, tables);
      break;
    case Algorithm::Tree:
    case Algorithm::Pat:
      take_graph_nics(parts, decisions, graphs.tree, tables);
      break;
  }
  return tables;
}

ConnectionTables send_recv_connections(const Decisions& decisions) {
  ConnectionTables tables = empty_tables(decisions);
  const NodeParts parts(decisions.node());
  read_pairs(parts, tables);
  if (decisions.communicator().nodes > 1) {
    read_ways_to_nics(parts, tables, by_aggregation);
    take_local_nics(parts, decisions.tuning().channels.p2p, tables);
    read_rails(parts, tables);
    tables.keeps_to_rail = decisions.configuration().cross_nic == 0;
  }
  return tables;
}

std::vector<std::size_t> connection_kinds(const ConnectionTables& tables, std::size_t channels) {
  const auto& rows = tables.nic_of_channel;
  std::vector<std::size_t> kinds(channels);
  for (std::size_t channel = 0; !rows.empty() && channel < channels; ++channel) {
    kinds[channel] = static_cast<std::size_t>(std::ranges::find(rows, rows[channel % rows.size()]) -
                                              rows.begin());
  }
  return kinds;
}

Waypoints waypoints_of(const ConnectionTables& tables, Rank from, Rank to, std::uint32_t channel) {
  const std::uint32_t sender = from.value() % tables.gpus;
  const std::uint32_t receiver = to.value() % tables.gpus;
  if (from.value() - sender != to.value() - receiver) {
    return by_network(tables, from, to, channel);
  }
  if (tables.pairs.empty()) {
    return {};
  }
  const Pair& pair = tables.pairs[sender * tables.gpus + receiver];
  Waypoints waypoints;
  switch (pair.inside) {
    case Inside::Direct:
      break;
    case Inside::ThroughGpu:
      waypoints.through = Rank(from.value() - sender + pair.through);
      break;
    case Inside::Host:
      waypoints.host_in = true;
      break;
    case Inside::Network:
      return by_network(tables, from, to, channel);
  }
  return waypoints;
}

}  // namespace collsim::nccl
