#include "sim/fold_shift.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/memory_parts.hpp"
#include "sim/messages.hpp"
#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// So many steps may be walked, of programs that do not say what their lanes do.
constexpr std::uint64_t most_steps = std::uint64_t{1} << 22U;

/// So many lanes and connections of those that stand for all are kept in memory.
constexpr std::uint32_t most_kept = std::uint32_t{1} << 20U;

/// A one-to-one map that becomes known one by one.
class PartialMap {
 public:
  explicit PartialMap(std::size_t size) : image_(size, no_index), origin_(size, no_index) {}

  /// Whether `to` may be the image of `from`, which it then is.
  [[nodiscard]] bool set(std::uint32_t from, std::uint32_t to) {
    if (image_[from] == no_index && origin_[to] == no_index) {
      image_[from] = to;
      origin_[to] = from;
    }
    return image_[from] == to && origin_[to] == from;
  }
  [[nodiscard]] bool knows(std::uint32_t from, std::uint32_t to) const {
    return image_[from] == to;
  }
  /// no_index: none.
  [[nodiscard]] std::uint32_t operator[](std::uint32_t from) const { return image_[from]; }

 private:
  std::vector<std::uint32_t> image_;
  std::vector<std::uint32_t> origin_;
};

bool are_alike(const Link& a, const Link& b) {
  return a.bandwidth == b.bandwidth && a.latency == b.latency && a.kind == b.kind &&
         a.level == b.level;
}

/// What of a lane is the same for all in a class, but for its slots.
struct LaneLook {
  Lane lane;
  std::uint64_t steps = 0;
  LaneShape shape;
};

/// The check of one shift.
class ShiftCheck {
 public:
  ShiftCheck(const Cluster& cluster, const RunOptions& options, const FoldJob& job,
             std::uint32_t shift)
      : cluster_(&cluster),
        options_(&options),
        job_(&job),
        shift_(shift),
        legs_(cluster.graph().gpus().size()),
        things_(cluster.graph().links().size() + cluster.graph().devices().size()) {}

  /// Whether a few connections far apart look as if the shift might do.
  [[nodiscard]] bool seems_fit();
  /// Whether it does.
  [[nodiscard]] bool fits();

  /// The program and links of its orbits. Requires: fits().
  [[nodiscard]] ShiftFold orbits() const;

 private:
  /// What of a connection's route does not follow from its links.
  struct Path {
    Route route;
    std::vector<Duration> latency_by_level;  ///< of a single path none: it follows from the links
    DeviceId sender;
    bool through_host = false;
    bool through_proxy = false;
  };

  [[nodiscard]] std::uint32_t ranks() const { return job_->ranks(); }
  [[nodiscard]] std::uint32_t image(std::uint32_t rank) const {
    return (rank + shift_) % job_->ranks();
  }
  [[nodiscard]] LaneOnGpus at(std::uint32_t rank, std::uint32_t lane) {
    return {cluster_, job_->program.get(), job_->communicator.get(), Rank(rank), lane, &legs_};
  }
  [[nodiscard]] WireProtocol charged_protocol(const Lane& lane) const {
    return options_->costs != nullptr ? lane.protocol : WireProtocol::None;
  }
  /// Of each of a rank's lanes.
  [[nodiscard]] Bandwidth memory(std::uint32_t rank) const {
    return options_->costs == nullptr ? Bandwidth{}
                                      : memory_part(*cluster_, *options_->costs, *job_->program,
                                                    Rank(rank), (*job_->communicator)[rank]);
  }
  [[nodiscard]] std::optional<LaneLook> look(std::uint32_t rank, std::uint32_t lane);
  [[nodiscard]] bool lanes_fit();
  [[nodiscard]] bool lane_fits(std::uint32_t rank, std::uint32_t lane, const LaneLook& first);
  template <class Visit>
  [[nodiscard]] bool for_each_slot(Visit visit) const;
  [[nodiscard]] bool ends_fit(std::uint32_t rank, std::uint32_t lane, std::uint32_t slot) const;
  [[nodiscard]] Path path(std::uint32_t rank, std::uint32_t lane, std::uint32_t slot);
  [[nodiscard]] bool paths_fit(const Path& from, const Path& to);
  [[nodiscard]] bool hops_fit(std::span<const RouteHop> from, std::span<const RouteHop> to);
  [[nodiscard]] std::uint32_t proxy(DeviceId gpu) const {
    return static_cast<std::uint32_t>(cluster_->graph().links().size()) + gpu.value();
  }

