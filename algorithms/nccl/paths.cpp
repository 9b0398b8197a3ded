#include "algorithms/nccl/paths.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/nccl/path_rules.hpp"

namespace collsim::nccl {

namespace {

PathType type_of(PartLinkKind kind) {
  switch (kind) {
    case PartLinkKind::Nvlink:
      return PathType::Nvl;
    case PartLinkKind::C2c:
      return PathType::C2c;
    case PartLinkKind::Pci:
      return PathType::Pix;
    case PartLinkKind::Socket:
      return PathType::Sys;
    case PartLinkKind::Local:
    case PartLinkKind::Network:  // of a path only its way to the device counts
      break;
  }
  return PathType::Loc;
}

/// Finds the paths of all parts to one target, link by link away from it.
class Spread {
 public:
  Spread(const System& system, PartId target, const DetectOptions& options)
      : system_(system), target_(target), options_(options), found_(system.parts().size()) {
    found_[target.index()].bandwidth = options.link_speeds.local;
    found_[target.index()].type = PathType::Loc;
  }

  /// Shapes: `[part]`.
  std::vector<Path> run() && {
    std::vector<PartId> here{target_};
    while (!here.empty()) {
      std::vector<PartId> next;
      for (const PartId part : here) {
        for (const PartLinkId link : system_.part(part).links) {
          if (reach(system_.link(link)) &&
              std::find(next.begin(), next.end(), system_.link(link).to) == next.end()) {
            next.push_back(system_.link(link).to);
          }
        }
      }
      here = std::move(next);
    }
    return std::move(found_);
  }

 private:
  /// Whether the far end of a link (walked away from the target) is better reached over it.
  bool reach(const PartLink& link) {
    const Path& near = found_[link.from.index()];
    Path& far = found_[link.to.index()];
    const float bandwidth = std::min(near.bandwidth, link.bandwidth);
    if (!may_relay(link, near)) {
      return false;
    }
    const PathType type = std::max(near.type, step_type(link, near));
    if (!is_better(far, near, type, bandwidth)) {
      return false;
    }
    std::vector<PartLinkId> links;
    links.reserve(near.links.size() + 1);
    links.push_back(link.reverse);
    links.insert(links.end(), near.links.begin(), near.links.end());
    far.links = std::move(links);
    far.bandwidth = bandwidth;
    far.type = type;
    return true;
  }

  /// Whether a way by `near` and one more link is better than the one to `far` known so far.
  bool is_better(const Path& far, const Path& near, PathType type, float bandwidth) const {
    const std::size_t links = near.links.size() + 1;
    if (options_.path_preference == PathPreference::BestType) {
      if (type != far.type) {
        return type < far.type;
      }
      return bandwidth > far.bandwidth || (bandwidth == far.bandwidth && links < far.links.size());
    }
    return (far.bandwidth == 0 || links <= far.links.size()) && bandwidth > far.bandwidth;
  }

  /// A GPU relays between GPUs only, over NVLink and once.
  bool may_relay(const PartLink& link, const Path& near) const {
    if (link.from == target_ || system_.part(link.from).kind != PartKind::Gpu) {
      return true;
    }
    return !options_.nvb_disable && link.kind == PartLinkKind::Nvlink &&
           system_.part(link.to).kind == PartKind::Gpu && near.links.size() <= 1;
  }

  PathType step_type(const PartLink& link, const Path& near) const {
    const PartKind from = system_.part(link.from).kind;
    const PartKind to = system_.part(link.to).kind;
    PathType type = type_of(link.kind);
    if (from == PartKind::Pci && to == PartKind::Pci) {
      type = PathType::Pxb;
    }
    if (link.kind == PartLinkKind::Pci && (from == PartKind::Cpu || to == PartKind::Cpu)) {
      type = PathType::Phb;
    }
    if (from == PartKind::Gpu && near.type == PathType::Nvl && type == PathType::Nvl &&
        !near.links.empty()) {
      type = PathType::Nvb;
    }
    return type;
  }

  const System& system_;
  PartId target_;
  const DetectOptions& options_;
  std::vector<Path> found_;
};

}  // namespace

Paths::Paths(const System& system) : end_(system.parts().size()) {
  for (std::size_t p = 0; p < system.parts().size(); ++p) {
    const PartKind kind = system.parts()[p].kind;
    if (kind != PartKind::Pci && kind != PartKind::Nic) {
      end_[p] = ends_++;
    }
  }
  table_.resize(ends_ * ends_);
}

std::optional<PartId> local_cpu(const System& system, const Paths& paths, PartId gpu) {
  std::optional<PartId> nearest;
  std::size_t fewest = 0;
  for (const PartId cpu : system.all(PartKind::Cpu)) {
    const std::size_t links = paths.between(gpu, cpu).links.size();
    if (links > 0 && (fewest == 0 || links < fewest)) {
      nearest = cpu;
      fewest = links;
    }
  }
  return nearest;
}

Paths find_paths(const System& system, const DetectOptions& options) {
  Paths paths(system);
  for (std::size_t t = 0; t < system.parts().size(); ++t) {
    const PartId target(t);
    if (!paths.is_end(target)) {
      continue;
    }
    std::vector<Path> found = Spread(system, target, options).run();
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (paths.is_end(PartId(f))) {
        paths.between(PartId(f), target) = std::move(found[f]);
      }
    }
  }
  divert_gpu_paths(system, options, paths);
  divert_net_paths(system, options, paths);
  return paths;
}

}  // namespace collsim::nccl
