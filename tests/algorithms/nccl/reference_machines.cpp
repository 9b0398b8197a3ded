#include "tests/algorithms/nccl/reference_machines.hpp"

#include <array>
#include <charconv>
#include <map>

#include "algorithms/nccl/io/find_constants.hpp"
#include "tests/shared_data.hpp"

namespace collsim::nccl::test {

namespace {

/// `count` channels that all visit the GPUs in order, each from another GPU on if `turning`.
std::vector<GraphChannel> orders(int count, int gpus, bool turning) {
  std::vector<GraphChannel> channels;
  for (int channel = 0; channel < count; ++channel) {
    GraphChannel order;
    for (int i = 0; i < gpus; ++i) {
      order.gpus.push_back((i + (turning ? channel : 0)) % gpus);
    }
    channels.push_back(order);
  }
  return channels;
}

/// Even channels go down from their GPU, odd ones up.
std::vector<GraphChannel> alternating_orders(int count, int gpus) {
  std::vector<GraphChannel> channels;
  for (int channel = 0; channel < count; ++channel) {
    GraphChannel order;
    for (int i = 0; i < gpus; ++i) {
      order.gpus.push_back((channel + (channel % 2 == 0 ? gpus - i : i)) % gpus);
    }
    channels.push_back(order);
  }
  return channels;
}

struct GraphShape {
  Pattern pattern = Pattern::Ring;
  int channels = 0;
  float intra = 0;
  float inter = 0;
  PathType type_inter = PathType::Pix;
};

Graph graph(GraphShape shape, int gpus, bool same) {
  Graph result;
  result.pattern = shape.pattern;
  result.same_channels = same;
  result.bandwidth_intra = shape.intra;
  result.bandwidth_inter = shape.inter;
  result.type_intra = gpus > 1 ? PathType::Nvl : PathType::Loc;
  result.type_inter = shape.type_inter;
  result.channels = orders(shape.channels, gpus, !same);
  return result;
}

Communicator communicator(int nodes, int gpus, int sm) {
  Communicator result;
  result.nodes = nodes;
  result.ranks = nodes * gpus;
  result.min_ranks_per_node = gpus;
  result.max_ranks_per_node = gpus;
  result.min_sm = sm;
  result.max_sm = sm;
  result.has_nvswitch = true;
  result.supports_nvls = sm >= 90;
  result.all_nvlink = true;
  const float link = sm >= 100 ? 40.1F : sm >= 90 ? 20.6F : 20.0F;
  const float links = sm >= 90 ? 18 : 12;
  if (gpus > 1) {
    result.local_paths = {{PathType::Nvl, links * link, link}};
  }
  result.nics = {{1, 48.0F}};
  result.slowest_nic = 48.0F;
  return result;
}

ReferenceMachine machine(const Communicator& facts, GraphSet graphs) {
  return {facts, std::move(graphs), {}, constants_of("2.28")};
}

}  // namespace

std::string one_decimal(double value) {
  std::array<char, 32> text{};
  const std::to_chars_result result =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1);
  return {text.data(), result.ptr};
}

std::string ReferenceMachine::cell(Function function, Algorithm algorithm,
                                   Protocol protocol) const {
  const TuningEntry found = entry(function, algorithm, protocol);
  return found.excluded ? std::string(rule(*found.excluded))
                        : one_decimal(static_cast<double>(found.latency)) + "/" +
                              one_decimal(static_cast<double>(found.bandwidth));
}

std::string ReferenceMachine::row(Function function, Algorithm algorithm) const {
  std::string text;
  for (const Protocol protocol : protocols) {
    text += (text.empty() ? "" : " ") + cell(function, algorithm, protocol);
  }
  return text;
}

std::string ReferenceMachine::choices_of(Call call) const {
  std::string text;
  for (const Crossover& crossover : nccl::choices(input(), tune(input()), call)) {
    text += (text.empty() ? "" : ", ") + std::to_string(crossover.from_bytes) + " " +
            std::string(name(crossover.algorithm)) + " " + std::string(name(crossover.protocol));
  }
  return text;
}

std::string ReferenceMachine::channels() const {
  const Channels counts = execution_channels(input());
  return std::to_string(counts.collective.size()) + "/" + std::to_string(counts.nvls) + "/" +
         std::to_string(counts.p2p) + "/" + std::to_string(counts.per_peer);
}

const TuningConstants& constants_of(const std::string& version) {
  static std::map<std::string, TuningConstants> known;
  const auto found = known.find(version);
  if (found != known.end()) {
    return found->second;
  }
  const ConfigPath path{{collsim::test::source_path("configs").string()}};
  return known.emplace(version, find_constants(path, version)).first->second;
}

