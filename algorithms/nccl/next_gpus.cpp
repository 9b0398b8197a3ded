#include "algorithms/nccl/next_gpus.hpp"

#include <algorithm>
#include <tuple>

namespace collsim::nccl {

namespace {

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

}  // namespace

NextGpus::NextGpus(const DetectedNode& node)
    : node_(node),
      ranked_(node.system.count(PartKind::Gpu) * (node.system.count(PartKind::Net) + 1)) {}

std::vector<NextGpus::Score> NextGpus::scores(std::size_t gpu,
                                              std::optional<std::size_t> net) const {
  const auto& gpus = node_.system.all(PartKind::Gpu);
  std::vector<Score> scores;
  for (std::size_t distance = 1; distance < gpus.size(); ++distance) {
    const std::size_t other = (gpu + distance) % gpus.size();
    const Path& path = node_.paths.between(gpus[gpu], gpus[other]);
    if (path.links.empty()) {
      continue;
    }
    Score score{other, distance, path.links.size(), static_cast<int>(path.bandwidth), 0, 0, 0};
    if (net) {
      const Path& from_net =
          node_.paths.between(node_.system.all(PartKind::Net)[*net], gpus[other]);
      score.net_hops = from_net.links.size();
      score.pci_bandwidth = pci_bandwidth(node_.system, gpus[other]);
      score.net_bandwidth = static_cast<int>(from_net.bandwidth);
    }
    scores.push_back(score);
  }
  const auto key = [](const Score& s) {
    return std::make_tuple(-s.net_bandwidth, -s.pci_bandwidth, s.net_hops, -s.bandwidth, s.hops,
                           s.distance);
  };
  std::sort(scores.begin(), scores.end(),
            [&](const Score& a, const Score& b) { return key(a) < key(b); });
  return scores;
}

std::vector<std::size_t> NextGpus::neighbours(std::size_t gpu, Pattern pattern,
                                              const std::vector<bool>& used) const {
  const auto& gpus = node_.system.all(PartKind::Gpu);
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
    return used[other] || node_.paths.between(gpus[gpu], gpus[other]).links.empty();
  });
  return wanted;
}

std::vector<std::size_t> NextGpus::after(std::size_t gpu, Pattern pattern,
                                         const std::vector<bool>& used, NetOrder order,
                                         std::optional<std::size_t> net) {
  if (has_nvswitch(node_)) {
    return neighbours(gpu, pattern, used);
  }
  const std::size_t nets = node_.system.count(PartKind::Net);
  if (order == NetOrder::Ignore) {
    net.reset();
  }
  std::vector<Score>& ranked = ranked_[gpu * (nets + 1) + net.value_or(nets)];
  if (ranked.empty()) {
    ranked = scores(gpu, net);
  }
  std::vector<std::size_t> next;
  next.reserve(ranked.size());
  const Score* first = nullptr;
  bool equally_near = true;
  for (const Score& score : ranked) {
    if (!used[score.gpu]) {
      first = first == nullptr ? &score : first;
      equally_near =
          equally_near && score.bandwidth == first->bandwidth && score.hops == first->hops;
      next.push_back(score.gpu);
    }
  }
  if (order == NetOrder::NearLast && equally_near) {
    std::reverse(next.begin(), next.end());
  }
  return next;
}

}  // namespace collsim::nccl
