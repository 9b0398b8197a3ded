#pragma once

// What the closed forms are written in: messages of alpha + bytes·beta, blocks as equal as elements
// allow, and clocks for algorithms in rounds. Private to closed_form*.cpp.
//
// Nothing here knows steps, lanes or events: a closed form must not share code with what it checks.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/closed_forms.hpp"
#include "algorithms/collective.hpp"
#include "topology/units.hpp"

namespace collsim::detail {

/// Who shares a GPU's link when it exchanges data with all its peers at once.
enum class Sharing : std::uint8_t {
  None,   ///< mesh: a link for every pair
  Peers,  ///< star: all peers of the GPU, fairly
};

/// A uniform machine and the ranks on it, as formulas see them.
class Terms {
 public:
  Terms(const UniformMachine& machine, std::uint32_t ranks, Sharing sharing)
      : machine_(machine), ranks_(ranks), sharing_(sharing) {}

  /// bytes·beta: how long a message keeps its sender.
  [[nodiscard]] Duration wire(Bytes bytes) const {
    return transfer_time(bytes, Rate(machine_.bandwidth));
  }
  /// alpha + bytes·beta: from the start of the send until the message has arrived.
  [[nodiscard]] Duration message(Bytes bytes) const {
    return checked_add(wire(bytes), machine_.latency);
  }
  /// The same where a rank sends (or receives) one such message to each of its peers at once.
  [[nodiscard]] Duration to_all_peers(Bytes bytes) const {
    const std::int64_t sharers = sharing_ == Sharing::Peers ? ranks_ - 1 : 1;
    const Rate rate(machine_.bandwidth.units(), sharers);
    return checked_add(transfer_time(bytes, rate), machine_.latency);
  }
  [[nodiscard]] Duration latency() const { return machine_.latency; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

 private:
  UniformMachine machine_;
  std::uint32_t ranks_;
  Sharing sharing_;
};

/// `count` elements in `blocks` blocks as equal as possible, the first ones larger.
class EvenBlocks {
 public:
  EvenBlocks(const CollectiveCall& call, std::uint32_t blocks)
      : element_(size_of(call.type)),
        quotient_(call.count / blocks),
        larger_(call.count % blocks) {}

  /// Bytes of blocks [first, first + count).
  [[nodiscard]] Bytes bytes(std::int64_t first, std::int64_t count = 1) const {
    const std::int64_t larger = std::clamp<std::int64_t>(larger_ - first, 0, count);
    return (count * quotient_ + larger) * element_;
  }
  [[nodiscard]] Bytes largest() const { return bytes(0); }

 private:
  Bytes element_;
  std::int64_t quotient_;
  std::int64_t larger_;
};

/// factor · duration; throws std::overflow_error instead of wrapping.
[[nodiscard]] Duration times(std::int64_t factor, Duration duration);

/// Sizes of the subtrees below the root of a binomial tree of `size` ranks (the one cut out of the
/// next power of two), largest first: rank v has the children v + 2^k for 2^k below v's lowest bit.
[[nodiscard]] std::vector<std::uint32_t> binomial_subtrees(std::uint32_t size);

/// When each rank is free for its next message: algorithms in rounds, where a rank sends, then waits
/// for what it receives in that round.
class RoundClock {
 public:
  RoundClock(const Terms& terms, std::uint32_t ranks) : terms_(&terms), ready_(ranks) {}

  /// A message one way: keeps the sender until it has left, the receiver until it is there.
  void message(std::uint32_t from, std::uint32_t to, Bytes bytes) {
    ready_[from] = checked_add(ready_[from], terms_->wire(bytes));
    ready_[to] = std::max(ready_[to], checked_add(ready_[from], terms_->latency()));
  }
  /// Messages both ways at once.
  void exchange(std::uint32_t a, std::uint32_t b, Bytes a_sends, Bytes b_sends) {
    const Duration a_left = checked_add(ready_[a], terms_->wire(a_sends));
    const Duration b_left = checked_add(ready_[b], terms_->wire(b_sends));
    ready_[a] = std::max(a_left, checked_add(b_left, terms_->latency()));
    ready_[b] = std::max(b_left, checked_add(a_left, terms_->latency()));
  }
  [[nodiscard]] Duration last() const { return *std::max_element(ready_.begin(), ready_.end()); }

 private:
  const Terms* terms_;
  std::vector<Duration> ready_;
};

// The forms, by algorithm. `call` has at least two ranks and at least one byte.
using Form = Duration (*)(const Terms&, const CollectiveCall&);

[[nodiscard]] Duration tree_broadcast(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration tree_reduce(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration tree_scatter(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration tree_gather(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration tree_all_reduce(const Terms& terms, const CollectiveCall& call);

[[nodiscard]] Duration double_tree_broadcast(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration double_tree_reduce(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration double_tree_all_reduce(const Terms& terms, const CollectiveCall& call);

[[nodiscard]] Duration recursive_doubling_all_reduce(const Terms& terms,
                                                     const CollectiveCall& call);
[[nodiscard]] Duration recursive_doubling_all_gather(const Terms& terms,
                                                     const CollectiveCall& call);
[[nodiscard]] Duration halving_doubling_reduce_scatter(const Terms& terms,
                                                       const CollectiveCall& call);
[[nodiscard]] Duration halving_doubling_all_gather(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration halving_doubling_all_reduce(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration bruck_all_gather(const Terms& terms, const CollectiveCall& call);
[[nodiscard]] Duration bruck_all_to_all(const Terms& terms, const CollectiveCall& call);

}  // namespace collsim::detail
