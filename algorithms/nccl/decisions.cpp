#include "algorithms/nccl/decisions.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "algorithms/nccl/host_parts.hpp"
#include "algorithms/nccl/local_devices.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// The row of the greatest `from_sm` that is not above `sm`. Requires: rows ascend.
template <class Row>
const Row* row_for(const std::vector<Row>& rows, int sm) {
  const Row* found = nullptr;
  for (const Row& row : rows) {
    if (row.from_sm <= sm) {
      found = &row;
    }
  }
  return found;
}

DetectOptions detect_options(const Configuration& configuration, const TuningConstants& constants) {
  DetectOptions options;
  for (NvlinkSpeed& speed : options.link_speeds.nvlink) {
    if (const NvlinkRow* row = row_for(constants.nvlink, speed.least_sm)) {
      speed.bandwidth = static_cast<float>(row->bandwidth);
    }
  }
  options.link_speeds.intel_sapphire_rapids = static_cast<float>(constants.sapphire_rapids_sockets);
  options.link_speeds.intel_emerald_rapids = static_cast<float>(constants.emerald_rapids_sockets);
  options.nics_over_c2c = constants.nics_over_c2c;
  options.path_preference = constants.path_preference;
  options.p2p_disable = configuration.p2p_disabled;
  options.p2p_level = configuration.p2p_level;
  options.shm_disable = configuration.shm_disabled;
  options.pxn_disable = configuration.pxn_disabled;
  options.net_gdr_level = configuration.net_gdr_level;
  return options;
}

std::vector<float> as_floats(const std::vector<double>& values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double value : values) {
    floats.push_back(static_cast<float>(value));
  }
  return floats;
}

SearchOptions search_options(const DecisionInput& input) {
  SearchOptions options;
  const TuningConstants& constants = input.constants;
  options.constants.speeds.clear();
  for (const SpeedLadder& ladder : constants.speeds) {
    options.constants.speeds.push_back(
        {ladder.from_sm, as_floats(ladder.one_node), as_floats(ladder.several_nodes)});
  }
  std::ranges::reverse(options.constants.speeds);
  options.constants.most_channels = static_cast<std::size_t>(constants.max_channels / 2);
  options.constants.most_nvls_heads = static_cast<std::size_t>(constants.max_nvls_heads);
  const Configuration& configuration = input.configuration;
  options.cross_nic = configuration.cross_nic.value_or(options.cross_nic);
  options.nvls_enable = configuration.nvls != Switch::Off;
  options.collnet_enable = configuration.collnet && input.nodes >= configuration.collnet_nodes;
  options.given_ring = input.given_ring;
  options.given_tree = input.given_tree;
  options.given_nvls = input.given_nvls;
  return options;
}

HostArchitecture architecture(CpuArchitecture of) {
  switch (of) {
    case CpuArchitecture::Arm:
      return HostArchitecture::Arm;
    case CpuArchitecture::Power:
      return HostArchitecture::Power;
    case CpuArchitecture::X86:
    case CpuArchitecture::Unknown:
      break;
  }
  return HostArchitecture::X86;
}

HostVendor vendor(CpuVendor of) {
  switch (of) {
    case CpuVendor::Intel:
      return HostVendor::Intel;
    case CpuVendor::Amd:
      return HostVendor::Amd;
    case CpuVendor::Zhaoxin:
      return HostVendor::Zhaoxin;
    case CpuVendor::Unknown:
      break;
  }
  return HostVendor::Other;
}

/// Equal entries once: a rack of 72 GPUs has 5,112 pairs, which are all alike.
template <class Value>
void add_once(std::vector<Value>& values, const Value& value) {
  if (std::ranges::find(values, value) == values.end()) {
    values.push_back(value);
  }
}

void add_local_paths(const DetectedNode& node, Communicator& communicator) {
  const std::size_t gpus = node.gpus.size();
  for (std::size_t from = 0; from < gpus; ++from) {
    const float nvlink = nvlink_bandwidth(node, from);
    for (std::size_t to = 0; to < gpus; ++to) {
      if (to != from) {
        const Path& path = gpu_path(node, from, to);
        add_once(communicator.local_paths, LocalPath{path.type, path.bandwidth, nvlink});
      }
    }
  }
}

/// From 2.29 on: the NICs of a GPU, in the order of its channels, until they fill its path to the host.
LocalNics filling_nics(const DetectedNode& node, PartId gpu) {
  const std::vector<PartId> hosts = nearest_parts(node.system, node.paths, gpu, PartKind::Cpu);
  const float to_host = hosts.empty() ? 0.0F : node.paths.between(gpu, hosts.front()).bandwidth;
  LocalNics nics{0, 0};
  for (const PartId net : local_nets(node.system, node.paths, node.options, gpu)) {
    nics.bandwidth += node.paths.between(gpu, net).bandwidth;
    ++nics.count;
    if (nics.bandwidth >= to_host) {
      break;
    }
  }
  return nics;
}

