#include "algorithms/nccl/link_budget.hpp"

#include <cmath>

namespace collsim::nccl {

namespace {

void subtract(float& left, float bandwidth) {
  left = std::round((left - bandwidth) * 1000.0F) / 1000.0F;
}

}  // namespace

LinkBudget::LinkBudget(const System& system) : system_(system) {
  for (const PartLink& link : system.links()) {
    left_.push_back(link.bandwidth);
  }
}

bool LinkBudget::take(const Path& path, PartId from, float bandwidth) {
  const std::size_t charged = charge(path, from, path.links.size(), bandwidth);
  if (charged == path.links.size()) {
    return true;
  }
  charge(path, from, charged, -bandwidth);
  return false;
}

bool LinkBudget::crosses_intel_cpu(const Path& path, PartId from) const {
  if (path.type != PathType::Phb || system_.part(from).kind != PartKind::Gpu) {
    return false;
  }
  for (const PartLinkId id : path.links) {
    const Part& part = system_.part(system_.link(id).to);
    if (part.kind == PartKind::Cpu && part.cpu.vendor == CpuVendor::Intel) {
      return true;
    }
  }
  return false;
}

std::size_t LinkBudget::charge(const Path& path, PartId from, std::size_t links, float bandwidth) {
  const float on_pci = crosses_intel_cpu(path, from) ? bandwidth * 6 / 5 : bandwidth;
  for (std::size_t step = 0; step < links; ++step) {
    const PartLinkId id = path.links[step];
    const PartLink& link = system_.link(id);
    const Part& to = system_.part(link.to);
    const float forth = link.kind == PartLinkKind::Pci ? on_pci : bandwidth;
    float back = 0;
    if (to.kind == PartKind::Gpu && to.gpu.sm < 80 && system_.part(from).kind != PartKind::Gpu) {
      back += forth / 8;
    }
    if (to.kind == PartKind::Cpu && to.cpu.architecture == CpuArchitecture::Power &&
        link.kind == PartLinkKind::Nvlink) {
      back += forth;
    }
    float& reverse = left_[link.reverse.index()];
    if (left_[id.index()] < forth || (back != 0 && reverse < back)) {
      return step;
    }
    subtract(left_[id.index()], forth);
    if (back != 0) {
      subtract(reverse, back);
    }
  }
  return links;
}

}  // namespace collsim::nccl
