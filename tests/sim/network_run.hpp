#pragma once

// A network of parallel links, and a script of what happens on it when. Routes are any sets of
// links: network models do not ask how links hang together.
//
// Capacities are in bytes per picosecond where that is whole (10^12 B/s moves 1 B in 1 ps), so that
// times can be worked out in the head.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/flow_network.hpp"
#include "sim/network.hpp"
#include "topology/graph.hpp"

namespace collsim::test {

inline Bandwidth bytes_per_picosecond(std::int64_t numerator, std::int64_t denominator = 1) {
  return Bandwidth::bytes_per_second(numerator * 1'000'000'000'000 / denominator);
}

/// Links from one GPU to another, with ids 0, 1, … in the order of `bandwidths`.
inline Graph parallel_links(const std::vector<Bandwidth>& bandwidths) {
  GraphBuilder builder;
  const std::uint32_t stem = builder.add_stem("gpu", true);
  const DeviceId source = builder.add_device(DeviceKind::Gpu, NodeId(0), stem, 0);
  const DeviceId target = builder.add_device(DeviceKind::Gpu, NodeId(0), stem, 1);
  for (const Bandwidth bandwidth : bandwidths) {
    builder.add_link(
        {source, target, bandwidth, Duration(0), LinkKind::Generic, builder.add_level("level")});
  }
  return std::move(builder).freeze();
}

inline Route route_over(const std::vector<RouteHop>& hops) { return Route{hops, Duration(0)}; }
inline Route route_over(std::initializer_list<std::uint32_t> links) {
  Route route;
  for (const std::uint32_t link : links) {
    route.hops.push_back({LinkId(link), 1, 1});
  }
  return route;
}

struct Left {
  Time time;
  Departure departure;
};

class NetworkRun {
 public:
  NetworkRun(NetworkModel model, const std::vector<Bandwidth>& bandwidths)
      : graph_(std::make_unique<Graph>(parallel_links(bandwidths))),
        queue_(std::make_unique<EventQueue>()),
        network_(make_network(model, *graph_, *queue_)) {}
  /// The flow model, where groups of links with so few transfers are not searched.
  NetworkRun(std::size_t few, const std::vector<Bandwidth>& bandwidths)
      : graph_(std::make_unique<Graph>(parallel_links(bandwidths))),
        queue_(std::make_unique<EventQueue>()),
        network_(std::make_unique<FlowNetwork>(*graph_, *queue_, few)) {}

  /// Something that happens at a time; what is given first happens first within the instant.
  void at(std::int64_t picoseconds, std::function<void(Network&)> action) {
    queue_->push(Event{Time(Duration(picoseconds)), EventPhase::Step,
                       static_cast<std::uint32_t>(actions_.size()), 0});
    actions_.push_back(std::move(action));
  }
  /// A transfer; its tag is returned, counting from 0.
  std::uint32_t transfer(std::int64_t picoseconds, const Route& route, Bytes bytes,
                         const TransferTerms& terms = {}) {
    const std::uint32_t tag = next_tag_++;
    const PathId path = network_->open(route);
    paths_[tag] = path;
    at(picoseconds, [=](Network& network) { network.start(path, bytes, tag, terms); });
    return tag;
  }
  /// One that starts when another one departs, on its path; `passing`: on one that is opened for it.
  std::uint32_t following_transfer(std::uint32_t before, const Route& route, Bytes bytes,
                                   const TransferTerms& terms, bool passing) {
    const std::uint32_t tag = next_tag_++;
    followers_.emplace(before, [=, this] {
      if (passing) {
        closed_with_[tag] = network_->open(route);
      } else {
        paths_[tag] = paths_.at(before);
      }
      network_->start(passing ? closed_with_.at(tag) : paths_.at(tag), bytes, tag, terms);
    });
    return tag;
  }
  /// The same; the path is opened when the transfer starts, and closed when it leaves.
  std::uint32_t passing_transfer(std::int64_t picoseconds, const Route& route, Bytes bytes,
                                 const TransferTerms& terms = {}) {
    const std::uint32_t tag = next_tag_++;
    at(picoseconds, [=, this](Network& network) {
      const PathId path = network.open(route);
      closed_with_[tag] = path;
      network.start(path, bytes, tag, terms);
    });
    return tag;
  }
  void capacity(std::int64_t picoseconds, std::uint32_t link, Bandwidth bandwidth) {
    at(picoseconds, [=](Network& network) { network.set_capacity(LinkId(link), bandwidth); });
  }

  /// Runs to the end: all events of an instant, then settle().
  void run() {
    while (!queue_->empty()) {
      const Time now = queue_->next_time();
      while (!queue_->empty() && queue_->next_time() == now) {
        handle(queue_->pop());
      }
      network_->settle();
    }
  }

  /// When and how a transfer left.
  [[nodiscard]] const Left& left(std::uint32_t tag) const { return left_.at(tag); }
  [[nodiscard]] std::int64_t departure(std::uint32_t tag) const {
    return left(tag).time.time_since_epoch().count();
  }
  [[nodiscard]] std::int64_t wire(std::uint32_t tag) const {
    return left(tag).departure.wire.count();
  }
  [[nodiscard]] const LinkUse& use(std::uint32_t link) const { return network_->link_use()[link]; }
  [[nodiscard]] std::size_t departures() const { return left_.size(); }
  [[nodiscard]] std::uint64_t stale_events() const { return stale_events_; }
  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] Network& network() { return *network_; }

 private:
  void handle(const Event& event) {
    if (event.phase == EventPhase::Step) {
      actions_[event.subject](*network_);
      return;
    }
    const std::optional<Departure> departure = network_->depart(event);
    if (departure) {
      const auto [first, end] = followers_.equal_range(departure->tag);
      for (auto follower = first; follower != end; ++follower) {
        follower->second();
      }
      if (const auto path = closed_with_.find(departure->tag); path != closed_with_.end()) {
        network_->close(path->second);
      }
      left_[departure->tag] = {queue_->now(), *departure};
    } else {
      ++stale_events_;
    }
  }

  // On the heap, so that a run can be moved.
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<EventQueue> queue_;
  std::unique_ptr<Network> network_;
  std::vector<std::function<void(Network&)>> actions_;
  std::map<std::uint32_t, Left> left_;
  std::map<std::uint32_t, PathId> paths_;
  std::map<std::uint32_t, PathId> closed_with_;
  std::multimap<std::uint32_t, std::function<void()>> followers_;  ///< by whom they follow
  std::uint32_t next_tag_ = 0;
  std::uint64_t stale_events_ = 0;
};

}  // namespace collsim::test
