#include "validate/io/nccl_tests_machine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace collsim {

namespace {

std::string launch_of(const NcclTest& test, const Placement& placement) {
  std::uint32_t gpus = test.parameters ? test.parameters->gpus_per_process() : 0;
  if (placement.processes != 0) {
    gpus = placement.ranks / placement.processes;
  }
  if (gpus == 0) {
    return {};
  }
  const std::string option = "-g " + std::to_string(gpus);
  if (test.parameters && test.parameters->graph != 0) {
    return "CUDA graph" + (gpus > 1 ? ", " + option : std::string());
  }
  if (gpus == 1) {
    return "one process per GPU";
  }
  if (test.parameters && test.parameters->threads > 1) {
    return std::to_string(test.parameters->threads) + " threads a process, as " + option;
  }
  return (placement.processes == 1 ? "single process " : "one process for several GPUs, ") + option;
}

void add_logged(const NcclTest& test, const RunContext& context, MeasuredSoftware& software) {
  const auto belongs = [&](std::uint32_t line) {
    return line >= context.first_line && line <= test.last_line;
  };
  for (const auto& [line, version] : context.facts->versions) {
    if (belongs(line)) {
      software.nccl = version.nccl;
      software.cuda = version.cuda;
    }
  }
  for (const auto& [line, variable] : context.facts->variables) {
    if (!belongs(line)) {
      continue;
    }
    auto& known = software.environment;
    const auto same =
        std::ranges::find(known, variable.name, &std::pair<std::string, std::string>::first);
    if (same == known.end()) {
      known.emplace_back(variable.name, variable.value);
    } else {
      same->second = variable.value;
    }
  }
}

}  // namespace

Placement placement_of(const std::vector<TestDevice>& devices) {
  Placement placement;
  std::set<std::uint32_t> groups;
  std::set<std::pair<std::string_view, std::uint64_t>> processes;
  std::map<std::string_view, std::uint32_t> on_host;
  for (const TestDevice& device : devices) {
    placement.ranks = std::max(placement.ranks, device.rank + 1);
    groups.insert(device.group);
    processes.emplace(device.host, device.process);
    ++on_host[device.host];
    placement.gpus_differ =
        placement.gpus_differ || (!placement.gpu.empty() && placement.gpu != device.gpu);
    placement.gpu = placement.gpu.empty() ? device.gpu : placement.gpu;
  }
  placement.nodes = static_cast<std::uint32_t>(on_host.size());
  placement.processes = static_cast<std::uint32_t>(processes.size());
  placement.groups = std::max<std::uint32_t>(static_cast<std::uint32_t>(groups.size()), 1);
  for (const auto& [host, gpus] : on_host) {
    placement.gpus_per_node = std::max(placement.gpus_per_node, gpus);
  }
  return placement;
}

MeasuredSoftware software_of(const NcclTest& test, const RunContext& context,
                             const Placement& placement, std::uint32_t ranks, std::uint32_t nodes) {
  MeasuredSoftware software;
  add_logged(test, context, software);
  if (!test.version.nccl.empty()) {
    software.nccl = test.version.nccl;
  }
  if (software.nccl.empty()) {
    software.nccl = context.hints->nccl;
  }
  software.launch =
      context.hints->launch.empty() ? launch_of(test, placement) : context.hints->launch;
  software.mode = parse_launch(software.launch, ranks, nodes);
  return software;
}

}  // namespace collsim
