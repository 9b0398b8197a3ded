#include "algorithms/nccl/next_gpus.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace collsim::nccl {

namespace {

/// What speaks for trying a GPU early. Bandwidths count in whole GB/s.
struct Score {
  std::size_t gpu{0};
  std::size_t distance{0};  ///< from the GPU before it, round the list
  std::size_t hops{0};
  int bandwidth{0};
  std::size_t net_hops{0};
  int pci_bandwidth{0};
  int net_bandwidth{0};

  [[nodiscard]] auto key() const {
    return std::make_tuple(-net_bandwidth, -pci_bandwidth, net_hops, -bandwidth, hops, distance);
  }
};

/// Of the PCIe link of a GPU, the slower direction; -1 without.
int pci_bandwidth(const System& system, PartId gpu) {
  for (const PartLinkId id : system.part(gpu).links) {
    const PartLink& link = system.link(id);
    if (link.kind != PartLinkKind::Pci) {
      continue;
    }
    for (const PartLinkId other : system.part(link.to).links) {
      if (system.link(other).to == gpu) {
        return static_cast<int>(std::min(link.bandwidth, system.link(other).bandwidth));
      }
    }
  }
  return -1;
}

std::vector<Score> scores_of(const DetectedNode& node, std::size_t gpu,
                             const std::vector<bool>& used, std::optional<PartId> net) {
  const auto& gpus = node.system.all(PartKind::Gpu);
  std::vector<Score> scores;
  for (std::size_t distance = 1; distance < gpus.size(); ++distance) {
    const std::size_t other = (gpu + distance) % gpus.size();
    const Path& path = node.paths.between(gpus[gpu], gpus[other]);
    if (path.links.empty() || used[other]) {
      continue;
    }
    Score score{other, distance, path.links.size(), static_cast<int>(path.bandwidth), 0, 0, 0};
    if (net) {
      const Path& from_net = node.paths.between(*net, gpus[other]);
      score.net_hops = from_net.links.size();
      score.pci_bandwidth = pci_bandwidth(node.system, gpus[other]);
      score.net_bandwidth = static_cast<int>(from_net.bandwidth);
    }
    scores.push_back(score);
  }
  return scores;
}

bool equally_near(const std::vector<Score>& scores) {
  return std::all_of(scores.begin(), scores.end(), [&](const Score& score) {
    return score.bandwidth == scores.front().bandwidth && score.hops == scores.front().hops;
  });
}

/// The neighbours of a GPU in the list that are not used yet; for a ring the one before it first.
std::vector<std::size_t> neighbours(const DetectedNode& node, Pattern pattern, std::size_t gpu,
                                    const std::vector<bool>& used) {
  const auto& gpus = node.system.all(PartKind::Gpu);
  const std::size_t before = (gpu + gpus.size() - 1) % gpus.size();
  const std::size_t after = (gpu + 1) % gpus.size();
  std::vector<std::size_t> wanted{after};
  if (before != after && pattern == Pattern::Ring) {
    wanted = {before, after};
  } else if (before != after &&
             (pattern == Pattern::SplitTree || pattern == Pattern::BalancedTree)) {
    wanted = {after, before};
  }
  std::erase_if(wanted, [&](std::size_t other) {
    return used[other] || node.paths.between(gpus[gpu], gpus[other]).links.empty();
  });
  return wanted;
}

}  // namespace

std::vector<std::size_t> next_gpus(const DetectedNode& node, Pattern pattern, std::size_t gpu,
                                   const std::vector<bool>& used, NetOrder order,
                                   std::optional<PartId> net) {
  if (has_nvswitch(node)) {
    return neighbours(node, pattern, gpu, used);
  }
  std::vector<Score> scores =
      scores_of(node, gpu, used, order == NetOrder::Ignore ? std::nullopt : net);
  std::sort(scores.begin(), scores.end(),
            [](const Score& a, const Score& b) { return a.key() < b.key(); });
  std::vector<std::size_t> next;
  next.reserve(scores.size());
  for (const Score& score : scores) {
    next.push_back(score.gpu);
  }
  if (order == NetOrder::NearLast && equally_near(scores)) {
    std::reverse(next.begin(), next.end());
  }
  return next;
}

}  // namespace collsim::nccl
