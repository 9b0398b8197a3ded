// Closed forms of the binomial tree and of two binary trees. Written over the subtree: T(m) is the time from when the root
// of a subtree of m ranks has what it needs until the subtree is done (broadcast, scatter), or from
// the start until the root has everything (reduce, gather).

#include <functional>

#include "algorithms/closed_form_terms.hpp"

namespace collsim::detail {

std::vector<std::uint32_t> binomial_subtrees(std::uint32_t size) {
  std::vector<std::uint32_t> sizes;
  for (std::uint64_t step = 1; step < size; step *= 2) {
    sizes.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(step, size - step)));
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}

namespace {

/// Down the tree: the children get their messages back to back, largest subtree first; each starts
/// its own children once its message is there. `bytes_for(m)`: the message for a subtree of m.
template <class BytesFor>
Duration down(const Terms& terms, std::uint32_t size, const BytesFor& bytes_for) {
  Duration left{};
  Duration end{};
  for (const std::uint32_t child : binomial_subtrees(size)) {
    left = checked_add(left, terms.wire(bytes_for(child)));
    const Duration arrived = checked_add(left, terms.latency());
    end = std::max(end, checked_add(arrived, down(terms, child, bytes_for)));
  }
  return end;
}

/// Up the tree: a rank sends to its parent once all its children's messages are there.
template <class BytesFor>
Duration up(const Terms& terms, std::uint32_t size, const BytesFor& bytes_for) {
  Duration end{};
  for (const std::uint32_t child : binomial_subtrees(size)) {
    end = std::max(end, checked_add(up(terms, child, bytes_for), terms.message(bytes_for(child))));
  }
  return end;
}

}  // namespace

Duration tree_broadcast(const Terms& terms, const CollectiveCall& call) {
  return down(terms, call.ranks, [&](std::uint32_t) { return call.size(); });
}

Duration tree_reduce(const Terms& terms, const CollectiveCall& call) {
  return up(terms, call.ranks, [&](std::uint32_t) { return call.size(); });
}

Duration tree_scatter(const Terms& terms, const CollectiveCall& call) {
  return down(terms, call.ranks, [&](std::uint32_t size) { return size * call.block(); });
}

Duration tree_gather(const Terms& terms, const CollectiveCall& call) {
  return up(terms, call.ranks, [&](std::uint32_t size) { return size * call.block(); });
}

Duration tree_all_reduce(const Terms& terms, const CollectiveCall& call) {
  return checked_add(tree_reduce(terms, call), tree_broadcast(terms, call));
}

// Two binary trees (Sanders, Speck and Träff 2009): the root hands half of the data to each of two
// trees of the other n - 1 ranks. They have one shape, so the first half, which has the odd element,
// is the later one. In a tree of m ranks in order, the top is at place 2^k, the largest power of two
// up to m: before it a full tree of 2^k - 1 ranks, behind it a tree of the rest.

namespace {

Bytes larger_half(const CollectiveCall& call) { return EvenBlocks(call, 2).largest(); }

/// From the top down: the full tree is served first.
Duration below_top(const Terms& terms, std::uint32_t size, Bytes bytes) {
  if (size <= 1) {
    return Duration{};
  }
  const std::uint32_t top = std::bit_floor(size);
  const Duration before = checked_add(terms.message(bytes), below_top(terms, top - 1, bytes));
  if (size == top) {
    return before;
  }
  const Duration second = checked_add(terms.wire(bytes), terms.message(bytes));
  return std::max(before, checked_add(second, below_top(terms, size - top, bytes)));
}

/// Up to the top: the deeper tree is the full one.
Duration up_to_top(const Terms& terms, std::uint32_t size, Bytes bytes) {
  if (size <= 1) {
    return Duration{};
  }
  return checked_add(terms.message(bytes), up_to_top(terms, std::bit_floor(size) - 1, bytes));
}

}  // namespace

Duration double_tree_broadcast(const Terms& terms, const CollectiveCall& call) {
  const Bytes half = larger_half(call);
  return checked_add(terms.message(half), below_top(terms, call.ranks - 1, half));
}

Duration double_tree_reduce(const Terms& terms, const CollectiveCall& call) {
  const Bytes half = larger_half(call);
  return checked_add(up_to_top(terms, call.ranks - 1, half), terms.message(half));
}

Duration double_tree_all_reduce(const Terms& terms, const CollectiveCall& call) {
  return checked_add(double_tree_reduce(terms, call), double_tree_broadcast(terms, call));
}

}  // namespace collsim::detail
