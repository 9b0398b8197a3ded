// What an evaluated run comes to: the times of ranks, what they are attributed to, the use of links.

#include <algorithm>
#include <map>
#include <utility>

#include "sim/attribution.hpp"
#include "sim/unshared_run.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

RunResult Evaluation::result() {
  RunResult run;
  OperationResult& operation = run.operations.emplace_back();
  std::uint32_t last = no_index;
  for (std::uint32_t rank = 0; rank + 1 < first_lane_.size(); ++rank) {
    Time end;
    for (std::uint32_t lane = first_lane_[rank]; lane < first_lane_[rank + 1]; ++lane) {
      end = std::max(end, lanes_[lane].clock);
      // Of equals the lowest rank, of its lanes the lowest.
      if (last == no_index || lanes_[lane].clock > lanes_[last].clock) {
        last = lane;
      }
    }
    operation.time_of_rank.push_back(end - Time{});
    operation.end = std::max(operation.end, end);
  }
  if (last != no_index) {
    operation.attribution = attribution(last);
  }
  run.time = operation.end - Time{};
  run.links = link_use();
  run.transfers = transfers_;
  return run;
}

/// Backwards from the end of a lane: its sends, and where a step followed its message, the message's way.
std::vector<AttributedTime> Evaluation::attribution(std::uint32_t last) {
  const AttributionLayout layout(cluster_->graph().levels().size());
  std::vector<std::int64_t> vector(layout.size());
  std::uint32_t number = last;
  std::size_t step = lanes_[last].list->steps.size();
  while (step > 0) {
    --step;
    PlainLane& lane = lanes_[number];
    const PlainStep& done = lane.list->steps[step];
    if (done.send_slot != no_index) {
      PlainPath& path = lane.paths[done.send_slot];
      vector[layout.wire(path.narrowest)] += path.time(done.bytes).count();
    }
    if (!followed(lane.first_step + step)) {
      continue;
    }
    const Inbox& inbox = lane.inboxes[done.receive_slot];
    const std::uint32_t before = lane.list->received_before[step];
    number = inbox.from_lane;
    const PlainLane& sender = lanes_[number];
    const PlainPath& path = sender.paths[inbox.from_slot];
    for (std::size_t level = 0; level < path.latency_by_level.size(); ++level) {
      vector[layout.latency(LevelId(level))] += path.latency_by_level[level].count();
    }
    step = sender.list->sends[inbox.from_slot][before] + std::size_t{1};
  }
  std::int64_t sum = 0;
  for (const std::int64_t part : vector) {
    sum += part;
  }
  COLLSIM_ENSURE(sum == (lanes_[last].clock - Time{}).count(),
                 "the attribution of an evaluated run does not sum to its time");
  return layout.parts(vector.data());
}

std::vector<LinkUse> Evaluation::link_use() {
  std::vector<LinkUse> links(cluster_->graph().links().size());
  // By list and slot: how many messages of each size.
  std::map<std::pair<const StepList*, std::uint32_t>, std::map<std::int64_t, std::uint64_t>> sizes;
  for (PlainLane& lane : lanes_) {
    for (std::uint32_t slot = 0; slot < lane.paths.size(); ++slot) {
      std::map<std::int64_t, std::uint64_t>& sent = sizes[{lane.list, slot}];
      if (sent.empty()) {
        for (const std::uint32_t step : lane.list->sends[slot]) {
          ++sent[lane.list->steps[step].bytes];
        }
      }
      PlainPath& path = lane.paths[slot];
      for (const auto& [bytes, messages] : sent) {
        for (const RouteHop& hop : path.hops) {
          LinkUse& use = links[hop.link.index()];
          use.fine_bytes += fine_bytes_on(Bytes(bytes), hop) * messages;
          use.busy += static_cast<std::int64_t>(messages) * path.time(bytes);
          use.peak_flows = bytes == 0 ? use.peak_flows : 1;
        }
      }
    }
  }
  return links;
}

}  // namespace collsim::detail
