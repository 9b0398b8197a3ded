#include "algorithms/closed_forms.hpp"

#include <array>
#include <stdexcept>

#include "algorithms/closed_form_terms.hpp"

namespace collsim {

namespace detail {

Duration times(std::int64_t factor, Duration duration) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(factor, duration.count(), &product)) {
    throw std::overflow_error("simulated time exceeds 106 days");
  }
  return Duration(product);
}

}  // namespace detail

namespace {

using detail::Form;
using detail::Terms;
using detail::times;

/// What each rank contributes to a blocked collective, or what everyone ends up with.
Bytes whole(const CollectiveCall& call) { return call.size(); }
Bytes block(const CollectiveCall& call) { return call.block(); }
/// The largest of one block a rank, where the call is one buffer.
Bytes largest_share(const CollectiveCall& call) {
  return detail::EvenBlocks(call, call.ranks).largest();
}

// naive: everything goes through the root, all its peers at once; the phases follow each other.

Duration naive_buffer(const Terms& t, const CollectiveCall& call) {
  return t.to_all_peers(whole(call));
}
Duration naive_block(const Terms& t, const CollectiveCall& call) {
  return t.to_all_peers(block(call));
}
/// all_gather: the blocks in, then everything out; reduce_scatter: the reverse.
Duration naive_block_and_whole(const Terms& t, const CollectiveCall& call) {
  return checked_add(t.to_all_peers(block(call)), t.to_all_peers(whole(call)));
}
/// all_reduce: the buffer in and out; all_to_all: a block for every rank in and out.
Duration naive_whole_twice(const Terms& t, const CollectiveCall& call) {
  return times(2, t.to_all_peers(whole(call)));
}

// ring: the largest block goes all the way round, one hop after the other; no other can be later.

Duration ring_once(const Terms& t, const CollectiveCall& call) {
  return times(t.ranks() - 1, t.message(block(call)));
}
Duration ring_all_reduce(const Terms& t, const CollectiveCall& call) {
  return times(2 * (std::int64_t{t.ranks()} - 1), t.message(largest_share(call)));
}
Duration ring_chain(const Terms& t, const CollectiveCall& call) {
  return times(t.ranks() - 1, t.message(whole(call)));
}

// direct: every pair exchanges its block, all at once.

Duration direct_block(const Terms& t, const CollectiveCall& call) {
  return t.to_all_peers(block(call));
}
Duration direct_neighbour(const Terms& t, const CollectiveCall& call) {
  return t.message(whole(call));
}
Duration direct_two_shot(const Terms& t, const CollectiveCall& call) {
  return times(2, t.to_all_peers(largest_share(call)));
}
Duration direct_one_shot(const Terms& t, const CollectiveCall& call) {
  return t.to_all_peers(whole(call));
}

// pairwise: n-1 rounds, a block to another peer in each.

Duration pairwise(const Terms& t, const CollectiveCall& call) {
  return times(t.ranks() - 1, t.message(block(call)));
}

struct Entry {
  std::string_view algorithm;
  CollectiveKind kind;
  Form form;
  /// Whether the form also holds where a switch's links are shared.
  bool on_star;
};

constexpr bool on_star = true;
constexpr bool mesh_only = false;

using enum CollectiveKind;

constexpr std::array forms{
    Entry{"naive", Broadcast, naive_buffer, on_star},
    Entry{"naive", Scatter, naive_block, on_star},
    Entry{"naive", Gather, naive_block, on_star},
    Entry{"naive", Reduce, naive_buffer, on_star},
    Entry{"naive", AllGather, naive_block_and_whole, on_star},
    Entry{"naive", ReduceScatter, naive_block_and_whole, on_star},
    Entry{"naive", AllReduce, naive_whole_twice, on_star},
    Entry{"naive", AllToAll, naive_whole_twice, on_star},
    Entry{"ring", AllReduce, ring_all_reduce, on_star},
    Entry{"ring", AllGather, ring_once, on_star},
    Entry{"ring", ReduceScatter, ring_once, on_star},
    Entry{"ring", Broadcast, ring_chain, on_star},
    Entry{"ring", Reduce, ring_chain, on_star},
    Entry{"tree", Broadcast, detail::tree_broadcast, mesh_only},
    Entry{"tree", Gather, detail::tree_gather, mesh_only},
    Entry{"tree", Scatter, detail::tree_scatter, mesh_only},
    Entry{"tree", Reduce, detail::tree_reduce, mesh_only},
    Entry{"tree", AllReduce, detail::tree_all_reduce, mesh_only},
    Entry{"double-tree", AllReduce, detail::double_tree_all_reduce, mesh_only},
    Entry{"double-tree", Broadcast, detail::double_tree_broadcast, mesh_only},
    Entry{"double-tree", Reduce, detail::double_tree_reduce, mesh_only},
    Entry{"recursive-doubling", AllReduce, detail::recursive_doubling_all_reduce, mesh_only},
    Entry{"recursive-doubling", AllGather, detail::recursive_doubling_all_gather, mesh_only},
    Entry{"halving-doubling", AllReduce, detail::halving_doubling_all_reduce, mesh_only},
    Entry{"halving-doubling", ReduceScatter, detail::halving_doubling_reduce_scatter, mesh_only},
    Entry{"halving-doubling", AllGather, detail::halving_doubling_all_gather, mesh_only},
    Entry{"bruck", AllGather, detail::bruck_all_gather, mesh_only},
    Entry{"bruck", AllToAll, detail::bruck_all_to_all, mesh_only},
    Entry{"direct", AllGather, direct_block, on_star},
    Entry{"direct", ReduceScatter, direct_block, on_star},
    Entry{"direct", AllToAll, direct_block, on_star},
    Entry{"direct", Scatter, direct_block, on_star},
    Entry{"direct", Gather, direct_block, on_star},
    Entry{"direct", SendRecv, direct_neighbour, on_star},
    Entry{"direct", AllReduce, direct_two_shot, on_star},
    Entry{"direct-one-shot", AllReduce, direct_one_shot, on_star},
    Entry{"pairwise", AllToAll, pairwise, mesh_only},
    Entry{"pairwise", ReduceScatter, pairwise, mesh_only},
};

const Entry* find_form(std::string_view algorithm, CollectiveKind kind) {
  for (const Entry& entry : forms) {
    if (entry.algorithm == algorithm && entry.kind == kind) {
      return &entry;
    }
  }
  return nullptr;
}

Duration evaluate(const Entry& entry, const CollectiveCall& call, const UniformMachine& machine,
                  detail::Sharing sharing) {
  if (call.ranks <= 1 || call.count == 0) {
    return Duration{};
  }
  return entry.form(Terms(machine, call.ranks, sharing), call);
}

}  // namespace

std::optional<Duration> closed_form_mesh(std::string_view algorithm, const CollectiveCall& call,
                                         const UniformMachine& machine) {
  const Entry* entry = find_form(algorithm, call.kind);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return evaluate(*entry, call, machine, detail::Sharing::None);
}

std::optional<Duration> closed_form_star(std::string_view algorithm, const CollectiveCall& call,
                                         const UniformMachine& machine) {
  const Entry* entry = find_form(algorithm, call.kind);
  if (entry == nullptr || !entry->on_star) {
    return std::nullopt;
  }
  return evaluate(*entry, call, machine, detail::Sharing::Peers);
}

}  // namespace collsim