ReferenceMachine h100(int nodes) {
  GraphSet graphs;
  if (nodes == 1) {
    graphs.ring = graph({Pattern::Ring, 12, 30, 30}, 8, true);
    graphs.tree = graph({Pattern::BalancedTree, 12, 30, 30}, 8, true);
    graphs.nvls = graph({Pattern::Nvls, 8, 40, 60}, 8, false);
  } else {
    graphs.ring = graph({Pattern::Ring, 8, 48, 48}, 8, false);
    graphs.ring.cross_nic = 2;
    graphs.ring.channels = alternating_orders(8, 8);
    graphs.tree = graph({Pattern::Tree, 8, 48, 48}, 8, false);
    graphs.nvls = graph({Pattern::Nvls, 8, 40, 48}, 8, false);
  }
  return machine(communicator(nodes, 8, 90), graphs);
}

ReferenceMachine few_h100(int gpus, float nvls_speed) {
  const float tree = gpus == 2 ? 60.0F : gpus == 3 ? 40.0F : 30.0F;
  GraphSet graphs;
  graphs.ring = graph({Pattern::Ring, 12, 30, 30}, gpus, true);
  graphs.tree = graph({Pattern::BalancedTree, 12, tree, tree}, gpus, true);
  graphs.nvls = graph({Pattern::Nvls, gpus, nvls_speed, 60}, gpus, false);
  return machine(communicator(1, gpus, 90), graphs);
}

ReferenceMachine single_h100(int nodes) {
  GraphSet graphs;
  graphs.ring = graph({Pattern::Ring, 2, 24, 24}, 1, true);
  graphs.tree = graph({Pattern::Tree, 2, 48, 24}, 1, true);
  Communicator facts = communicator(nodes, 1, 90);
  facts.supports_nvls = false;
  return machine(facts, graphs);
}

ReferenceMachine a100(int nodes) {
  GraphSet graphs;
  if (nodes == 1) {
    graphs.ring = graph({Pattern::Ring, 12, 20, 20}, 8, true);
    graphs.tree = graph({Pattern::BalancedTree, 12, 20, 20}, 8, true);
  } else {
    graphs.ring = graph({Pattern::Ring, 8, 24, 24}, 8, false);
    graphs.tree = graph({Pattern::BalancedTree, 8, 30, 24}, 8, false);
  }
  Communicator facts = communicator(nodes, 8, 80);
  facts.cpu_vendor = HostVendor::Amd;
  return machine(facts, graphs);
}

ReferenceMachine nvlink_domain(int gpus) {
  GraphSet graphs;
  graphs.ring = graph({Pattern::Ring, 16, 45, 45}, gpus, true);
  graphs.tree = graph({Pattern::BalancedTree, 16, 40, 40}, gpus, true);
  const bool small = gpus <= 16;
  graphs.nvls =
      graph({Pattern::Nvls, small ? gpus : 32, small ? 40.0F : 20.0F, small ? 80.0F : 40.0F}, gpus,
            false);
  return machine(communicator(1, gpus, 100), graphs);
}

ReferenceMachine two_nvl72() {
  GraphSet graphs;
  graphs.ring = graph({Pattern::Ring, 16, 45.1F, 45.1F, PathType::P2c}, 72, false);
  graphs.tree = graph({Pattern::BalancedTree, 16, 45.1F, 45.1F, PathType::P2c}, 72, false);
  graphs.nvls = graph({Pattern::Nvls, 32, 20, 40, PathType::P2c}, 72, false);
  Communicator facts = communicator(2, 72, 100);
  facts.cpu_architecture = HostArchitecture::Arm;
  facts.cpu_vendor = HostVendor::Other;
  return machine(facts, graphs);
}

ReferenceMachine pcie4() {
  GraphSet graphs;
  graphs.ring = graph({Pattern::Ring, 1, 20, 20}, 4, true);
  graphs.tree = graph({Pattern::BalancedTree, 1, 20, 20}, 4, true);
  graphs.ring.type_intra = PathType::Phb;
  graphs.tree.type_intra = PathType::Phb;
  Communicator facts = communicator(1, 4, 80);
  facts.has_nvswitch = false;
  facts.all_nvlink = false;
  facts.local_paths = {{PathType::Phb, 24.0F, 0.0F}};
  return machine(facts, graphs);
}

void add_collnet(ReferenceMachine& machine, int heads, CollNetPlugin plugin) {
  const int gpus = machine.communicator.max_ranks_per_node;
  machine.communicator.collnet = plugin;
  machine.graphs.collnet_chain = graph({Pattern::Tree, 8, 60, 48}, gpus, false);
  machine.graphs.collnet_direct = graph({Pattern::CollNetDirect, heads, 40, 48}, gpus, false);
  machine.configuration.collnet = true;
}

}  // namespace collsim::nccl::test
