#include "sim/fold_graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "sim/memory_parts.hpp"
#include "sim/messages.hpp"
#include "sim/step_costs.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// So many steps may be walked: a second or so.
constexpr std::uint64_t most_steps = std::uint64_t{1} << 23U;

/// What a vertex or an edge is: the first part of colours and labels.
enum class Mark : std::uint8_t {
  Rank,
  Lane,
  Group,
  Link,
  Proxy,
  Send,
  Receive,
  Path,
  Switch,
  LaneOfRank,
  RankOfLane,
  LaneOfGroup,
  GroupOfLane,
  Joined,
  Awaited,
};

SequenceHash hash_of(Mark mark) { return SequenceHash().add(static_cast<std::uint64_t>(mark)); }

std::uint64_t bits(Duration time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

FoldGraph::FoldGraph(const Cluster& cluster, const RunOptions& options, std::vector<FoldJob>& jobs,
                     LaneOrder order)
    : cluster_(&cluster),
      options_(&options),
      order_(order),
      things_(cluster.graph().links().size() + cluster.graph().devices().size(), no_index),
      legs_(cluster.graph().gpus().size()),
      budget_{most_steps} {
  for (FoldJob& job : jobs) {
    number_lanes(job);
  }
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    joiners_.clear();
    across_channels_ = order_ == LaneOrder::OfAll;
    add_job(jobs[number], number);
    add_groups(jobs[number]);
    add_order_of_lanes(jobs[number]);
  }
}

void FoldGraph::number_lanes(FoldJob& job) {
  job.first_rank = static_cast<Vertex>(graph_.vertices());
  job.first_lane.clear();
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    graph_.add_vertex(0);
  }
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    job.first_lane.push_back(static_cast<Vertex>(graph_.vertices()));
    const std::uint32_t lanes = job.program->lane_count(Rank(rank));
    if (graph_.vertices() + lanes > options_->most_compared) {
      throw NotFolded{"there are more lanes than can be compared", {}, true};
    }
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      graph_.add_vertex(0);
    }
  }
  job.first_lane.push_back(static_cast<Vertex>(graph_.vertices()));
}

void FoldGraph::add_job(const FoldJob& job, std::size_t number) {
  std::size_t edges_of_rank = options_->most_compared;
  LaneOnGpus at{cluster_, job.program.get(), job.communicator.get(), Rank(0), 0, &legs_};
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    const Vertex vertex = job.first_rank + rank;
    at.rank = Rank(rank);
    const std::size_t edges_before = graph_.edges();
    SequenceHash colour = hash_of(Mark::Rank).add(number).add(job.lanes(rank));
    if (options_->costs != nullptr) {
      colour.add(job.program->peers(at.rank));
      colour.add(static_cast<std::uint64_t>(
          memory_part(*cluster_, *options_->costs, *job.program, at.rank, at.gpu(at.rank))
              .units()));
      // They depend on the rank's first lane, whichever channel that is of.
      for (const CostPart& part : launch_costs(*options_->costs, *job.program, at.rank,
                                               options_->call, options_->launch)) {
        colour.add(static_cast<std::uint64_t>(part.item)).add(bits(part.time));
      }
    }
    graph_.set_colour(vertex, colour.value());
    for (at.lane = 0; at.lane < job.lanes(rank); ++at.lane) {
      const Vertex lane = job.first_lane[rank] + at.lane;
      graph_.add_edge(lane, vertex, hash_of(Mark::RankOfLane).value());
      add_lane(job, number, at);
    }
    // What has a root is unlike the others: the lesser of two ranks tells how much there is to compare.
    edges_of_rank = std::min(edges_of_rank, graph_.edges() - edges_before);
    if (rank > 0) {
      check_size(edges_of_rank * (job.ranks() - rank));
    }
  }
}

WireProtocol FoldGraph::charged_protocol(const Lane& lane) const {
  return options_->costs != nullptr ? lane.protocol : WireProtocol::None;
}

