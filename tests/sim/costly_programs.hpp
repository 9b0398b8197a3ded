#pragma once

// Runs of small programs whose lanes name a protocol, and what is asked of their results.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/cost_sets.hpp"
#include "tests/sim/programs.hpp"

namespace collsim::test {

inline Lane lane_of(WireProtocol protocol, Kernel kernel = Kernel::Collective) {
  Lane lane;
  lane.protocol = protocol;
  lane.kernel = kernel;
  lane.threads = 512;
  return lane;
}

inline RunOptions paying(const CostParameters& costs) {
  RunOptions options;
  options.costs = &costs;
  options.critical_path = true;
  return options;
}

/// The part of a result's last rank that a parameter has.
inline Duration part_of(const RunResult& result, CostItem item) {
  for (const AttributedTime& part : result.operations.at(0).attribution) {
    if (part.parameter == item) {
      return part.time;
    }
  }
  return Duration{};
}
/// All parts of a cause together.
inline Duration part_of(const RunResult& result, Cause cause) {
  Duration sum{};
  for (const AttributedTime& part : result.operations.at(0).attribution) {
    sum += part.cause == cause ? part.time : Duration{};
  }
  return sum;
}

/// Fails where stretches of the path leave gaps, or the parts of the time are not all of it.
inline void check_explained(const RunResult& result) {
  const OperationResult& operation = result.operations.at(0);
  REQUIRE_FALSE(operation.critical_path.empty());
  Time at{};
  for (const CriticalStep& step : operation.critical_path) {
    CHECK(step.start == at);
    CHECK(step.left >= step.start);
    CHECK(step.end >= step.left);
    at = step.end;
  }
  CHECK(at == operation.end);
  Duration sum{};
  for (const AttributedTime& part : operation.attribution) {
    CHECK(part.time > Duration{});
    sum += part.time;
  }
  CHECK(sum == operation.end - Time{});
}

/// Bytes that crossed a link from one device to another, named as in the description of one node.
inline std::int64_t bytes_between(const Cluster& cluster, const RunResult& result,
                                  const std::string& from, const std::string& to) {
  const Graph& graph = cluster.graph();
  std::int64_t sum = 0;
  for (const LinkId link : graph.links_between(device(graph, from), device(graph, to))) {
    sum += static_cast<std::int64_t>(whole_bytes(result.links[link.index()]));
  }
  return sum;
}

/// Keeps all records.
class Recorder final : public TraceObserver {
 public:
  void on_step(const StepRecord& record) override { steps.push_back(record); }
  void on_transfer(const TransferRecord& record) override { transfers.push_back(record); }

  // NOLINTBEGIN(misc-non-private-member-variables-in-classes): what it is for
  std::vector<StepRecord> steps;
  std::vector<TransferRecord> transfers;
  // NOLINTEND(misc-non-private-member-variables-in-classes)
};

}  // namespace collsim::test
