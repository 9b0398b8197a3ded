#pragma once

// The evaluation of a run in which no two lanes share a link: see unshared.hpp. Internal to the executor.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "sim/connection_route.hpp"
#include "sim/executor.hpp"
#include "sim/fold.hpp"
#include "sim/messages.hpp"
#include "sim/path_table.hpp"
#include "sim/plain_steps.hpp"

namespace collsim::detail {

/// Where a send slot leads.
struct PlainPath {
  std::uint32_t to_lane = no_index;
  std::uint32_t to_slot = 0;
  PathId path;
  Rate rate;
  Duration latency{};
  std::vector<Duration> latency_by_level;
  LevelId narrowest;
  std::vector<RouteHop> hops;
  // Messages in a row are mostly as large.
  std::int64_t last_bytes = -1;
  Duration last_time{};

  Duration time(std::int64_t bytes) {
    if (bytes != last_bytes) {
      last_bytes = bytes;
      last_time = bytes == 0 ? Duration{} : transfer_time_fine(to_fine(Bytes(bytes)), rate);
    }
    return last_time;
  }
};

struct PlainMessage {
  Time arrival;
  std::int64_t bytes = 0;
};

/// Messages of a receive slot that have not been received, oldest first.
struct Inbox {
  std::vector<PlainMessage> messages;
  std::size_t next = 0;
  std::uint32_t from_lane = no_index;
  std::uint32_t from_slot = 0;

  [[nodiscard]] bool empty() const { return next == messages.size(); }
  PlainMessage pop() {
    const PlainMessage first = messages[next++];
    if (empty()) {
      messages.clear();
      next = 0;
    }
    return first;
  }
};

struct PlainLane {
  const StepList* list = nullptr;
  std::uint64_t first_step = 0;  ///< among those of all lanes
  std::size_t step = 0;
  Time clock;
  bool waiting = false;
  std::uint32_t alike = 1;       ///< lanes that it stands for, itself among them
  std::vector<PlainPath> paths;  ///< by send slot
  std::vector<Inbox> inboxes;    ///< by receive slot
};

/// One run.
class Evaluation {
 public:
  Evaluation(const Cluster& cluster, const Collective& collective, const RunOptions& options,
             const FoldPlan* plan)
      : cluster_(&cluster),
        options_(&options),
        plan_(plan),
        program_(collective.program.get()),
        communicator_(collective.communicator.get()),
        table_(cluster.graph()) {
    list_lanes();
    open_paths();
    followed_.resize(static_cast<std::size_t>(steps_ / bits + 1));
  }

  RunResult run() {
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      ready_.push_back(lane);
    }
    while (!ready_.empty()) {
      const std::uint32_t lane = ready_.front();
      ready_.pop_front();
      advance(lane);
    }
    for (const PlainLane& lane : lanes_) {
      const bool read = std::ranges::all_of(lane.inboxes, &Inbox::empty);
      if (lane.step != lane.list->steps.size() || !read) {
        throw NotCovered{};  // a deadlock, or messages that nobody receives: for the executor to tell
      }
    }
    return result();
  }

 private:
  static constexpr std::uint64_t bits = 64;

  void list_lanes();
  const StepList* shared_list(Rank rank, std::uint32_t lane);
  [[nodiscard]] LaneOnGpus lane_on_gpus(Rank rank, std::uint32_t lane) const;
  void open_paths();
  void open_path(Rank rank, std::uint32_t lane, std::uint32_t slot);
  void take_links(std::uint32_t lane, const CrowdedRoute& route);
  void advance(std::uint32_t number);
  void send(PlainLane& lane, const PlainStep& step);
  void count(std::uint64_t transfers);
  [[nodiscard]] bool followed(std::uint64_t step) const {
    return (followed_[step / bits] >> (step % bits) & 1U) != 0;
  }
  RunResult result();
  [[nodiscard]] std::vector<AttributedTime> attribution(std::uint32_t last);
  [[nodiscard]] std::vector<LinkUse> link_use();

  const Cluster* cluster_;
  const RunOptions* options_;
  const FoldPlan* plan_;
  const Program* program_;
  const Communicator* communicator_;
  PathTable table_;
  std::vector<std::unique_ptr<const StepList>> lists_;
  std::map<std::uint64_t, const StepList*> list_of_shape_;
  std::uint64_t listed_ = 0;
  std::vector<std::uint32_t> first_lane_;  ///< by rank, and the end
  std::vector<PlainLane> lanes_;
  std::vector<std::uint32_t> lane_of_link_;
  std::uint64_t steps_ = 0;
  std::vector<std::uint64_t> followed_;  ///< a bit a step: it followed its message
  std::deque<std::uint32_t> ready_;
  std::uint64_t transfers_ = 0;
};

}  // namespace collsim::detail
