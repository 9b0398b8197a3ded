#include "sim/flow_network.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim {

FlowNetwork::FlowNetwork(const Graph& graph, EventQueue& queue)
    : queue_(&queue), paths_(graph), usage_(graph.links().size()), links_(graph.links().size()) {}

LinkId FlowNetwork::add_resource(Bandwidth capacity) {
  usage_.add_resource();
  links_.emplace_back();
  return paths_.add_resource(capacity);
}

void FlowNetwork::start(PathId path, Bytes bytes, std::uint32_t tag, const TransferTerms& terms) {
  COLLSIM_DCHECK(bytes.count() >= 0, "a transfer of less than nothing");
  COLLSIM_DCHECK(terms.weight > 0 && terms.multiplicity > 0, "a transfer that does not count");
  const TransferId id = transfers_.take();
  Transfer& transfer = transfers_[id];
  const Time now = queue_->now();
  transfer.left = to_fine(bytes);
  transfer.rate = Rate();
  transfer.bytes = bytes;
  transfer.start = now;
  transfer.updated = now;
  transfer.path = path;
  transfer.tag = tag;
  transfer.terms = terms;
  ++under_way_;
  if (bytes == Bytes(0)) {
    transfer.departure = now;
    schedule(id);
    return;
  }
  for (const ResourceUse& hop : paths_.hops(path)) {
    const LinkId link(hop.resource);
    usage_.enter(link, terms.multiplicity, now);
    LinkState& state = links_[link.index()];
    state.occupants.push_back({id, transfer.birth});
    ++state.transfers;
  }
  started_.push_back(id);
}

void FlowNetwork::leave_links(const Transfer& transfer) {
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    const LinkId link(hop.resource);
    usage_.leave(link, transfer.terms.multiplicity,
                 fine_bytes_of(transfer.bytes, hop) * transfer.terms.multiplicity, queue_->now());
    LinkState& state = links_[link.index()];
    --state.transfers;
    if (state.transfers == 0) {
      state.occupants.clear();
    } else {
      mark_dirty(link);
    }
  }
}

std::optional<Departure> FlowNetwork::depart(const Event& event) {
  Transfer& transfer = transfers_[TransferId(event.subject)];
  if (transfer.generation != event.generation) {
    return std::nullopt;
  }
  const TransferId id(event.subject);
  Departure departure;
  departure.tag = transfer.tag;
  departure.elapsed = queue_->now() - transfer.start;
  departure.narrowest = paths_.full_rate(transfer.path).link;
  if (transfer.bytes == Bytes(0)) {
    departure.bottleneck = departure.narrowest;
  } else {
    departure.bottleneck = transfer.bottleneck;
    departure.wire = std::min(wire_time(id), departure.elapsed);
    departure.capped = departure.wire;
    if (transfer.terms.cap > Bandwidth{}) {
      const Duration own = transfer_time(transfer.bytes, Rate(transfer.terms.cap));
      departure.capped = std::clamp(own, departure.wire, departure.elapsed);
    }
    leave_links(transfer);
  }
  ++transfer.birth;
  ++transfer.generation;
  transfer.scheduled = false;
  transfers_.give_back(id);
  --under_way_;
  return departure;
}

void FlowNetwork::mark_dirty(LinkId link) {
  LinkState& state = links_[link.index()];
  if (state.dirty) {
    return;
  }
  state.dirty = true;
  dirty_.push_back(link);
}

void FlowNetwork::set_capacity(LinkId link, Bandwidth bandwidth) {
  changes_.push_back({link, bandwidth});
}

// Where a change of capacity changes the full rate of a route, the transfers on it that were under
// way before are remembered with what they would have left alone.
void FlowNetwork::apply_capacity_changes() {
  struct Affected {
    TransferId transfer;
    Rate full_rate;
  };
  std::vector<Affected> affected;
  ++search_;
  for (const CapacityChange& change : changes_) {
    LinkState& state = links_[change.link.index()];
    drop_departed(state);
    for (const Occupant& occupant : state.occupants) {
      Transfer& transfer = transfers_[occupant.transfer];
      if (transfer.visited == search_ || transfer.start == queue_->now()) {
        continue;
      }
      transfer.visited = search_;
      affected.push_back({occupant.transfer, paths_.full_rate(transfer.path).rate});
    }
    if (state.transfers > 0) {
      mark_dirty(change.link);
    }
  }
  for (const CapacityChange& change : changes_) {
    paths_.set_capacity(change.link, change.bandwidth);
  }
  changes_.clear();
  for (const Affected& before : affected) {
    const PathId path = transfers_[before.transfer].path;
    if (compare(before.full_rate, paths_.full_rate(path).rate) != 0) {
      advance_alone(before.transfer, before.full_rate);
    }
  }
}

void FlowNetwork::advance_alone(TransferId id, Rate full_rate) {
  Transfer& transfer = transfers_[id];
  if (!transfer.capacity_changed) {
    transfer.capacity_changed = true;
    alone_[id.value()] = {to_fine(transfer.bytes), transfer.start};
  }
  Alone& alone = alone_[id.value()];
  const Time now = queue_->now();
  const Duration needed = transfer_time_fine(alone.left, full_rate);
  if (needed <= now - alone.updated) {
    alone.updated += needed;
    alone.left = 0;
  } else {
    alone.left -= progress_fine(now - alone.updated, full_rate);
    alone.updated = now;
  }
}