  const Cluster* cluster_;
  const RunOptions* options_;
  const FoldJob* job_;
  std::uint32_t shift_;
  LegMemory legs_;
  PartialMap things_;  ///< links and, behind them, the proxies of GPUs
  StepBudget budget_{most_steps};
  /// By rank below the shift, by lane.
  std::vector<std::vector<LaneLook>> looks_;
};

/// Absent: what is to be walked is too long.
std::optional<LaneLook> ShiftCheck::look(std::uint32_t rank, std::uint32_t lane) {
  const Program& program = *job_->program;
  auto shape = shape_of(program, Rank(rank), lane, options_->costs != nullptr, budget_);
  if (!shape) {
    return std::nullopt;
  }
  return LaneLook{program.lane(Rank(rank), lane), program.step_count(Rank(rank), lane),
                  std::move(*shape)};
}

bool ShiftCheck::seems_fit() {
  constexpr std::uint32_t samples = 64;
  std::uint64_t random = shift_;
  for (std::uint32_t i = 0; i < samples; ++i) {
    random = mixed(random);
    const auto rank = static_cast<std::uint32_t>(random % ranks());
    const std::uint32_t lanes = job_->lanes(rank);
    if (job_->lanes(image(rank)) != lanes) {
      return false;
    }
    if (lanes == 0) {
      continue;
    }
    const auto lane = static_cast<std::uint32_t>((random >> 32U) % lanes);
    const std::optional<LaneLook> its = look(rank, lane);
    if (!its || !lane_fits(image(rank), lane, *its)) {
      return false;
    }
    if (its->shape.send_slots.empty()) {
      continue;
    }
    random = mixed(random);
    const std::uint32_t slot = its->shape.send_slots[random % its->shape.send_slots.size()];
    if (!ends_fit(rank, lane, slot) ||
        !paths_fit(path(rank, lane, slot), path(image(rank), lane, slot))) {
      return false;
    }
  }
  return true;
}

bool ShiftCheck::lane_fits(std::uint32_t rank, std::uint32_t lane, const LaneLook& first) {
  const std::optional<LaneLook> its = look(rank, lane);
  if (!its) {
    return false;
  }
  const Lane& a = first.lane;
  const Lane& b = its->lane;
  return its->steps == first.steps && its->shape.hash == first.shape.hash &&
         its->shape.send_slots == first.shape.send_slots &&
         its->shape.awaited == first.shape.awaited && its->shape.joined == first.shape.joined &&
         a.channel == b.channel && a.group == b.group && a.fifo_depth == b.fifo_depth &&
         a.protocol == b.protocol && a.kernel == b.kernel && a.threads == b.threads &&
         a.multiplicity == b.multiplicity;
}

bool ShiftCheck::lanes_fit() {
  for (std::uint32_t rank = 0; rank < shift_; ++rank) {
    std::vector<LaneLook>& looks = looks_.emplace_back();
    for (std::uint32_t lane = 0; lane < job_->lanes(rank); ++lane) {
      std::optional<LaneLook> its = look(rank, lane);
      if (!its || !its->shape.switches.empty()) {
        return false;
      }
      looks.push_back(std::move(*its));
    }
    const Bandwidth its_memory = memory(rank);
    for (std::uint32_t other = rank + shift_; other < ranks(); other += shift_) {
      if (job_->lanes(other) != job_->lanes(rank) ||
          job_->program->peers(Rank(other)) != job_->program->peers(Rank(rank)) ||
          memory(other) != its_memory) {
        return false;
      }
      for (std::uint32_t lane = 0; lane < looks.size(); ++lane) {
        if (!lane_fits(other, lane, looks[lane])) {
          return false;
        }
      }
    }
  }
  return true;
}

