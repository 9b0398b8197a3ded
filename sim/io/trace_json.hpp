#pragma once

// A run as trace-event JSON, which ui.perfetto.dev and chrome://tracing open.
//
// Every GPU is a process (pid = rank + 1) with a thread for each lane (tid = lane + 1): a slice a
// step, from when the lane reached it to its end, with the wait for messages, dependencies and
// credit as a slice inside. Operations that run on a GPU at the same time have threads of their own.
// The process "links" has a thread for each link that carried something, with a slice a transfer;
// transfers that overlap go to further threads of the link. Arrows lead from each send to the step
// that received it.
//
// Times are in microseconds with three decimals: what is shorter than 1 ns has no length, and
// arrows from or to steps without length are left out, since viewers drop them.
// Source: Trace Event Format; Perfetto's importer (src/trace_processor/importers/json).

#include <cstdint>
#include <iosfwd>
#include <map>
#include <utility>
#include <vector>

#include "sim/trace.hpp"
#include "topology/graph.hpp"

namespace collsim {

/// Keeps what it sees (about 100 bytes a step and a transfer) until it is written.
class TraceJson final : public TraceObserver {
 public:
  /// Requires: the graph outlives the trace.
  explicit TraceJson(const Graph& graph) : graph_(&graph) {}

  void on_step(const StepRecord& record) override;
  void on_transfer(const TransferRecord& record) override;

  /// Writes one JSON object, events in order of time. The same run gives the same bytes.
  void write(std::ostream& out) const;

 private:
  /// A transfer, with the step that received it.
  struct Transfer {
    TransferRecord record;  ///< its route is in routes_
    std::uint32_t route = 0;
    Time receiver_reached;
    Time receiver_end;
  };
  struct LaneKey {
    OperationId operation;
    DeviceId gpu;
    std::uint32_t lane = 0;
    auto operator<=>(const LaneKey&) const = default;
  };

  const Graph* graph_;
  std::vector<StepRecord> steps_;
  std::vector<Transfer> transfers_;
  std::vector<std::vector<LinkId>> routes_;
  std::map<std::pair<DeviceId, DeviceId>, std::uint32_t> route_of_;
  std::map<LaneKey, std::vector<std::size_t>> unfinished_;  ///< transfers whose step still runs

  friend class TraceWriter;
};

}  // namespace collsim