Duration FlowNetwork::wire_time(TransferId id) {
  Transfer& transfer = transfers_[id];
  const Rate full_rate = paths_.full_rate(transfer.path).rate;
  if (!transfer.capacity_changed) {
    return transfer_time_fine(to_fine(transfer.bytes), full_rate);
  }
  transfer.capacity_changed = false;
  const auto entry = alone_.find(id.value());
  const Alone alone = entry->second;
  alone_.erase(entry);
  return checked_add(alone.updated - transfer.start, transfer_time_fine(alone.left, full_rate));
}

void FlowNetwork::schedule(TransferId id) {
  Transfer& transfer = transfers_[id];
  transfer.scheduled = true;
  queue_->push(Event{transfer.departure, EventPhase::Departure, id.value(), transfer.generation});
}

bool FlowNetwork::shares_no_link(const Transfer& transfer) const {
  if (transfer.terms.multiplicity > 1) {
    return false;
  }
  const auto hops = paths_.hops(transfer.path);
  return std::all_of(hops.begin(), hops.end(), [this](const ResourceUse& hop) {
    return links_[hop.resource].transfers == 1;
  });
}

Rate FlowNetwork::own_rate(const Transfer& transfer) {
  const Rate full = paths_.full_rate(transfer.path).rate;
  const Rate cap(transfer.terms.cap);
  return transfer.terms.cap > Bandwidth{} && compare(cap, full) < 0 ? cap : full;
}

void FlowNetwork::set_rate(Transfer& transfer, Rate rate, LinkId bottleneck) {
  transfer.bottleneck = bottleneck;
  if (compare(transfer.rate, rate) == 0) {
    return;
  }
  const Time now = queue_->now();
  if (transfer.updated != now) {
    transfer.left -= progress_fine(now - transfer.updated, transfer.rate);
    transfer.updated = now;
  }
  transfer.rate = rate;
  transfer.departure = checked_add(now, transfer_time_fine(transfer.left, rate));
  if (transfer.scheduled) {
    ++transfer.generation;
    transfer.scheduled = false;
  }
}

void FlowNetwork::drop_departed(LinkState& state) const {
  std::erase_if(state.occupants, [this](const Occupant& occupant) {
    return transfers_[occupant.transfer].birth != occupant.birth;
  });
}

// Fills component_ with the transfers that share links with those of `seed`, directly or through
// others.
void FlowNetwork::search_component(LinkId seed) {
  component_.clear();
  links_to_visit_.assign(1, seed);
  links_[seed.index()].visited = search_;
  while (!links_to_visit_.empty()) {
    LinkState& state = links_[links_to_visit_.back().index()];
    links_to_visit_.pop_back();
    if (state.occupants.size() != state.transfers) {
      drop_departed(state);
    }
    for (const Occupant& occupant : state.occupants) {
      Transfer& transfer = transfers_[occupant.transfer];
      if (transfer.visited == search_) {
        continue;
      }
      transfer.visited = search_;
      component_.push_back(occupant.transfer);
      for (const ResourceUse& hop : paths_.hops(transfer.path)) {
        LinkState& neighbour = links_[hop.resource];
        if (neighbour.visited == search_) {
          continue;
        }
        neighbour.visited = search_;
        links_to_visit_.emplace_back(hop.resource);
      }
    }
  }
}

void FlowNetwork::solve_component(LinkId seed) {
  search_component(seed);
  flows_.clear();
  for (const TransferId id : component_) {
    const Transfer& transfer = transfers_[id];
    flows_.push_back({paths_.hops(transfer.path), transfer.terms.weight,
                      transfer.terms.multiplicity, transfer.terms.cap.units()});
  }
  solver_.solve(paths_.capacities(), flows_, shares_);
  Time earliest = Time::max();
  for (std::size_t i = 0; i < component_.size(); ++i) {
    Transfer& transfer = transfers_[component_[i]];
    const bool by_link = shares_[i].bottleneck < links_.size();
    set_rate(transfer, shares_[i].rate,
             by_link ? LinkId(shares_[i].bottleneck) : paths_.full_rate(transfer.path).link);
    earliest = std::min(earliest, transfer.departure);
  }
  for (const TransferId id : component_) {
    const Transfer& transfer = transfers_[id];
    if (transfer.departure == earliest && !transfer.scheduled) {
      schedule(id);
    }
  }
}

void FlowNetwork::settle() {
  if (!changes_.empty()) {
    apply_capacity_changes();
  }
  for (const TransferId id : started_) {
    Transfer& transfer = transfers_[id];
    const bool alone = shares_no_link(transfer);
    for (const ResourceUse& hop : paths_.hops(transfer.path)) {
      usage_.note_peak(LinkId(hop.resource));
      if (!alone) {
        mark_dirty(LinkId(hop.resource));
      }
    }
    if (alone) {
      set_rate(transfer, own_rate(transfer), paths_.full_rate(transfer.path).link);
      schedule(id);
    }
  }
  started_.clear();
  if (dirty_.empty()) {
    return;
  }
  ++search_;
  for (const LinkId link : dirty_) {
    LinkState& state = links_[link.index()];
    state.dirty = false;
    if (state.transfers > 0 && state.visited != search_) {
      solve_component(link);
    }
  }
  dirty_.clear();
}

}  // namespace collsim
