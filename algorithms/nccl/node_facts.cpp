#include "algorithms/nccl/node_facts.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>

namespace collsim::nccl {

namespace {

// NCCL's numbers (src/include/graph.h).
CpuArchitecture architecture_of_number(int number) {
  switch (number) {
    case 1:
      return CpuArchitecture::X86;
    case 2:
      return CpuArchitecture::Power;
    case 3:
      return CpuArchitecture::Arm;
    default:
      return CpuArchitecture::Unknown;
  }
}

CpuVendor vendor_of_number(int number) {
  switch (number) {
    case 1:
      return CpuVendor::Intel;
    case 2:
      return CpuVendor::Amd;
    case 3:
      return CpuVendor::Zhaoxin;
    default:
      return CpuVendor::Unknown;
  }
}

CpuModel model_of_number(CpuVendor vendor, int number) {
  if (vendor == CpuVendor::Zhaoxin) {
    return number == 1 ? CpuModel::Yongfeng : CpuModel::Other;
  }
  if (vendor != CpuVendor::Intel) {
    return CpuModel::Other;
  }
  switch (number) {
    case 1:
      return CpuModel::Broadwell;
    case 2:
      return CpuModel::Skylake;
    case 3:
      return CpuModel::SapphireRapids;
    case 4:
      return CpuModel::EmeraldRapids;
    default:
      return CpuModel::Other;
  }
}

}  // namespace

NodeFacts node_facts(const DetectedNode& node) {
  NodeFacts facts;
  facts.cpu = cpu_of(node);
  for (const PartId gpu : node.gpus) {
    float nvlink = 0;
    float pcie = 0;
    for (const PartLinkId id : node.system.part(gpu).links) {
      const PartLink& link = node.system.link(id);
      nvlink += link.kind == PartLinkKind::Nvlink ? link.bandwidth : 0;
      pcie = link.kind == PartLinkKind::Pci ? link.bandwidth : pcie;
    }
    facts.nvlink.push_back(nvlink);
    facts.pcie.push_back(pcie);
  }
  for (const PartId net : node.system.all(PartKind::Net)) {
    facts.nics.push_back(node.system.part(net).net.bandwidth);
  }
  std::ranges::sort(facts.nics, std::greater<>{});
  return facts;
}

NodeFacts node_facts(const LoggedSystem& system) {
  NodeFacts facts;
  std::map<int, std::size_t> gpus;
  for (std::size_t i = 0; i < system.parts.size(); ++i) {
    const LoggedPart& part = system.parts[i];
    if (part.kind == PartKind::Gpu && part.rank) {
      gpus.emplace(*part.rank, i);
    } else if (part.kind == PartKind::Net) {
      facts.nics.push_back(part.network);
    } else if (part.kind == PartKind::Cpu && i == 0 && part.cpu_vendor) {
      facts.cpu.architecture = architecture_of_number(*part.cpu_architecture);
      facts.cpu.vendor = vendor_of_number(*part.cpu_vendor);
      facts.cpu.model = model_of_number(facts.cpu.vendor, part.cpu_model.value_or(-1));
    }
  }
  for (const auto& [rank, at] : gpus) {
    float nvlink = 0;
    for (const LoggedLink& link : system.links) {
      nvlink += link.from == at && link.kind == PartLinkKind::Nvlink ? link.bandwidth : 0;
    }
    facts.nvlink.push_back(nvlink);
    facts.pcie.push_back(system.parts[at].bandwidth);
  }
  std::ranges::sort(facts.nics, std::greater<>{});
  return facts;
}

}  // namespace collsim::nccl