/// Of the ranks below the shift. Whether all calls said yes.
template <class Visit>
bool ShiftCheck::for_each_slot(Visit visit) const {
  for (std::uint32_t rank = 0; rank < shift_; ++rank) {
    for (std::uint32_t lane = 0; lane < looks_[rank].size(); ++lane) {
      for (const std::uint32_t slot : looks_[rank][lane].shape.send_slots) {
        if (!visit(rank, lane, slot)) {
          return false;
        }
      }
    }
  }
  return true;
}

/// The paths of `shift` neighbouring ranks are compared with those of the next ones, until they come round: these
/// ranks have most of the parts of their paths in common.
bool ShiftCheck::fits() {
  if (!lanes_fit()) {
    return false;
  }
  std::vector<Path> before;
  const bool begun = for_each_slot([&](std::uint32_t rank, std::uint32_t lane, std::uint32_t slot) {
    before.push_back(path(rank, lane, slot));
    const bool shares_host =
        before.back().through_host && options_->costs->rate(CostItem::HostRate).has_value();
    return !shares_host && before.size() <= most_kept;
  });
  for (std::uint32_t moved = shift_; begun && moved <= ranks(); moved += shift_) {
    auto from = before.begin();
    const bool fit = for_each_slot([&](std::uint32_t rank, std::uint32_t lane, std::uint32_t slot) {
      Path to = path((rank + moved) % ranks(), lane, slot);
      const bool its = ends_fit(rank + moved - shift_, lane, slot) && paths_fit(*from, to);
      *from++ = std::move(to);
      return its;
    });
    if (!fit) {
      return false;
    }
  }
  return begun;
}

/// Whether the slot's other end is mapped to that of its image. Throws: NotFolded where the program makes no
/// sense, which the run will say.
bool ShiftCheck::ends_fit(std::uint32_t rank, std::uint32_t lane, std::uint32_t slot) const {
  const Program& program = *job_->program;
  const Connection to = program.send_to(Rank(rank), lane, slot);
  const bool exists = to.peer.value() < ranks() && to.lane < job_->lanes(to.peer.value());
  if (!exists || to.peer.value() == rank ||
      program.receive_from(to.peer, to.lane, to.slot) != Connection{Rank(rank), lane, slot}) {
    throw NotFolded{"connections do not fit together"};
  }
  const Connection of_image = program.send_to(Rank(image(rank)), lane, slot);
  return of_image == Connection{Rank(image(to.peer.value())), to.lane, to.slot};
}

ShiftCheck::Path ShiftCheck::path(std::uint32_t rank, std::uint32_t lane, std::uint32_t slot) {
  const Program& program = *job_->program;
  if (options_->costs == nullptr && program.waypoints(Rank(rank), lane, slot) == Waypoints{}) {
    // There is no proxy, and what the path is like follows from its links.
    const Communicator& gpus = *job_->communicator;
    const DeviceId from = gpus[rank];
    const DeviceId to = gpus[program.send_to(Rank(rank), lane, slot).peer.index()];
    const std::uint32_t channel = program.lane(Rank(rank), lane).channel;
    Route route = cluster_->router().route(from, to, channel, &legs_);
    if (!is_sprayed(route)) {
      return {std::move(route), {}, from, false, false};
    }
  }
  const WireProtocol protocol = charged_protocol(program.lane(Rank(rank), lane));
  ConnectionRoute found = connection_route(at(rank, lane), slot, protocol);
  const bool through_proxy = protocol != WireProtocol::None && found.kind == PathKind::Network;
  return {std::move(found.route), std::move(found.latency_by_level), found.sender,
          found.host.has_value(), through_proxy};
}

