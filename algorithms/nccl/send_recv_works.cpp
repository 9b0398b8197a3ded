#include "algorithms/nccl/send_recv_works.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t works_per_batch = 8;
constexpr std::uint32_t warp = 32;
constexpr std::uint32_t block_warps = 20;
// A Simple send of so many warps leaves one of them to fence and to post flags.
constexpr std::uint32_t warps_with_poster = 3;

/// What a channel does in a round.
struct ChannelRound {
  std::uint32_t round = 0;
  std::uint32_t part = 0;
  bool sends = false;
  bool receives = false;
};

using ChannelRounds = std::vector<std::vector<ChannelRound>>;  // by channel

/// How many warps the send and the receive of a work get where so many share a block.
struct WarpShares {
  std::uint32_t send;
  std::uint32_t receive;
};

WarpShares warp_shares(std::uint32_t works) {
  const std::uint32_t each = block_warps / works;
  if (each <= 4) {
    return {each / 2, each / 2};
  }
  const std::uint32_t receive = (each - 1) / 2;
  return {receive + 1, receive};
}

std::uint32_t working_threads(WorkKind kind, Protocol protocol, std::uint32_t warps) {
  const bool posts =
      kind == WorkKind::Send && protocol == Protocol::Simple && warps >= warps_with_poster;
  return (posts ? warps - 1 : warps) * warp;
}

auto key_of(const WorkPlace& place) { return std::tuple(place.round, place.part); }

ChannelRounds channel_rounds(const SendRecvPlan& plan, Rank rank) {
  ChannelRounds channels(plan.channels);
  for (const RoundWork& work : rounds_of(plan, rank)) {
    const SendRecvShape& out = plan.shape(rank, plan.schedule.send_to(rank, work.round));
    const SendRecvShape& in = plan.shape(rank, plan.schedule.receive_from(rank, work.round));
    const auto sends = work.sends ? static_cast<std::uint32_t>(out.parts) : 0U;
    const auto receives = work.receives ? static_cast<std::uint32_t>(in.parts) : 0U;
    for (std::uint32_t part = 0; part < std::max(sends, receives); ++part) {
      channels[plan.channel(work.round, part)].push_back(
          {work.round, part, part < sends, part < receives});
    }
  }
  return channels;
}

/// Makes the lanes of one rank, channel by channel.
class LaneMaker {
 public:
  LaneMaker(const SendRecvPlan& plan, Rank rank) : plan_(plan), rank_(rank) {}

  void add_channel(std::uint32_t channel, const std::vector<ChannelRound>& rounds) {
    const std::size_t first_lane = works_.lanes.size();
    batch_ = 0;
    for (std::size_t first = 0; first < rounds.size(); ++batch_) {
      const std::size_t count = batch_size(rounds, first);
      const WarpShares shares = warp_shares(static_cast<std::uint32_t>(count));
      for (place_ = 0; place_ < count; ++place_) {
        add_work(channel, first_lane, rounds[first + place_], shares);
      }
      first += count;
    }
  }

  RankWorks finish() {
    std::ranges::sort(works_.sends, {}, key_of);
    std::ranges::sort(works_.receives, {}, key_of);
    return std::move(works_);
  }

 private:
  [[nodiscard]] std::size_t batch_size(const std::vector<ChannelRound>& rounds,
                                       std::size_t first) const {
    const std::size_t most = std::min<std::size_t>(works_per_batch, rounds.size() - first);
    std::size_t count = 1;
    while (count < most && (plan_.batches == SendRecvBatches::AnyRounds ||
                            rounds[first + count].round / works_per_batch ==
                                rounds[first].round / works_per_batch)) {
      ++count;
    }
    return count;
  }

  void add_work(std::uint32_t channel, std::size_t first_lane, const ChannelRound& round,
                WarpShares shares) {
    const std::uint32_t all = shares.send + shares.receive;
    const Rank receiver = plan_.schedule.send_to(rank_, round.round);
    const Rank sender = plan_.schedule.receive_from(rank_, round.round);
    const auto add = [&](WorkKind kind, Rank peer, std::uint32_t warps) {
      const SendRecvShape& shape = plan_.shape(rank_, peer);
      WorkLane lane;
      lane.kind = kind;
      lane.protocol = kind == WorkKind::Copy ? Protocol::Simple : shape.protocol;
      lane.channel = channel;
      lane.place = place_;
      lane.threads = working_threads(kind, lane.protocol, warps);
      append(lane_like(lane, first_lane), round,
             kind == WorkKind::Copy ? 1 : plan_.part_chunks(shape, round.part));
    };
    if (receiver == rank_) {
      add(WorkKind::Copy, rank_, all);
      return;
    }
    if (round.sends) {
      add(WorkKind::Send, receiver, round.receives ? shares.send : all);
    }
    if (round.receives) {
      add(WorkKind::Receive, sender, round.sends ? shares.receive : all);
    }
  }