void FoldGraph::add_lane(const FoldJob& job, std::size_t number, const LaneOnGpus& at) {
  const Vertex vertex = job.first_lane[at.rank.index()] + at.lane;
  const bool costs = options_->costs != nullptr;
  const auto shape = shape_of(*job.program, at.rank, at.lane, costs, budget_);
  if (!shape) {
    throw NotFolded{"the lanes have more steps than can be compared one by one"};
  }
  const Lane lane = job.program->lane(at.rank, at.lane);
  SequenceHash colour = hash_of(Mark::Lane).add(number).add(shape->hash);
  colour.add(job.program->step_count(at.rank, at.lane));
  colour.add(lane.fifo_depth ? 1 + std::uint64_t{*lane.fifo_depth} : 0).add(lane.multiplicity);
  if (charged_protocol(lane) != WireProtocol::None) {
    colour.add(static_cast<std::uint64_t>(lane.protocol))
        .add(static_cast<std::uint64_t>(lane.kernel))
        .add(lane.threads);
    if (is_uneven(*options_->costs, lane.protocol, lane.kernel)) {
      colour.add(lane.channel % channel_sorts);
    }
  }
  graph_.set_colour(vertex, colour.value());
  for (std::size_t i = 0; i < shape->awaited.size(); ++i) {
    const Vertex other = job.first_lane[at.rank.index()] + shape->awaited[i];
    graph_.add_edge(vertex, other, hash_of(Mark::Awaited).add(i).value());
    across_channels_ =
        across_channels_ || job.program->lane(at.rank, shape->awaited[i]).channel != lane.channel;
  }
  for (std::size_t i = 0; i < shape->joined.size(); ++i) {
    joiners_.push_back({at.rank.value(), vertex, lane.channel, shape->joined[i],
                        hash_of(Mark::Joined).add(i).value()});
  }
  for (const std::uint32_t slot : shape->send_slots) {
    add_slot(job, at, vertex, slot);
  }
  for (std::size_t i = 0; i < shape->switches.size(); ++i) {
    add_path(vertex, switch_route(at, shape->switches[i]).route,
             hash_of(Mark::Switch).add(i).value());
  }
}

/// Where some step waits for a group, lanes that stand for others must be of groups that are alike.
void FoldGraph::add_groups(FoldJob& job) {
  job.joins = !joiners_.empty();
  if (!job.joins) {
    return;
  }
  auto joiner = joiners_.begin();
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    const auto first = static_cast<Vertex>(graph_.vertices());
    const std::vector<LaneGroup> groups = add_groups_of_rank(job, rank);
    for (; joiner != joiners_.end() && joiner->rank == rank; ++joiner) {
      // Nobody waits for a group that does not exist.
      if (joiner->group < groups.size()) {
        graph_.add_edge(joiner->lane, first + joiner->group, joiner->label);
        across_channels_ = across_channels_ || groups[joiner->group].channel != joiner->channel ||
                           groups[joiner->group].mixed;
      }
    }
  }
}

/// Of a group's lanes the lowest decides ties, so they have an order.
std::vector<FoldGraph::LaneGroup> FoldGraph::add_groups_of_rank(const FoldJob& job,
                                                                std::uint32_t rank) {
  const auto first = static_cast<Vertex>(graph_.vertices());
  std::vector<LaneGroup> groups;
  for (std::uint32_t number = 0; number < job.lanes(rank); ++number) {
    const Lane lane = job.program->lane(Rank(rank), number);
    while (lane.group >= groups.size()) {
      const std::uint64_t its_own = order_ == LaneOrder::OfAll ? groups.size() : 0;
      graph_.add_vertex(hash_of(Mark::Group).add(its_own).value());
      groups.emplace_back();
    }
    LaneGroup& group = groups[lane.group];
    group.mixed = group.mixed || (group.lanes > 0 && group.channel != lane.channel);
    group.channel = lane.channel;
    const Vertex vertex = job.first_lane[rank] + number;
    graph_.add_edge(first + lane.group, vertex,
                    hash_of(Mark::LaneOfGroup).add(group.lanes++).value());
    graph_.add_edge(vertex, first + lane.group, hash_of(Mark::GroupOfLane).value());
  }
  return groups;
}

/// Of a rank the lanes of a channel have an order, by which the executor decides ties; where lanes wait
/// for lanes of other channels, all of them. Else channels may change places: what one does on a rank,
/// another may do on the next, as with the two trees of a pair.
void FoldGraph::add_order_of_lanes(const FoldJob& job) {
  std::unordered_map<std::uint32_t, std::uint32_t> lanes_of_channel;
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    lanes_of_channel.clear();
    for (std::uint32_t lane = 0; lane < job.lanes(rank); ++lane) {
      const std::uint32_t place =
          across_channels_ ? lane : lanes_of_channel[job.program->lane(Rank(rank), lane).channel]++;
      graph_.add_edge(job.first_rank + rank, job.first_lane[rank] + lane,
                      hash_of(Mark::LaneOfRank).add(place).value());
    }
  }
}

