#include "algorithms/nccl/detect.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "algorithms/nccl/local_devices.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// Which GPUs share a domain in which they can talk without the network. Shapes: by system order.
std::vector<std::size_t> domains_of(const System& system, const Paths& paths) {
  const auto& gpus = system.all(PartKind::Gpu);
  std::vector<std::size_t> domains(gpus.size());
  std::iota(domains.begin(), domains.end(), std::size_t{0});
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    for (std::size_t p = 0; p < g; ++p) {
      if (paths.between(gpus[g], gpus[p]).type < PathType::Net) {
        domains[g] = std::min(domains[g], domains[p]);
      }
    }
  }
  return domains;
}

/// The lowest rank of each domain, ascending.
std::vector<int> lowest_ranks(const System& system, const std::vector<std::size_t>& domains) {
  const auto& gpus = system.all(PartKind::Gpu);
  std::map<std::size_t, int> lowest;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    const int rank = system.part(gpus[g]).gpu.rank;
    const auto [known, is_new] = lowest.try_emplace(domains[g], rank);
    known->second = std::min(known->second, rank);
  }
  std::vector<int> ranks;
  ranks.reserve(lowest.size());
  for (const auto& [domain, rank] : lowest) {
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

System trimmed(const System& system, const std::vector<std::size_t>& domains, NodeCount nodes,
               std::size_t rank) {
  const auto& gpus = system.all(PartKind::Gpu);
  const auto own = std::find_if(gpus.begin(), gpus.end(), [&](PartId gpu) {
    return static_cast<std::size_t>(system.part(gpu).gpu.rank) == rank;
  });
  COLLSIM_ENSURE(own != gpus.end(), "the rank that detects is one of the node");
  const std::size_t domain = domains[static_cast<std::size_t>(own - gpus.begin())];
  std::vector<bool> leave_out(system.parts().size(), false);
  bool all_here = true;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    leave_out[gpus[g].index()] = domains[g] != domain;
    all_here = all_here && domains[g] == domain;
  }
  if (nodes == NodeCount::One && all_here) {
    for (const PartId net : system.all(PartKind::Net)) {
      leave_out[net.index()] = true;
    }
  }
  return system.without(leave_out);
}

float total_of(const System& system, PartId gpu) {
  float nvlink = 0;
  float pci = 0;
  for (const PartLinkId id : system.part(gpu).links) {
    const PartLink& link = system.link(id);
    if (link.kind == PartLinkKind::Nvlink) {
      nvlink += link.bandwidth;
    } else if (link.kind == PartLinkKind::Pci) {
      pci = link.bandwidth;
    }
  }
  return std::max(pci, nvlink);
}

void measure(DetectedNode& node) {
  const System& system = node.system;
  const bool inter = system.count(PartKind::Net) > 0;
  if (!inter && node.gpus.size() == 1) {
    node.most_bandwidth = node.total_bandwidth = node.options.link_speeds.local;
    return;
  }
  for (const PartId gpu : node.gpus) {
    for (const PartId to : system.all(inter ? PartKind::Net : PartKind::Gpu)) {
      const Path& path = node.paths.between(gpu, to);
      if (!path.links.empty()) {
        node.most_bandwidth = std::max(node.most_bandwidth, path.bandwidth);
      }
    }
    node.total_bandwidth = std::max(node.total_bandwidth, total_of(system, gpu));
  }
}

}  // namespace

DetectedNode detect(const Machine& machine, NodeCount nodes, const DetectOptions& options,
                    std::size_t rank) {
  const System whole = make_system(machine, options.link_speeds);
  const std::vector<std::size_t> domains = domains_of(whole, find_paths(whole, options));
  System system = trimmed(whole, domains, nodes, rank);
  Paths paths = find_paths(system, options);
  DetectedNode node{std::move(system), std::move(paths), options, 0, 0, {}, {}};
  node.part_ranks = lowest_ranks(whole, domains);
  node.gpus = node.system.all(PartKind::Gpu);
  std::sort(node.gpus.begin(), node.gpus.end(), [&](PartId a, PartId b) {
    return node.system.part(a).gpu.rank < node.system.part(b).gpu.rank;
  });
  measure(node);
  return node;
}

const Path& gpu_path(const DetectedNode& node, std::size_t from, std::size_t to) {
  return node.paths.between(node.gpus[from], node.gpus[to]);
}

bool all_nvlink(const DetectedNode& node) {
  return path_types(node, PartKind::Gpu).worst < PathType::Pix;
}

bool has_nvswitch(const DetectedNode& node) { return node.system.count(PartKind::NvSwitch) > 0; }

std::size_t nets_by_bandwidth(const DetectedNode& node, std::size_t rank) {
  const PartId gpu = node.gpus[rank];
  float to_cpu = 0;
  for (const PartLinkId id : node.system.part(gpu).links) {
    const PartLink& link = node.system.link(id);
    if (node.system.part(link.to).kind == PartKind::Cpu) {
      to_cpu = link.bandwidth;
    }
  }
  std::size_t count = 0;
  float sum = 0;
  for (const PartId net : nearest_parts(node.system, node.paths, gpu, PartKind::Net)) {
    if (sum >= to_cpu) {
      break;
    }
    sum += node.paths.between(gpu, net).bandwidth;
    ++count;
  }
  return count;
}

float nvlink_bandwidth(const DetectedNode& node, std::size_t rank) {
  return nvlink_bandwidth(node.options.link_speeds, node.system.part(node.gpus[rank]).gpu.sm);
}

int least_sm(const DetectedNode& node) {
  int least = node.system.part(node.gpus.front()).gpu.sm;
  for (const PartId gpu : node.gpus) {
    least = std::min(least, node.system.part(gpu).gpu.sm);
  }
  return least;
}

int most_sm(const DetectedNode& node) {
  int most = 0;
  for (const PartId gpu : node.gpus) {
    most = std::max(most, node.system.part(gpu).gpu.sm);
  }
  return most;
}

CpuFacts cpu_of(const DetectedNode& node) {
  const auto& cpus = node.system.all(PartKind::Cpu);
  return node.system.part(cpus.front()).cpu;
}

PathTypes path_types(const DetectedNode& node, PartKind to) {
  PathTypes types;
  for (const PartId gpu : node.gpus) {
    for (const PartId other : node.system.all(to)) {
      if (other != gpu) {
        const PathType type = node.paths.between(gpu, other).type;
        types.best = std::min(types.best, type);
        types.worst = std::max(types.worst, type);
      }
    }
  }
  return types;
}

bool is_split(const DetectedNode& node) {
  const auto& gpus = node.system.all(PartKind::Gpu);
  std::vector<std::size_t> group(gpus.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    for (std::size_t p = g + 1; p < gpus.size(); ++p) {
      if (node.paths.between(gpus[g], gpus[p]).type == PathType::Nvl) {
        group[p] = group[g];
      }
    }
  }
  std::vector<std::size_t> size(gpus.size());
  for (const std::size_t g : group) {
    ++size[g];
  }
  return std::count_if(size.begin(), size.end(), [](std::size_t s) { return s > 1; }) == 2;
}

}  // namespace collsim::nccl
