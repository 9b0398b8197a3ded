#include "algorithms/nccl/path_rules.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/nccl/local_devices.hpp"

namespace collsim::nccl {

namespace {

PathType worse(PathType a, PathType b) {
  if (std::max(a, b) == PathType::Phb && std::min(a, b) == PathType::C2c) {
    return PathType::P2c;
  }
  return std::max(a, b);
}

/// Makes the path between two ends one through a third.
void lead_through(Paths& paths, PartId from, PartId middle, PartId to, const System& system) {
  const Path& first = paths.between(from, middle);
  const Path& second = paths.between(middle, to);
  Path path{first.links, std::min(first.bandwidth, second.bandwidth),
            worse(first.type, second.type)};
  path.links.insert(path.links.end(), second.links.begin(), second.links.end());
  if (system.part(middle).kind == PartKind::Gpu) {
    path.type = PathType::Pxn;
  }
  paths.between(from, to) = std::move(path);
}

/// The best bandwidth of a GPU to a network device that no CPU stands before.
float close_net_bandwidth(const System& system, const Paths& paths, PartId gpu) {
  float best = 0;
  for (const PartId net : system.all(PartKind::Net)) {
    const Path& path = paths.between(gpu, net);
    if (path.type <= PathType::Pxb) {
      best = std::max(best, path.bandwidth);
    }
  }
  return best;
}

bool network_is_faster(const System& system, const Paths& paths, const DetectOptions& options,
                       PartId from, PartId to) {
  const float direct = paths.between(from, to).bandwidth;
  return !options.net_disable_intra && close_net_bandwidth(system, paths, from) > direct &&
         close_net_bandwidth(system, paths, to) > direct;
}

bool relayed_by_gpu(const System& system, const Path& path) {
  return path.links.size() == 2 && gpu_on(system, path);
}

/// Whether two GPUs can talk inside the node, by P2P or shared memory.
bool talk_inside(const System& system, const Paths& paths, const DetectOptions& options,
                 PathType worst_p2p, PartId from, PartId to) {
  const Path& path = paths.between(from, to);
  const bool p2p = path.type <= worst_p2p;
  if (p2p && relayed_by_gpu(system, path)) {
    return true;
  }
  const bool shared_memory = !options.shm_disable && system.part(from).host == system.part(to).host;
  return (p2p || shared_memory) && !network_is_faster(system, paths, options, from, to);
}

void shorten_over_c2c(const System& system, Paths& paths) {
  for (const PartId net : system.all(PartKind::Net)) {
    for (const PartId gpu : system.all(PartKind::Gpu)) {
      const std::optional<PartId> cpu = local_cpu(system, paths, gpu);
      if (cpu &&
          worse(paths.between(gpu, *cpu).type, paths.between(net, *cpu).type) == PathType::P2c) {
        for (Path* path : {&paths.between(gpu, net), &paths.between(net, gpu)}) {
          path->type = std::min(path->type, PathType::P2c);
        }
      }
    }
  }
}

/// Sends what a GPU has for a network device over NVLink to the GPU that is close to it, if that is
/// faster or avoids the CPU. Only this way: received is locally, sent remotely.
void relay_to_net(const System& system, const DetectOptions& options, Paths& paths, PartId gpu,
                  PartId net) {
  const std::optional<PartId> relay = local_gpu(system, paths, options, net);
  if (options.pxn_disable || !relay || *relay == gpu) {
    return;
  }
  const PathType worst = options.pxn_c2c ? PathType::P2c : PathType::Pxb;
  const Path& from_relay = paths.between(*relay, net);
  const Path& direct = paths.between(gpu, net);
  if (from_relay.type <= worst && paths.between(*relay, gpu).type <= PathType::Nvl &&
      system.part(*relay).host == system.part(gpu).host &&
      (from_relay.bandwidth > direct.bandwidth || direct.type > PathType::Pxn)) {
    lead_through(paths, gpu, *relay, net, system);
  }
}

}  // namespace

PathType worst_for_p2p(const System& system, const DetectOptions& options) {
  if (options.p2p_disable) {
    return PathType::Loc;
  }
  if (options.p2p_level) {
    return *options.p2p_level;
  }
  const auto& cpus = system.all(PartKind::Cpu);
  const bool amd_pair = !cpus.empty() && system.part(cpus.front()).cpu.vendor == CpuVendor::Amd &&
                        system.count(PartKind::Gpu) <= 2;
  return amd_pair ? PathType::Sys : PathType::Pxb;
}

std::optional<PartId> gpu_on(const System& system, const Path& path) {
  for (std::size_t i = 0; i + 1 < path.links.size(); ++i) {
    const PartId next = system.link(path.links[i]).to;
    if (system.part(next).kind == PartKind::Gpu) {
      return next;
    }
  }
  return std::nullopt;
}

void divert_gpu_paths(const System& system, const DetectOptions& options, Paths& paths) {
  const PathType worst_p2p = worst_for_p2p(system, options);
  const auto& gpus = system.all(PartKind::Gpu);
  for (const PartId to : gpus) {
    const std::optional<PartId> cpu = local_cpu(system, paths, to);
    for (const PartId from : gpus) {
      if (paths.between(from, to).type > worst_p2p && cpu) {
        lead_through(paths, from, *cpu, to, system);
      }
    }
    for (const PartId from : gpus) {
      if (from != to && !talk_inside(system, paths, options, worst_p2p, from, to)) {
        paths.between(from, to).type = PathType::Net;
      }
    }
  }
}

bool uses_gpu_direct(const System& system, const Paths& paths, PartId gpu, PartId net,
                     const DetectOptions& options) {
  if (!system.part(net).net.gdr || !system.part(gpu).gpu.gdr) {
    return false;
  }
  const Path& path = paths.between(gpu, net);
  PathType distance = path.type;
  if (distance == PathType::Pxn) {
    if (const std::optional<PartId> relay = gpu_on(system, path)) {
      distance = paths.between(*relay, net).type;
    }
  }
  if (options.net_gdr_c2c && distance == PathType::P2c) {
    distance = PathType::C2c;
  }
  return distance <= options.net_gdr_level.value_or(PathType::Pxb);
}

void divert_net_paths(const System& system, const DetectOptions& options, Paths& paths) {
  if (options.nics_over_c2c) {
    shorten_over_c2c(system, paths);
  }
  for (const PartId net : system.all(PartKind::Net)) {
    for (const PartId gpu : system.all(PartKind::Gpu)) {
      relay_to_net(system, options, paths, gpu, net);
      if (paths.between(gpu, net).type < PathType::Phb &&
          !uses_gpu_direct(system, paths, gpu, net, options)) {
        if (const std::optional<PartId> cpu = local_cpu(system, paths, gpu)) {
          lead_through(paths, net, *cpu, gpu, system);
          lead_through(paths, gpu, *cpu, net, system);
        }
      }
    }
  }
}

}  // namespace collsim::nccl
