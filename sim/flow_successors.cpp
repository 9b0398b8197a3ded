// FlowNetwork where transfers follow those of their path: at the instant at which one departs, the next one of the same
// terms starts. What all get follows from which transfers there are, whichever these are: so the successor has
// the rate and the bottleneck of its predecessor, and nobody else's change.
//
// Hence a transfer that departs stays in the books of its links until settle(). If nobody has followed it by
// then, its shares are free and its links are solved for.

#include <algorithm>

#include "sim/flow_network.hpp"

namespace collsim {

void FlowNetwork::remember_departed(const Transfer& transfer) {
  const std::size_t path = transfer.path.index();
  if (path >= departed_on_path_.size()) {
    departed_on_path_.resize(path + 1, none);
  }
  Departed departed;
  departed.path = transfer.path;
  departed.terms = transfer.terms;
  departed.rate = transfer.rate;
  departed.bottleneck = transfer.bottleneck;
  departed.of_link = transfer.of_link;
  departed.before = departed_on_path_[path];
  departed_on_path_[path] = static_cast<std::uint32_t>(departed_.size());
  departed_.push_back(departed);
}

void FlowNetwork::leave_for_good(Departed& departed) {
  if (!departed.left) {
    departed.left = true;
    leave_links(departed.path);
    give_back_shares(departed);
  }
}

/// The path's number may soon be another one's.
void FlowNetwork::leave_path(PathId path) {
  if (path.index() >= departed_on_path_.size()) {
    return;
  }
  for (std::uint32_t at = departed_on_path_[path.index()]; at != none; at = departed_[at].before) {
    leave_for_good(departed_[at]);
  }
}

/// One whose place the transfer may take; null: there is none.
FlowNetwork::Departed* FlowNetwork::predecessor(const Transfer& transfer) {
  const std::size_t path = transfer.path.index();
  if (path >= departed_on_path_.size()) {
    return nullptr;
  }
  std::uint32_t& last = departed_on_path_[path];
  while (last != none && departed_[last].left) {
    last = departed_[last].before;
  }
  for (std::uint32_t at = last; at != none; at = departed_[at].before) {
    if (!departed_[at].left && departed_[at].terms == transfer.terms) {
      return &departed_[at];
    }
  }
  return nullptr;
}

void FlowNetwork::take_place(TransferId id, Departed& predecessor) {
  Transfer& transfer = transfers_[id];
  predecessor.left = true;
  leave_links(predecessor.path);
  note_start(transfer);
  transfer.booked = true;
  set_rate(transfer, {id, predecessor.bottleneck, predecessor.of_link, predecessor.rate});
  if (!predecessor.of_link) {
    schedule(id);
  }
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    if (marks_[hop.resource].binds) {
      succeeded_on_.emplace_back(hop.resource);
    }
  }
}

void FlowNetwork::settle_successors() {
  if (departed_.empty()) {
    return;
  }
  std::erase_if(started_, [this](TransferId id) {
    Departed* const its = predecessor(transfers_[id]);
    if (its != nullptr) {
      take_place(id, *its);
    }
    return its != nullptr;
  });
  for (Departed& departed : departed_) {
    leave_for_good(departed);
    departed_on_path_[departed.path.index()] = none;
  }
  departed_.clear();
}

/// Of those that a link holds back the earliest to depart are in the event queue.
void FlowNetwork::schedule_earliest(LinkId link) {
  LinkState& state = links_[link.index()];
  drop_stale(state);
  Time earliest = Time::max();
  const auto is_held_back = [link](const Transfer& transfer) {
    return transfer.of_link && transfer.bottleneck == link && transfer.rate.numerator > 0;
  };
  for (const Occupant& occupant : state.occupants) {
    const Transfer& transfer = transfers_[occupant.transfer];
    earliest = is_held_back(transfer) ? std::min(earliest, transfer.departure) : earliest;
  }
  for (const Occupant& occupant : state.occupants) {
    const Transfer& transfer = transfers_[occupant.transfer];
    if (is_held_back(transfer) && !transfer.scheduled && transfer.departure == earliest) {
      schedule(occupant.transfer);
    }
  }
}

/// Whoever departs from a link lets those be looked at that it holds back: one of them may be the next.
void FlowNetwork::schedule_behind_successors() {
  std::ranges::sort(succeeded_on_);
  const auto again = std::ranges::unique(succeeded_on_);
  succeeded_on_.erase(again.begin(), again.end());
  for (const LinkId link : succeeded_on_) {
    schedule_earliest(link);
  }
  succeeded_on_.clear();
}

}  // namespace collsim