void add_nics(const DetectedNode& node, const TuningConstants& constants,
              Communicator& communicator) {
  float slowest = std::numeric_limits<float>::max();
  for (std::size_t rank = 0; rank < node.gpus.size(); ++rank) {
    LocalNics nics{static_cast<int>(nets_by_bandwidth(node, rank)), 0};
    for (const PartId net : local_nets(node.system, node.paths, node.options, node.gpus[rank])) {
      const float bandwidth = node.system.part(net).net.bandwidth;
      nics.bandwidth += bandwidth;
      slowest = std::min(slowest, bandwidth);
    }
    const bool filling = constants.remote_channels == RemoteChannels::Bandwidth;
    add_once(communicator.nics, filling ? filling_nics(node, node.gpus[rank]) : nics);
  }
  communicator.slowest_nic = node.system.count(PartKind::Net) > 0 ? slowest : 0;
}

Communicator communicator_of(const DetectedNode& node, const GraphSet& graphs,
                             const TuningConstants& constants, int nodes) {
  Communicator communicator;
  const int ranks_per_node = static_cast<int>(node.gpus.size());
  communicator.nodes = nodes;
  communicator.ranks = nodes * ranks_per_node;
  communicator.min_ranks_per_node = ranks_per_node;
  communicator.max_ranks_per_node = ranks_per_node;
  communicator.min_sm = least_sm(node);
  communicator.max_sm = most_sm(node);
  const CpuFacts cpu = cpu_of(node);
  communicator.cpu_architecture = architecture(cpu.architecture);
  communicator.cpu_vendor = vendor(cpu.vendor);
  communicator.has_nvswitch = has_nvswitch(node);
  communicator.supports_nvls = graphs.nvls.has_value();
  communicator.all_nvlink = all_nvlink(node);
  if (graphs.collnet_chain || graphs.collnet_direct) {
    communicator.collnet = CollNetPlugin{true, true};
  }
  add_local_paths(node, communicator);
  if (nodes > 1) {
    add_nics(node, constants, communicator);
  }
  return communicator;
}

bool has_nic(const DetectedNode& node, const std::optional<int>& dev) {
  return dev && std::ranges::any_of(node.system.all(PartKind::Net), [&](PartId net) {
           return node.system.part(net).net.dev == *dev;
         });
}

/// Throws: InputError if a graph that was given is not one of the node.
void check_given(const std::optional<Graph>& graph, const DetectedNode& node, const char* which) {
  const auto refuse = [which](std::size_t channel, const std::string& what) {
    throw InputError(std::string(which) + ", channel " + std::to_string(channel) + ": " + what,
                     "NCCL_GRAPH_FILE", "a graph file is of one machine and number of nodes");
  };
  const bool several = node.system.count(PartKind::Net) > 0;
  for (std::size_t c = 0; graph && c < graph->channels.size(); ++c) {
    const GraphChannel& channel = graph->channels[c];
    for (const int gpu : channel.gpus) {
      if (gpu < 0 || static_cast<std::size_t>(gpu) >= node.gpus.size()) {
        refuse(c, "the node has no GPU of rank " + std::to_string(gpu));
      }
    }
    if (graph->pattern != Pattern::Nvls && channel.gpus.size() != node.gpus.size()) {
      refuse(c, "expected each of the " + std::to_string(node.gpus.size()) + " GPUs once, got " +
                    std::to_string(channel.gpus.size()));
    }
    if (several && !(has_nic(node, channel.nic_in) && has_nic(node, channel.nic_out))) {
      refuse(c, "expected a NIC of the node at both ends, for there are several nodes");
    }
  }
}

/// Throws: InputError if NCCL would not take so many GPUs for one node.
void check_ranks(const DetectedNode& node, const TuningConstants& constants) {
  const std::size_t ranks = node.gpus.size();
  if (ranks > static_cast<std::size_t>(constants.max_ranks_per_node)) {
    throw InputError("a node of " + std::to_string(ranks) + " GPUs: NCCL " + constants.name +
                         " takes at most " + std::to_string(constants.max_ranks_per_node) +
                         " ranks a node",
                     {}, "GPUs of one NVLink domain are of one node, whatever their hosts");
  }
}

NodeCount node_count(const DecisionInput& input) {
  return input.nodes > 1 ? NodeCount::Several : NodeCount::One;
}

/// The node, for which the graphs that were given are right.
DetectedNode checked_node(const DecisionInput& input) {
  DetectedNode node = detect(input.machine, node_count(input),
                             detect_options(input.configuration, input.constants));
  check_ranks(node, input.constants);
  check_given(input.given_ring, node, "ring");
  check_given(input.given_tree, node, "tree");
  check_given(input.given_nvls, node, "NVLS");
  return node;
}

}  // namespace

Decisions::Decisions(const DecisionInput& input)
    : configuration_(input.configuration),
      constants_(input.constants),
      node_(checked_node(input)),
      graphs_(search_graphs(node_, search_options(input))),
      communicator_(communicator_of(
          node_, graphs_, constants_,
          input.nodes *
              like_parts(input.machine, node_count(input), search_options(input), node_, graphs_))),
      tuning_(tune(this->input())) {}

}  // namespace collsim::nccl
