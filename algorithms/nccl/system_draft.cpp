#include "algorithms/nccl/system_draft.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t most_of_a_kind = 576;  // NCCL's arrays

/// Which generation of Broadcom's two-level switch a model is; 0: none. `level` 1 is below 0.
int broadcom_generation(std::uint64_t model, std::uint64_t level) {
  constexpr std::uint64_t mask = 0xfffffffffffff000U;
  if ((model & mask) == 0x1000c0101000a000U) {
    return 4;
  }
  if ((model & mask) == (0x1000c03010000000U | level * 0x1000U)) {
    return 5;
  }
  return 0;
}

float between_cpus(const CpuFacts& cpu, const LinkSpeeds& speeds) {
  if (cpu.architecture == CpuArchitecture::Power) {
    return speeds.power;
  }
  if (cpu.architecture == CpuArchitecture::Arm) {
    return speeds.arm;
  }
  switch (cpu.vendor) {
    case CpuVendor::Amd:
      return speeds.amd;
    case CpuVendor::Zhaoxin:
      return cpu.model == CpuModel::Yongfeng ? speeds.zhaoxin_yongfeng : speeds.zhaoxin;
    case CpuVendor::Intel:
      return cpu.model == CpuModel::EmeraldRapids    ? speeds.intel_emerald_rapids
             : cpu.model == CpuModel::SapphireRapids ? speeds.intel_sapphire_rapids
             : cpu.model == CpuModel::Skylake        ? speeds.intel_skylake
                                                     : speeds.intel_broadwell;
    case CpuVendor::Unknown:
      break;
  }
  return speeds.local;
}

std::string hex(std::uint64_t number) {
  std::string digits(16, '0');
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  digits.resize(static_cast<std::size_t>(end.ptr - digits.data()));
  return "0x" + digits;
}

}  // namespace

SystemDraft::Index SystemDraft::add(Part part) {
  if (++count_[static_cast<std::size_t>(part.kind)] > most_of_a_kind) {
    throw InputError(
        "the node has more than " + std::to_string(most_of_a_kind) + " devices of a kind", {},
        "NCCL refuses such a node");
  }
  drafts_.push_back({std::move(part), {}, false});
  return drafts_.size() - 1;
}

std::optional<SystemDraft::Index> SystemDraft::find(PartKind kind, std::size_t host,
                                                    std::uint64_t address) const {
  for (Index i = 0; i < drafts_.size(); ++i) {
    const Draft& draft = drafts_[i];
    if (!draft.removed && draft.part.kind == kind && draft.part.host == host &&
        draft.part.address == address) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<SystemDraft::Index> SystemDraft::first(PartKind kind) const {
  for (Index i = 0; i < drafts_.size(); ++i) {
    if (!drafts_[i].removed && drafts_[i].part.kind == kind) {
      return i;
    }
  }
  return std::nullopt;
}

void SystemDraft::connect(Index from, Index to, PartLinkKind kind, float bandwidth) {
  auto& links = drafts_[from].links;
  auto link = std::find_if(links.begin(), links.end(), [&](const DraftLink& known) {
    return known.to == to && known.kind == kind;
  });
  if (link == links.end()) {
    links.push_back({to, kind, 0});
    link = std::prev(links.end());
  }
  link->bandwidth += bandwidth;
  while (link != links.begin() && std::prev(link)->bandwidth < link->bandwidth) {
    std::iter_swap(link, std::prev(link));
    --link;
  }
}

void SystemDraft::connect_cpus(const LinkSpeeds& speeds) {
  for (Index from = 0; from < drafts_.size(); ++from) {
    for (Index to = 0; to < drafts_.size(); ++to) {
      const Part& a = drafts_[from].part;
      const Part& b = drafts_[to].part;
      if (from != to && a.kind == PartKind::Cpu && b.kind == PartKind::Cpu && a.host == b.host) {
        connect(from, to, PartLinkKind::Socket, between_cpus(a.cpu, speeds));
      }
    }
  }
}

void SystemDraft::flatten_switches() {
  for (Index s = 0; s < drafts_.size(); ++s) {
    if (drafts_[s].removed || drafts_[s].part.kind != PartKind::Pci) {
      continue;
    }
    const int generation = broadcom_generation(drafts_[s].part.pci_model, 0);
    if (generation == 0) {
      continue;
    }
    std::vector<Index> subs;
    std::erase_if(drafts_[s].links, [&](const DraftLink& link) {
      const Part& other = drafts_[link.to].part;
      const bool fits =
          other.kind == PartKind::Pci && broadcom_generation(other.pci_model, 1) == generation;
      if (fits) {
        subs.push_back(link.to);
      }
      return fits;
    });
    for (const Index sub : subs) {
      merge_sub_switch(s, sub);
    }
    drafts_[s].part.pci_model |= 0xffffU;  // so that it is not merged again
    s = static_cast<Index>(-1);            // from the first again: links have changed
  }
}

void SystemDraft::merge_sub_switch(Index into, Index sub) {
  for (const DraftLink& link : drafts_[sub].links) {
    if (link.to == into) {
      continue;
    }
    drafts_[into].links.push_back(link);
    for (DraftLink& back : drafts_[link.to].links) {
      if (back.to == sub) {
        back.to = into;
        break;
      }
    }
  }
  remove(sub);
}

void SystemDraft::remove(Index index) {
  drafts_[index].removed = true;
  drafts_[index].links.clear();
  for (Draft& draft : drafts_) {
    std::erase_if(draft.links, [&](const DraftLink& link) { return link.to == index; });
  }
}

void SystemDraft::sort_links() {
  for (Index i = 0; i < drafts_.size(); ++i) {
    if (!drafts_[i].removed && drafts_[i].part.kind == PartKind::Cpu) {
      sort_below(i, std::nullopt);
    }
  }
}

void SystemDraft::sort_below(Index index, std::optional<Index> up) {
  auto& links = drafts_[index].links;
  if (up) {
    const auto link = std::find_if(links.begin(), links.end(),
                                   [&](const DraftLink& known) { return known.to == *up; });
    COLLSIM_ENSURE(link != links.end(), "a part below another is linked to it");
    std::rotate(link, std::next(link), links.end());
  }
  for (const DraftLink& link : links) {
    if (link.kind == PartLinkKind::Pci && link.to != up) {
      sort_below(link.to, index);
    }
  }
}

System SystemDraft::freeze() const {
  std::vector<PartId> ids(drafts_.size());
  std::vector<Part> parts;
  std::vector<PartLink> links;
  for (Index i = 0; i < drafts_.size(); ++i) {
    if (!drafts_[i].removed) {
      ids[i] = PartId(parts.size());
      parts.push_back(drafts_[i].part);
    }
  }
  for (Index i = 0; i < drafts_.size(); ++i) {
    for (const DraftLink& link : drafts_[i].links) {
      parts[ids[i].index()].links.emplace_back(links.size());
      links.push_back({ids[i], ids[link.to], link.kind, link.bandwidth, PartLinkId{}});
    }
  }
  for (PartLink& link : links) {
    const auto& back = parts[link.to.index()].links;
    const auto reverse = std::find_if(back.begin(), back.end(), [&](PartLinkId id) {
      return links[id.index()].to == link.from && links[id.index()].kind == link.kind;
    });
    if (reverse == back.end()) {
      throw InputError("the link from device " + hex(parts[link.from.index()].address) + " to " +
                           hex(parts[link.to.index()].address) + " has none back",
                       {}, "NCCL refuses such a node: describe both directions");
    }
    link.reverse = *reverse;
  }
  return {std::move(parts), std::move(links)};
}

}  // namespace collsim::nccl
