// Closed forms of the algorithms in rounds: recursive doubling, halving-doubling, Bruck.
//
// With n = 2^k + r ranks, each of the first r of 2^k participants speaks for one extra rank too,
// which sends it what it has at the start and gets what it needs at the end. For r = 0 all ranks are
// alike and the clocks below add up the textbook's formulas:
//   recursive doubling   all_reduce k·(alpha + S·beta), all_gather k·alpha + (n-1)·B·beta
//   halving-doubling     all_reduce 2·(k·alpha + (n-1)/n·S·beta)
// For r > 0 participants are out of step; the time is the maximum over all ranks.

#include "algorithms/closed_form_terms.hpp"

namespace collsim::detail {

namespace {

/// Participants 0 … 2^k - 1; the extra rank of participant v is number 2^k + v.
class Participants {
 public:
  explicit Participants(std::uint32_t ranks)
      : count_(std::bit_floor(ranks)), extra_(ranks - count_) {}

  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Ranks that participants [first, first + count) speak for.
  [[nodiscard]] std::int64_t ranks_of(std::uint32_t first, std::uint32_t count) const {
    return count + std::clamp<std::int64_t>(std::int64_t{extra_} - first, 0, count);
  }

  void extras_send(RoundClock& clock, Bytes bytes) const {
    for (std::uint32_t v = 0; v < extra_; ++v) {
      clock.message(count_ + v, v, bytes);
    }
  }
  void extras_receive(RoundClock& clock, Bytes bytes) const {
    for (std::uint32_t v = 0; v < extra_; ++v) {
      clock.message(v, count_ + v, bytes);
    }
  }
  /// All pairs at this distance exchange data; `sent(v)`: what participant v sends.
  template <class Sent>
  void exchange(RoundClock& clock, std::uint32_t distance, const Sent& sent) const {
    for (std::uint32_t v = 0; v < count_; ++v) {
      const std::uint32_t partner = v ^ distance;
      if (v < partner) {
        clock.exchange(v, partner, sent(v), sent(partner));
      }
    }
  }
  /// Over distances 1, 2, 4, …: all that the sender's group has, `group(first, size)`.
  template <class Group>
  void doubling(RoundClock& clock, const Group& group) const {
    for (std::uint32_t distance = 1; distance < count_; distance *= 2) {
      exchange(clock, distance,
               [&](std::uint32_t v) { return group(v / distance * distance, distance); });
    }
  }
  /// Over distances …, 2, 1: what the partner's group is to have.
  template <class Group>
  void halving(RoundClock& clock, const Group& group) const {
    for (std::uint32_t distance = count_ / 2; distance > 0; distance /= 2) {
      exchange(clock, distance, [&](std::uint32_t v) {
        return group((v ^ distance) / distance * distance, distance);
      });
    }
  }

 private:
  std::uint32_t count_;
  std::uint32_t extra_;
};

}  // namespace

Duration recursive_doubling_all_reduce(const Terms& terms, const CollectiveCall& call) {
  // Of all chains of messages that pass on what an extra rank has sent, the latest either reaches
  // the farthest participant with every message, or ends at an extra rank too: with as many
  // latencies as the numbers of two participants that have one can differ in bits, since staying
  // with a participant costs the time of its send only.
  const auto rounds = static_cast<std::int64_t>(std::bit_width(call.ranks) - 1);
  const std::uint32_t extra = call.ranks - std::bit_floor(call.ranks);
  if (extra == 0) {
    return times(rounds, terms.message(call.size()));
  }
  const auto bits = static_cast<std::int64_t>(std::bit_width(extra - 1));
  return std::max(
      times(rounds + 1, terms.message(call.size())),
      checked_add(times(2 + bits, terms.latency()), times(rounds + 2, terms.wire(call.size()))));
}

Duration recursive_doubling_all_gather(const Terms& terms, const CollectiveCall& call) {
  const Participants participants(call.ranks);
  RoundClock clock(terms, call.ranks);
  participants.extras_send(clock, call.block());
  participants.doubling(clock, [&](std::uint32_t first, std::uint32_t count) {
    return participants.ranks_of(first, count) * call.block();
  });
  participants.extras_receive(clock, call.size());
  return clock.last();
}

Duration halving_doubling_all_gather(const Terms& terms, const CollectiveCall& call) {
  return recursive_doubling_all_gather(terms, call);
}

Duration halving_doubling_reduce_scatter(const Terms& terms, const CollectiveCall& call) {
  const Participants participants(call.ranks);
  RoundClock clock(terms, call.ranks);
  participants.extras_send(clock, call.size());
  participants.halving(clock, [&](std::uint32_t first, std::uint32_t count) {
    return participants.ranks_of(first, count) * call.block();
  });
  participants.extras_receive(clock, call.block());
  return clock.last();
}

Duration halving_doubling_all_reduce(const Terms& terms, const CollectiveCall& call) {
  const Participants participants(call.ranks);
  const EvenBlocks blocks(call, participants.count());
  const auto group = [&](std::uint32_t first, std::uint32_t count) {
    return blocks.bytes(first, count);
  };
  RoundClock clock(terms, call.ranks);
  participants.extras_send(clock, call.size());
  participants.halving(clock, group);
  participants.doubling(clock, group);
  participants.extras_receive(clock, call.size());
  return clock.last();
}

Duration bruck_all_gather(const Terms& terms, const CollectiveCall& call) {
  // A round doubles what everyone has, the last one up to n blocks.
  Duration time{};
  for (std::int64_t have = 1; have < call.ranks; have *= 2) {
    const std::int64_t sent = std::min<std::int64_t>(have, call.ranks - have);
    time = checked_add(time, terms.message(sent * call.block()));
  }
  return time;
}

Duration bruck_all_to_all(const Terms& terms, const CollectiveCall& call) {
  // In the round of a bit, the blocks move whose distance to go has that bit.
  Duration time{};
  for (std::uint64_t bit = 1; bit < call.ranks; bit *= 2) {
    std::int64_t moving = 0;
    for (std::uint64_t distance = 1; distance < call.ranks; ++distance) {
      moving += (distance & bit) != 0 ? 1 : 0;
    }
    time = checked_add(time, terms.message(moving * call.block()));
  }
  return time;
}

}  // namespace collsim::detail