bool ShiftCheck::paths_fit(const Path& from, const Path& to) {
  return from.through_host == to.through_host && from.through_proxy == to.through_proxy &&
         from.route.latency == to.route.latency && from.latency_by_level == to.latency_by_level &&
         hops_fit(from.route.hops, to.route.hops) &&
         (!from.through_proxy || things_.set(proxy(from.sender), proxy(to.sender)));
}

bool ShiftCheck::hops_fit(std::span<const RouteHop> from, std::span<const RouteHop> to) {
  if (from.size() != to.size()) {
    return false;
  }
  const Graph& graph = cluster_->graph();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].share_numerator != to[i].share_numerator ||
        from[i].share_denominator != to[i].share_denominator) {
      return false;
    }
    if (things_.knows(from[i].link.value(), to[i].link.value())) {
      continue;
    }
    if (!are_alike(graph.link(from[i].link), graph.link(to[i].link)) ||
        !things_.set(from[i].link.value(), to[i].link.value())) {
      return false;
    }
  }
  return true;
}

ShiftFold ShiftCheck::orbits() const {
  COLLSIM_ENSURE(shift_ > 0, "a shift by no rank");
  std::vector<RankClass> classes;
  for (std::uint32_t rank = 0; rank < shift_; ++rank) {
    RankClass ranks_alike;
    ranks_alike.first = Rank(rank);
    for (std::uint32_t lane = 0; lane < looks_[rank].size(); ++lane) {
      ranks_alike.lanes.push_back({Rank(rank), lane, ranks() / shift_});
    }
    classes.push_back(std::move(ranks_alike));
  }
  RankFolding folding;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    std::vector<std::uint32_t> order(looks_[rank % shift_].size());
    std::iota(order.begin(), order.end(), 0U);
    folding.add(Rank(rank % shift_), std::move(order));
  }
  const Graph& graph = cluster_->graph();
  const std::size_t things = graph.links().size() + graph.devices().size();
  std::vector<std::uint32_t> orbit(things, no_index);
  LinkClasses links(graph.links().size(), graph.devices().size());
  std::uint32_t orbits = 0;
  for (std::uint32_t thing = 0; thing < things; ++thing) {
    if (things_[thing] == no_index) {
      continue;
    }
    if (orbit[thing] == no_index) {
      for (std::uint32_t next = thing; orbit[next] == no_index; next = things_[next]) {
        orbit[next] = orbits;
      }
      ++orbits;
    }
    links.add(thing, orbit[thing]);
  }
  return {std::make_shared<FoldedProgram>(job_->program, job_->communicator, std::move(classes),
                                          std::move(folding)),
          std::move(links)};
}

}  // namespace

std::optional<ShiftFold> fold_by_shift(const Cluster& cluster, const RunOptions& options,
                                       FoldJob& job) {
  job.first_lane.assign(1, 0);
  std::uint64_t lanes = 0;
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) {
    lanes += job.program->lane_count(Rank(rank));
    if (lanes >= no_index) {
      throw NotFolded{"there are more lanes than can be compared"};
    }
    job.first_lane.push_back(static_cast<std::uint32_t>(lanes));
  }
  for (std::uint32_t shift = 1; shift <= job.ranks() / 2; ++shift) {
    if (job.ranks() % shift != 0) {
      continue;
    }
    if (job.first_lane[shift] > most_kept) {
      break;
    }
    if (!ShiftCheck(cluster, options, job, shift).seems_fit()) {
      continue;
    }
    ShiftCheck check(cluster, options, job, shift);
    if (check.fits()) {
      return check.orbits();
    }
  }
  return std::nullopt;
}

}  // namespace collsim::detail
