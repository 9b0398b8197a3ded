// FlowNetwork where few transfers are on links that hang together: what all of them get is looked up, or
// solved for all at once.

#include <algorithm>

#include "sim/flow_network.hpp"

namespace collsim {

void FlowNetwork::mark_changed(std::uint32_t group) {
  if (!groups_[group].changed) {
    groups_[group].changed = true;
    changed_groups_.push_back(group);
  }
}

void FlowNetwork::enter_group(TransferId id) {
  Transfer& transfer = transfers_[id];
  transfer.grouped = true;
  const std::uint32_t group = group_of(transfer);
  groups_[group].add(flow_kind(paths_.opening(transfer.path), transfer.terms), id);
  mark_changed(group);
}

void FlowNetwork::leave_group(TransferId id) {
  Transfer& transfer = transfers_[id];
  transfer.grouped = false;
  const std::uint32_t group = group_of(transfer);
  groups_[group].remove(id);
  mark_changed(group);
}

/// Puts the few on the lists of their links, as if they had been there from the start.
void FlowNetwork::search_from_now_on(FlowGroup& group) {
  for (const TransferId id : group.transfers) {
    transfers_[id].grouped = false;
    enter_links(id);
  }
  for (const TransferId id : group.transfers) {
    Transfer& transfer = transfers_[id];
    if (transfer.rate.numerator == 0) {
      started_.push_back(id);
    } else {
      book(transfer, Rate(), transfer.rate);
      to_solve_.push_back(id);
    }
  }
  group.searched += group.transfers.size();
  group.clear();
}

void FlowNetwork::settle_groups() {
  for (const CapacityChange& change : changes_) {
    if (FlowGroup* const group = groups_.group_of(change.link)) {
      search_from_now_on(*group);
    }
    known_.forget();
  }
  for (const std::uint32_t number : changed_groups_) {
    FlowGroup& group = groups_[number];
    group.changed = false;
    settle_group(group);
  }
  changed_groups_.clear();
}

void FlowNetwork::settle_group(FlowGroup& group) {
  if (group.searched != 0 || group.transfers.size() > few_) {
    search_from_now_on(group);
  } else if (group.transfers.size() == 1) {
    share_alone(group.transfers.front());
  } else if (!group.transfers.empty()) {
    share_among_few(group);
  }
}

void FlowNetwork::note_start(const Transfer& transfer) {
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    usage_.note_peak(LinkId(hop.resource));
  }
}

void FlowNetwork::share_alone(TransferId id) {
  Transfer& transfer = transfers_[id];
  if (transfer.rate.numerator == 0) {
    note_start(transfer);
  }
  set_rate(transfer, alone(id));
  if (!transfer.scheduled) {
    schedule(id);
  }
}

/// What comes next in the group changes it, and then all of them are looked at again: so only those that
/// depart first are in the event queue.
void FlowNetwork::share_among_few(const FlowGroup& group) {
  std::span<const KnownShares::Share> shares;
  if (routes_repeat()) {
    shares = known_.find(group.kinds, group.hash);
  }
  if (shares.empty()) {
    shares = solve_few(group);
  }
  Time earliest = Time::max();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const TransferId id = group.transfers[i];
    Transfer& transfer = transfers_[id];
    if (transfer.rate.numerator == 0) {
      note_start(transfer);
    }
    const KnownShares::Share& share = shares[i];
    set_rate(transfer, {id, share.bottleneck, share.of_link, share.rate});
    earliest = std::min(earliest, transfer.departure);
  }
  for (const TransferId id : group.transfers) {
    if (!transfers_[id].scheduled && transfers_[id].departure == earliest) {
      schedule(id);
    }
  }
}

/// Adds to uses_ what a transfer uses of links that may hold it back. Of those that it has for itself, only the
/// narrowest of its route can: where that one is shared it gives less than they do.
void FlowNetwork::list_uses(const Transfer& transfer) {
  const bool crowded = paths_.is_crowded(transfer.path);
  const std::uint32_t narrowest = paths_.full_rate(transfer.path).link.value();
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    const bool shared = usage_.flows(LinkId(hop.resource)) > transfer.terms.multiplicity;
    if (crowded || shared || hop.resource == narrowest) {
      uses_.push_back(hop);
    }
  }
  use_ends_.push_back(uses_.size());
}

std::span<const KnownShares::Share> FlowNetwork::solve_few(const FlowGroup& group) {
  flows_.clear();
  uses_.clear();
  use_ends_.clear();
  for (const TransferId id : group.transfers) {
    list_uses(transfers_[id]);
  }
  std::size_t first_use = 0;
  for (std::size_t i = 0; i < group.transfers.size(); ++i) {
    flows_.push_back(flow_of(group.transfers[i], i, first_use));
    first_use = use_ends_[i];
  }
  solver_.solve(paths_.capacities(), flows_, shares_);
  std::span<KnownShares::Share> known;
  if (routes_repeat()) {
    known = known_.add(group.kinds, group.hash);
  } else {
    once_.resize(group.transfers.size());
    known = once_;
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    const FairShare& share = shares_[i];
    const bool of_link = share.bottleneck < links_.size();
    const LinkId bottleneck = of_link ? LinkId(share.bottleneck)
                                      : paths_.full_rate(transfers_[group.transfers[i]].path).link;
    known[i] = {share.rate, bottleneck, of_link};
  }
  return known;
}

}  // namespace collsim
