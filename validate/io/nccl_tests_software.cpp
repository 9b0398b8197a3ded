#include "validate/io/nccl_tests_software.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace collsim {

namespace {

std::string launch_of(const NcclTest& test) {
  const Placement& placement = test.placement;
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

/// The facts of the test's lines, in a file's order.
template <class Fact>
std::span<const AtLine<Fact>> facts_of(const std::vector<AtLine<Fact>>& all, std::uint32_t first,
                                       std::uint32_t last) {
  const auto begin = std::ranges::lower_bound(all, first, {}, &AtLine<Fact>::line);
  const auto end = std::ranges::upper_bound(all, last, {}, &AtLine<Fact>::line);
  return begin < end ? std::span(begin, end) : std::span<const AtLine<Fact>>();
}

void add_logged(const NcclTest& test, const RunContext& context, MeasuredSoftware& software) {
  for (const auto& [line, version] :
       facts_of(context.facts->versions, context.first_line, test.last_line)) {
    software.nccl = version.nccl;
    software.cuda = version.cuda;
  }
  constexpr std::size_t most_variables = 64;
  for (const auto& [line, variable] :
       facts_of(context.facts->variables, context.first_line, test.last_line)) {
    auto& known = software.environment;
    const auto same =
        std::ranges::find(known, variable.name, &std::pair<std::string, std::string>::first);
    if (same != known.end()) {
      same->second = variable.value;
    } else if (known.size() < most_variables) {
      known.emplace_back(variable.name, variable.value);
    }
  }
}

}  // namespace

MeasuredSoftware software_of(const NcclTest& test, const RunContext& context, std::uint32_t ranks,
                             std::uint32_t nodes) {
  MeasuredSoftware software;
  add_logged(test, context, software);
  if (!test.version.nccl.empty()) {
    software.nccl = test.version.nccl;
  }
  if (software.nccl.empty()) {
    software.nccl = context.hints->nccl;
  }
  software.launch = context.hints->launch.empty() ? launch_of(test) : context.hints->launch;
  software.mode = parse_launch(software.launch, ranks, nodes);
  return software;
}

}  // namespace collsim
