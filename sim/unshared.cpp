#include "sim/unshared.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "sim/unshared_run.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Steps that may be listed, over all shapes of lanes; and evaluated.
constexpr std::uint64_t most_listed = std::uint64_t{1} << 22U;
constexpr std::uint64_t most_steps = std::uint64_t{1} << 31U;
/// Steps of a lane until the others have their turn, so that few messages wait.
constexpr int steps_at_a_time = 256;

}  // namespace

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
  const std::vector<RouteHop>& hops = route.route.hops;
  for (const RouteHop& hop : hops) {
    if (std::ranges::count(hops, hop.link, &RouteHop::link) != 1) {
      throw NotCovered{};
    }
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
