#include "algorithms/nccl/local_devices.hpp"

#include <algorithm>

namespace collsim::nccl {

namespace {

/// The lowest bits of a number, as many as a power of two has, in reverse order.
std::size_t mirror_bits(std::size_t number, std::size_t power_of_two) {
  std::size_t mirrored = 0;
  std::size_t to = power_of_two >> 1U;
  for (std::size_t bit = 1; bit < power_of_two; bit <<= 1U, to >>= 1U) {
    if ((number & bit) != 0) {
      mirrored |= to;
    }
  }
  return mirrored;
}

bool is_connected(const Path& path) { return path.bandwidth > 0; }

}  // namespace

std::vector<PartId> nearest_parts(const System& system, const Paths& paths, PartId from,
                                  PartKind kind) {
  std::vector<PartId> nearest;
  float most = 0;
  PathType best = PathType::Dis;
  for (const PartId part : system.all(kind)) {
    const Path& path = paths.between(from, part);
    if (!is_connected(path)) {
      continue;
    }
    if (path.bandwidth > most || (path.bandwidth == most && path.type < best)) {
      most = path.bandwidth;
      best = path.type;
      nearest.clear();
    }
    if (path.bandwidth == most && path.type == best) {
      nearest.push_back(part);
    }
  }
  return nearest;
}

std::vector<PartId> local_nets(const System& system, const Paths& paths,
                               const DetectOptions& options, PartId gpu) {
  const std::vector<PartId> nets = nearest_parts(system, paths, gpu, PartKind::Net);
  if (nets.empty()) {
    return {};
  }
  std::size_t share = nets.size();
  if (options.nics_per_gpu == NicsPerGpu::Auto) {
    const auto sharing = nearest_parts(system, paths, nets.front(), PartKind::Gpu).size();
    share = sharing == 0 ? nets.size() : (nets.size() + sharing - 1) / sharing;
  } else if (options.nics_per_gpu == NicsPerGpu::Most) {
    share = std::min(static_cast<std::size_t>(std::max(options.most_nics_per_gpu, 1)), share);
  }
  auto first = static_cast<std::size_t>(system.part(gpu).gpu.dev);
  if ((nets.size() & (nets.size() - 1)) == 0) {
    first = mirror_bits(first, nets.size());
  }
  std::vector<PartId> used;
  for (std::size_t channel = 0; channel < share; ++channel) {
    used.push_back(nets[(first + channel) % nets.size()]);
  }
  return used;
}

std::optional<PartId> local_gpu(const System& system, const Paths& paths,
                                const DetectOptions& options, PartId net) {
  std::vector<std::vector<PartId>> used;
  const std::vector<PartId> gpus = nearest_parts(system, paths, net, PartKind::Gpu);
  std::size_t most = 0;
  for (const PartId gpu : gpus) {
    used.push_back(local_nets(system, paths, options, gpu));
    most = std::max(most, used.back().size());
  }
  for (std::size_t channel = 0; channel < most; ++channel) {
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      if (!used[g].empty() && used[g][channel % used[g].size()] == net) {
        return gpus[g];
      }
    }
  }
  return std::nullopt;
}

}  // namespace collsim::nccl