  /// The number of the channel's lane of that sort; a new one if there is none.
  std::size_t lane_like(const WorkLane& wanted, std::size_t first_lane) {
    const auto sort = [](const WorkLane& lane) {
      return std::tuple(lane.kind, lane.protocol, lane.place, lane.threads);
    };
    for (std::size_t i = first_lane; i < works_.lanes.size(); ++i) {
      if (sort(works_.lanes[i]) == sort(wanted)) {
        return i;
      }
    }
    works_.lanes.push_back(wanted);
    return works_.lanes.size() - 1;
  }

  void append(std::size_t number, const ChannelRound& round, std::uint64_t steps) {
    WorkLane& lane = works_.lanes[number];
    const WorkPlace place{round.round, round.part, static_cast<std::uint32_t>(number),
                          static_cast<std::uint32_t>(lane.works.size())};
    if (lane.kind == WorkKind::Send) {
      works_.sends.push_back(place);
    } else if (lane.kind == WorkKind::Receive) {
      works_.receives.push_back(place);
    }
    lane.works.push_back({round.round, round.part, batch_, lane.steps});
    lane.steps += steps;
  }

  const SendRecvPlan& plan_;
  Rank rank_;
  RankWorks works_{};
  std::uint32_t place_{0};  ///< of the work at hand
  std::uint32_t batch_{0};
};

/// By channel: how many channels it stands for. Those with the same rounds, part sizes and transports on
/// all ranks are equal; the first stands for the others, which get 0, as idle ones do.
std::vector<std::uint32_t> multiplicities(const SendRecvPlan& plan, const std::vector<Rank>& ranks,
                                          EqualChannels equal) {
  using Signature = std::vector<std::int64_t>;
  std::vector<Signature> signatures(plan.channels);
  for (const Rank rank : ranks) {
    const ChannelRounds rounds = channel_rounds(plan, rank);
    for (std::uint32_t channel = 0; channel < plan.channels; ++channel) {
      for (const ChannelRound& round : rounds[channel]) {
        const SendRecvShape& out = plan.shape(rank, plan.schedule.send_to(rank, round.round));
        const SendRecvShape& in = plan.shape(rank, plan.schedule.receive_from(rank, round.round));
        const auto bytes = [&](bool present, const SendRecvShape& shape) {
          return present ? plan.part_bytes(shape, round.part).count() : -1;
        };
        signatures[channel].insert(
            signatures[channel].end(),
            {rank.value(), round.round, bytes(round.sends, out), bytes(round.receives, in)});
      }
    }
  }

  std::vector<std::uint32_t> result(plan.channels);
  std::map<Signature, std::uint32_t> first;
  for (std::uint32_t channel = 0; channel < plan.channels; ++channel) {
    if (signatures[channel].empty()) {
      continue;
    }
    if (!plan.transports.empty()) {
      signatures[channel].push_back(static_cast<std::int64_t>(plan.transports[channel]));
    }
    const std::uint32_t stands_for_it =
        equal == EqualChannels::Joined
            ? first.try_emplace(std::move(signatures[channel]), channel).first->second
            : channel;
    ++result[stands_for_it];
  }
  return result;
}

}  // namespace

SendRecvWorks::SendRecvWorks(const SendRecvPlan& plan, EqualChannels equal)
    : ranks_(plan.call.ranks) {
  std::uint32_t kinds = plan.call.ranks;
  if (plan.call.kind == CollectiveKind::AllToAll) {
    // Which peers are of the own node depends on the group's place in the node alone.
    ranks_per_kind_ = plan.schedule.group_size();
    kinds = plan.local == plan.remote ? 1 : plan.ranks_per_node / ranks_per_kind_;
  }
  std::vector<Rank> ranks;
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    ranks.emplace_back(kind * ranks_per_kind_);
  }

  multiplicity_ = multiplicities(plan, ranks, equal);
  for (const Rank rank : ranks) {
    const ChannelRounds rounds = channel_rounds(plan, rank);
    LaneMaker maker(plan, rank);
    for (std::uint32_t channel = 0; channel < plan.channels; ++channel) {
      if (multiplicity_[channel] > 0) {
        maker.add_channel(channel, rounds[channel]);
      }
    }
    works_.push_back(maker.finish());
    std::uint64_t sent = 0;
    for (const WorkLane& lane : works_.back().lanes) {
      sent += lane.kind == WorkKind::Send ? lane.steps : 0;
    }
    messages_ += sent * (ranks_ / kinds);
  }
}

std::size_t SendRecvWorks::kind_of(Rank rank) const {
  return rank.value() / ranks_per_kind_ % works_.size();
}

const WorkPlace& SendRecvWorks::place(Rank rank, WorkKind kind, std::uint32_t round,
                                      std::uint32_t part) const {
  const RankWorks& works = of(rank);
  const std::vector<WorkPlace>& places = kind == WorkKind::Send ? works.sends : works.receives;
  const auto found = std::ranges::lower_bound(places, std::tuple(round, part), {}, key_of);
  COLLSIM_ENSURE(found != places.end() && key_of(*found) == std::tuple(round, part),
                 "a part that the other end does not know");
  return *found;
}

std::uint32_t SendRecvWorks::channels() const {
  return std::accumulate(multiplicity_.begin(), multiplicity_.end(), 0U);
}

}  // namespace collsim::nccl
