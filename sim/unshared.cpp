#include "sim/unshared.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "sim/attribution.hpp"
#include "sim/connection_route.hpp"
#include "sim/messages.hpp"
#include "sim/path_table.hpp"
#include "sim/plain_steps.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Steps that may be listed, over all shapes of lanes; and evaluated.
constexpr std::uint64_t most_listed = std::uint64_t{1} << 22U;
constexpr std::uint64_t most_steps = std::uint64_t{1} << 31U;
/// Steps of a lane until the others have their turn, so that few messages wait.
constexpr int steps_at_a_time = 256;

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

/// The steps of a lane, which lanes of its shape share.
const StepList* Evaluation::shared_list(Rank rank, std::uint32_t lane) {
  const auto schedule = program_->schedule(rank, lane);
  if (schedule) {
    if (const auto known = list_of_shape_.find(schedule->shape); known != list_of_shape_.end()) {
      return known->second;
    }
  }
  listed_ += program_->step_count(rank, lane);
  if (listed_ > most_listed) {
    throw NotCovered{};
  }
  lists_.push_back(plain_steps(*program_, rank, lane));
  const StepList* const list = lists_.back().get();
  if (schedule) {
    list_of_shape_.emplace(schedule->shape, list);
  }
  return list;
}

void Evaluation::list_lanes() {
  const FoldedProgram* const folded = plan_ == nullptr ? nullptr : plan_->programs.front().get();
  for (std::uint32_t rank = 0; rank < communicator_->size(); ++rank) {
    first_lane_.push_back(static_cast<std::uint32_t>(lanes_.size()));
    for (std::uint32_t number = 0; number < program_->lane_count(Rank(rank)); ++number) {
      const Lane properties = program_->lane(Rank(rank), number);
      const bool costs = options_->costs != nullptr && properties.protocol != WireProtocol::None;
      if (costs || properties.fifo_depth || properties.multiplicity != 1) {
        throw NotCovered{};
      }
      PlainLane lane;
      lane.list = shared_list(Rank(rank), number);
      lane.first_step = steps_;
      lane.paths.resize(lane.list->sends.size());
      lane.inboxes.resize(lane.list->receive_slots);
      lane.alike = folded == nullptr ? 1 : folded->lane_class(Rank(rank), number).size;
      steps_ += lane.list->steps.size();
      lanes_.push_back(std::move(lane));
    }
  }
  first_lane_.push_back(static_cast<std::uint32_t>(lanes_.size()));
  if (steps_ > most_steps) {
    throw NotCovered{};
  }
}

LaneOnGpus Evaluation::lane_on_gpus(Rank rank, std::uint32_t lane) const {
  if (plan_ == nullptr) {
    return {cluster_, program_, communicator_, rank, lane};
  }
  const FoldedProgram& folded = *plan_->programs.front();
  const LaneClass& alike = folded.lane_class(rank, lane);
  return {cluster_, &folded.whole(), &folded.communicator(), alike.rank, alike.lane};
}

void Evaluation::open_paths() {
  lane_of_link_.resize(cluster_->graph().links().size(), no_index);
  for (std::uint32_t rank = 0; rank + 1 < first_lane_.size(); ++rank) {
    for (std::uint32_t lane = 0; first_lane_[rank] + lane < first_lane_[rank + 1]; ++lane) {
      const StepList& list = *lanes_[first_lane_[rank] + lane].list;
      for (std::uint32_t slot = 0; slot < list.sends.size(); ++slot) {
        if (!list.sends[slot].empty()) {
          open_path(Rank(rank), lane, slot);
        }
      }
    }
  }
}

