#include "algorithms/nccl/system.hpp"

#include <algorithm>
#include <utility>

#include "topology/error.hpp"

namespace collsim::nccl {

System::System(std::vector<Part> parts, std::vector<PartLink> links)
    : parts_(std::move(parts)), links_(std::move(links)) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    of_kind_[static_cast<std::size_t>(parts_[p].kind)].emplace_back(p);
  }
  for (const PartLink& link : links_) {
    const PartLink& reverse = links_[link.reverse.index()];
    COLLSIM_ENSURE(reverse.from == link.to && reverse.to == link.from && reverse.kind == link.kind,
                   "a link of a system has a reverse");
  }
}

std::size_t System::hosts() const {
  std::size_t last = 0;
  for (const PartId cpu : all(PartKind::Cpu)) {
    last = std::max(last, part(cpu).host);
  }
  return last + 1;
}

System System::without(const std::vector<bool>& leave_out) const {
  std::vector<PartId> new_part(parts_.size());
  std::vector<Part> parts;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (!leave_out[p]) {
      new_part[p] = PartId(parts.size());
      parts.push_back(parts_[p]);
      parts.back().links.clear();
    }
  }
  std::vector<PartLinkId> new_link(links_.size());
  std::vector<PartLink> links;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (const PartLinkId id : parts_[p].links) {
      const PartLink& old = link(id);
      if (leave_out[p] || leave_out[old.to.index()]) {
        continue;
      }
      new_link[id.index()] = PartLinkId(links.size());
      parts[new_part[p].index()].links.emplace_back(links.size());
      links.push_back(old);
    }
  }
  for (PartLink& link : links) {
    link.from = new_part[link.from.index()];
    link.to = new_part[link.to.index()];
    link.reverse = new_link[link.reverse.index()];
  }
  return {std::move(parts), std::move(links)};
}

float nvlink_bandwidth(const LinkSpeeds& speeds, int sm) {
  for (const NvlinkSpeed& known : speeds.nvlink) {
    if (sm >= known.least_sm && sm <= known.most_sm) {
      return known.bandwidth;
    }
  }
  return speeds.nvlink_otherwise;
}

}  // namespace collsim::nccl
