#include "algorithms/nccl/net_choice.hpp"

#include <algorithm>

#include "algorithms/nccl/local_devices.hpp"

namespace collsim::nccl {

namespace {

// How many devices NCCL looks at: the number of its channels.
constexpr std::size_t most_looked_at = 64;

void add_new(std::vector<std::size_t>& nets, std::size_t net) {
  if (std::find(nets.begin(), nets.end(), net) == nets.end()) {
    nets.push_back(net);
  }
}

std::vector<std::size_t> preferred(const DetectedNode& node, PartId gpu) {
  const auto& all = node.system.all(PartKind::Net);
  std::vector<std::size_t> positions;
  for (const PartId net : local_nets(node.system, node.paths, node.options, gpu)) {
    if (positions.size() < most_looked_at) {
      positions.push_back(
          static_cast<std::size_t>(std::find(all.begin(), all.end(), net) - all.begin()));
    }
  }
  return positions;
}

/// The first device of every GPU, then the second of every GPU, and so on.
void add_in_turn(std::vector<std::size_t>& nets,
                 const std::vector<std::vector<std::size_t>>& by_gpu) {
  std::size_t most = 0;
  for (const auto& own : by_gpu) {
    most = std::max(most, own.size());
  }
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (const auto& own : by_gpu) {
      if (turn < own.size()) {
        add_new(nets, own[turn]);
      }
    }
  }
}

}  // namespace

std::vector<std::size_t> nets_to_try(const DetectedNode& node, const SearchOptions& options,
                                     PathType worst, std::optional<std::size_t> gpu) {
  std::vector<PartId> gpus = node.system.all(PartKind::Gpu);
  if (gpu) {
    gpus = {gpus[*gpu]};
  }
  std::vector<std::vector<std::size_t>> by_gpu;
  by_gpu.reserve(gpus.size());
  for (const PartId each : gpus) {
    by_gpu.push_back(preferred(node, each));
  }
  std::vector<std::size_t> nets;
  if (options.scatter_nics && node.system.hosts() > 1) {
    add_in_turn(nets, by_gpu);
  } else {
    for (const auto& own : by_gpu) {
      for (const std::size_t net : own) {
        add_new(nets, net);
      }
    }
  }
  const auto& all = node.system.all(PartKind::Net);
  for (int type = 0; type <= static_cast<int>(worst); ++type) {
    for (const PartId each : gpus) {
      for (std::size_t net = 0; net < std::min(all.size(), most_looked_at); ++net) {
        if (node.paths.between(each, all[net]).type == static_cast<PathType>(type)) {
          add_new(nets, net);
        }
      }
    }
  }
  return nets;
}

}  // namespace collsim::nccl