/// Throws: NotFolded where the program makes no sense, which the run will say.
FoldGraph::Vertex FoldGraph::peer_of(const FoldJob& job, const LaneOnGpus& at,
                                     std::uint32_t slot) const {
  const Connection to = job.program->send_to(at.rank, at.lane, slot);
  const bool exists = to.peer.value() < job.ranks() && to.lane < job.lanes(to.peer.value());
  if (!exists || to.peer == at.rank ||
      job.program->receive_from(to.peer, to.lane, to.slot) != Connection{at.rank, at.lane, slot}) {
    throw NotFolded{"connections do not fit together"};
  }
  return job.first_lane[to.peer.index()] + to.lane;
}

void FoldGraph::add_slot(const FoldJob& job, const LaneOnGpus& at, Vertex vertex,
                         std::uint32_t slot) {
  const Vertex peer = peer_of(job, at, slot);
  const std::uint32_t peer_slot = job.program->send_to(at.rank, at.lane, slot).slot;
  const WireProtocol protocol = charged_protocol(job.program->lane(at.rank, at.lane));
  const ConnectionRoute path = connection_route(at, slot, protocol);
  if (path.host && options_->costs->rate(CostItem::HostRate)) {
    throw NotFolded{"messages go through the memory of hosts, which connections share one by one"};
  }
  SequenceHash label = hash_of(Mark::Send).add(slot).add(peer_slot);
  label.add(static_cast<std::uint64_t>(path.kind));
  for (const Duration latency : path.latency_by_level) {
    label.add(bits(latency));
  }
  graph_.add_edge(vertex, peer, label.value());
  graph_.add_edge(peer, vertex, hash_of(Mark::Receive).add(peer_slot).add(slot).value());
  add_path(vertex, path.route, hash_of(Mark::Path).add(slot).value());
  if (protocol != WireProtocol::None && path.kind == PathKind::Network) {
    add_crossing(vertex, vertex_of_proxy(path.sender), hash_of(Mark::Proxy).add(slot).value());
  }
  check_size(0);
}

/// Throws: NotFolded if there are too many edges, with so many to come.
void FoldGraph::check_size(std::size_t to_come) const {
  if (graph_.edges() + to_come > options_->most_compared) {
    throw NotFolded{
        "there are more connections than can be compared all with all, and no shift of the "
        "ranks leaves them as they are",
        {},
        true};
  }
}

void FoldGraph::add_path(Vertex lane, const Route& route, std::uint64_t use) {
  const bool sprayed = is_sprayed(route);
  for (std::size_t i = 0; i < route.hops.size(); ++i) {
    const RouteHop& hop = route.hops[i];
    // The hops of a route over several paths have no order but that of their numbers.
    const std::uint64_t label = SequenceHash()
                                    .add(use)
                                    .add(sprayed ? 0 : i)
                                    .add(hop.share_numerator)
                                    .add(hop.share_denominator)
                                    .value();
    add_crossing(lane, vertex_of(hop.link), label);
  }
}

/// A lane's messages cross a thing, which looks different by that, and so does the lane.
void FoldGraph::add_crossing(Vertex lane, Vertex thing, std::uint64_t label) {
  graph_.add_edge(lane, thing, label);
  graph_.add_edge(thing, lane, label);
}

FoldGraph::Vertex FoldGraph::vertex_of(LinkId link) {
  Vertex& vertex = things_[link.index()];
  if (vertex == no_index) {
    const Link& its = cluster_->graph().link(link);
    vertex = graph_.add_vertex(hash_of(Mark::Link)
                                   .add(static_cast<std::uint64_t>(its.bandwidth.units()))
                                   .add(bits(its.latency))
                                   .add(static_cast<std::uint64_t>(its.kind))
                                   .add(its.level.value())
                                   .value());
  }
  return vertex;
}

FoldGraph::Vertex FoldGraph::vertex_of_proxy(DeviceId gpu) {
  Vertex& vertex = things_[cluster_->graph().links().size() + gpu.index()];
  if (vertex == no_index) {
    vertex = graph_.add_vertex(hash_of(Mark::Proxy).value());
  }
  return vertex;
}

}  // namespace collsim::detail