void Evaluation::open_path(Rank rank, std::uint32_t lane, std::uint32_t slot) {
  const Connection to = program_->send_to(rank, lane, slot);
  const bool exists = to.peer.index() < communicator_->size() &&
                      to.lane < program_->lane_count(to.peer) &&
                      (plan_ != nullptr || to.peer != rank);
  if (!exists ||
      program_->receive_from(to.peer, to.lane, to.slot) != Connection{rank, lane, slot}) {
    throw NotCovered{};
  }
  const std::uint32_t number = first_lane_[rank.index()] + lane;
  ConnectionRoute connection = connection_route(lane_on_gpus(rank, lane), slot, WireProtocol::None);
  CrowdedRoute route = plan_ == nullptr
                           ? CrowdedRoute{std::move(connection.route), {}}
                           : plan_->links.folded(connection.route, lanes_[number].alike);
  take_links(number, route);
  PlainPath& path = lanes_[number].paths[slot];
  path.path = table_.open(route.route, route.crowds);
  const PathTable::FullRate full = table_.full_rate(path.path);
  path.rate = full.rate;
  path.narrowest = cluster_->graph().link(full.link).level;
  path.latency = route.route.latency;
  path.latency_by_level = std::move(connection.latency_by_level);
  path.hops = std::move(route.route.hops);
  path.to_lane = first_lane_[to.peer.index()] + to.lane;
  path.to_slot = to.slot;
  PlainLane& receiver = lanes_[path.to_lane];
  if (to.slot >= receiver.inboxes.size()) {
    throw NotCovered{};
  }
  receiver.inboxes[to.slot].from_lane = number;
  receiver.inboxes[to.slot].from_slot = slot;
}

/// No other lane may cross them.
void Evaluation::take_links(std::uint32_t lane, const CrowdedRoute& route) {
  const auto is_one = [](std::uint32_t crowd) { return crowd == 1; };
  if (!std::ranges::all_of(route.crowds, is_one)) {
    throw NotCovered{};
  }
  for (const RouteHop& hop : route.route.hops) {
    std::uint32_t& taken = lane_of_link_[hop.link.index()];
    if (taken != no_index && taken != lane) {
      throw NotCovered{};
    }
    taken = lane;
  }
}

void Evaluation::advance(std::uint32_t number) {
  PlainLane& lane = lanes_[number];
  const std::vector<PlainStep>& steps = lane.list->steps;
  for (int left = steps_at_a_time; lane.step < steps.size(); --left) {
    if (left == 0) {
      ready_.push_back(number);
      return;
    }
    const PlainStep& step = steps[lane.step];
    if (step.receive_slot != no_index) {
      Inbox& inbox = lane.inboxes[step.receive_slot];
      if (inbox.empty()) {
        lane.waiting = true;
        return;
      }
      const PlainMessage message = inbox.pop();
      if (message.bytes != step.bytes) {
        throw NotCovered{};
      }
      if (message.arrival > lane.clock) {
        lane.clock = message.arrival;
        const std::uint64_t bit = lane.first_step + lane.step;
        followed_[bit / bits] |= std::uint64_t{1} << (bit % bits);
      }
    }
    ++lane.step;
    if (step.send_slot != no_index) {
      send(lane, step);
    }
  }
}

void Evaluation::send(PlainLane& lane, const PlainStep& step) {
  PlainPath& path = lane.paths[step.send_slot];
  lane.clock = checked_add(lane.clock, path.time(step.bytes));
  PlainLane& receiver = lanes_[path.to_lane];
  receiver.inboxes[path.to_slot].messages.push_back(
      {checked_add(lane.clock, path.latency), step.bytes});
  if (receiver.waiting && receiver.list->steps[receiver.step].receive_slot == path.to_slot) {
    receiver.waiting = false;
    ready_.push_back(path.to_lane);
  }
  count(lane.alike);
}

void Evaluation::count(std::uint64_t transfers) {
  constexpr unsigned interval_bits = 16;
  const std::uint64_t before = transfers_ >> interval_bits;
  transfers_ += transfers;
  if (options_->progress && transfers_ >> interval_bits != before &&
      !options_->progress(transfers_)) {
    throw SimulationError("interrupted");
  }
}

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

}  // namespace

std::optional<RunResult> run_unshared(const Cluster& cluster, const Workload& workload,
                                      const RunOptions& options, const FoldPlan* plan) {
  if (workload.operations.size() != 1 || !workload.capacity_changes.empty() ||
      options.observer != nullptr || options.critical_path) {
    return std::nullopt;
  }
  const auto* collective = std::get_if<Collective>(&workload.operations.front());
  if (collective == nullptr) {
    return std::nullopt;
  }
  try {
    return Evaluation(cluster, *collective, options, plan).run();
  } catch (const NotCovered&) {
    return std::nullopt;
  }
}

}  // namespace collsim::detail
