#include "algorithms/bounds_traffic.hpp"

namespace collsim::detail {

namespace {

U128 times(std::int64_t count, Bytes bytes) { return checked_multiply(to_fine(bytes), count); }

Crossing reversed(Crossing crossing) { return Crossing{crossing.in, crossing.out}; }

Crossing crossing_of_broadcast(const CollectiveCall& call, const CutSet& set) {
  return set.holds_root ? Crossing{to_fine(call.size()), 0} : Crossing{0, to_fine(call.size())};
}

Crossing crossing_of_gather(const CollectiveCall& call, const CutSet& set) {
  const std::int64_t outside = call.ranks - set.size;
  return set.holds_root ? Crossing{0, times(outside, call.block())}
                        : Crossing{times(set.size, call.block()), 0};
}

Crossing crossing_of_all_gather(const CollectiveCall& call, const CutSet& set) {
  return Crossing{times(set.size, call.block()), times(call.ranks - set.size, call.block())};
}

}  // namespace

Crossing must_cross(const CollectiveCall& call, const CutSet& set) {
  switch (call.kind) {
    case CollectiveKind::Broadcast:
      return crossing_of_broadcast(call, set);
    case CollectiveKind::Reduce:
      return reversed(crossing_of_broadcast(call, set));
    case CollectiveKind::Gather:
      return crossing_of_gather(call, set);
    case CollectiveKind::Scatter:
      return reversed(crossing_of_gather(call, set));
    case CollectiveKind::AllGather:
      return crossing_of_all_gather(call, set);
    case CollectiveKind::ReduceScatter:
      return reversed(crossing_of_all_gather(call, set));
    case CollectiveKind::AllReduce:
      return Crossing{to_fine(call.size()), to_fine(call.size())};
    case CollectiveKind::AllToAll: {
      const U128 exchanged = times(set.size * (call.ranks - set.size), call.block());
      return Crossing{exchanged, exchanged};
    }
    case CollectiveKind::SendRecv:
      return Crossing{times(set.sends_outside, call.size()),
                      times(set.receives_outside, call.size())};
  }
  return Crossing{};
}

std::vector<CutSet> cut_sets(const CollectiveCall& call, std::span<const std::uint32_t> set_of_rank,
                             std::uint32_t sets) {
  std::vector<CutSet> result(sets);
  const std::size_t ranks = set_of_rank.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    CutSet& set = result[set_of_rank[rank]];
    ++set.size;
    if (rank == call.root.index()) {
      set.holds_root = true;
    }
    if (set_of_rank[(rank + 1) % ranks] != set_of_rank[rank]) {
      ++set.sends_outside;
    }
    if (set_of_rank[(rank + ranks - 1) % ranks] != set_of_rank[rank]) {
      ++set.receives_outside;
    }
  }
  return result;
}

std::optional<U128> must_be_sent(const CollectiveCall& call) {
  if (call.kind != CollectiveKind::AllReduce) {
    return std::nullopt;
  }
  return times(2 * (std::int64_t{call.ranks} - 1), call.size());
}

}  // namespace collsim::detail
