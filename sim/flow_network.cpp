#include "sim/flow_network.hpp"

#include <algorithm>

#include "sim/state_record.hpp"
#include "topology/error.hpp"

namespace collsim {

FlowNetwork::FlowNetwork(const Graph& graph, EventQueue& queue, std::size_t few)
    : queue_(&queue),
      paths_(graph),
      usage_(graph.links().size()),
      few_(few),
      groups_(graph.links().size()),
      links_(graph.links().size()),
      marks_(graph.links().size()) {
  solver_.order_ties_by(paths_.tie_order());
}

PathId FlowNetwork::open(const Route& route, std::span<const std::uint32_t> crowds) {
  for (const RouteHop& hop : route.hops) {
    largest_denominator_ = std::max<std::int64_t>(largest_denominator_, hop.share_denominator);
  }
  ++opened_;
  const PathId path = paths_.open(route, crowds);
  const auto hops = paths_.hops(path);
  groups_.join(hops);
  const std::uint32_t group = groups_.number_of(hops.front().resource);
  if (!groups_[group].transfers.empty()) {
    mark_changed(group);
  }
  return path;
}

LinkId FlowNetwork::add_resource(Bandwidth capacity) {
  usage_.add_resource();
  groups_.add_resource();
  links_.emplace_back();
  marks_.emplace_back();
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
  weighted_ = weighted_ || terms.weight != 1;
  transfer.under_way = true;
  ++under_way_;
  ++started_in_all_;
  if (bytes == Bytes(0)) {
    transfer.departure = now;
    schedule(id);
    return;
  }
  transfer.first_hop = paths_.first_hop(path);
  for (const ResourceUse& hop : paths_.hops(path)) {
    usage_.enter(LinkId(hop.resource), terms.multiplicity * hop.crowd, now);
  }
  FlowGroup& group = groups_[group_of(transfer)];
  if (group.searched == 0 && group.transfers.size() < few_) {
    enter_group(id);
    return;
  }
  ++group.searched;
  if (!group.transfers.empty()) {
    mark_changed(group_of(transfer));
  }
  enter_links(id);
  started_.push_back(id);
}

void FlowNetwork::enter_links(TransferId id) {
  Transfer& transfer = transfers_[id];
  transfer.listed_hops = 0;
  const auto hops = paths_.hops(transfer.path);
  for (std::uint32_t position = 0; position < hops.size(); ++position) {
    const LinkId link(hops[position].resource);
    LinkState& state = links_[link.index()];
    LinkMark& mark = marks_[link.index()];
    if (state.transfers == 0) {
      mark.listed = mark.dirty;
    } else if (state.occupants.size() > 2 * std::size_t{state.transfers} + 16) {
      drop_stale(state);
    }
    if (mark.listed) {
      transfer.listed_hops |= bit_of(position);
    }
    state.occupants.push_back({id, transfer.birth, position});
    ++state.transfers;
  }
}

void FlowNetwork::leave_links(PathId path) {
  for (const ResourceUse& hop : paths_.hops(path)) {
    LinkState& state = links_[hop.resource];
    --state.transfers;
    if (state.transfers == 0) {
      state.occupants.clear();
    }
  }
}

void FlowNetwork::give_back_shares(const Departed& departed) {
  for (const ResourceUse& hop : paths_.hops(departed.path)) {
    const LinkId link(hop.resource);
    LinkState& state = links_[link.index()];
    if (state.transfers != 0 && marks_[link.index()].binds) {
      mark_dirty(link);
    }
    state.take.leave(hop, departed.terms, single_take(hop, departed.rate));
    --state.booked;
    update_binds(link);
  }
}

void FlowNetwork::close(PathId path) {
  leave_path(path);
  paths_.close(path);
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
  departure.bottleneck = departure.narrowest;
  if (transfer.bytes != Bytes(0)) {
    if (transfer.of_link) {
      departure.bottleneck = transfer.bottleneck;
    }
    departure.wire = std::min(wire_time(id), departure.elapsed);
    departure.capped = departure.wire;
    if (transfer.terms.cap > Bandwidth{}) {
      const Duration own = transfer_time(transfer.bytes, Rate(transfer.terms.cap));
      departure.capped = std::clamp(own, departure.wire, departure.elapsed);
    }
    for (const ResourceUse& hop : paths_.hops(transfer.path)) {
      const std::uint32_t flows = transfer.terms.multiplicity * hop.crowd;
      usage_.leave(LinkId(hop.resource), flows, fine_bytes_of(transfer.bytes, hop) * flows,
                   queue_->now());
    }
    if (transfer.grouped) {
      leave_group(id);
    } else {
      --groups_[group_of(transfer)].searched;
      if (transfer.booked) {
        remember_departed(transfer);
      } else {
        leave_links(transfer.path);
      }
    }
  }
  ++transfer.birth;
  ++transfer.generation;
  transfer.under_way = false;
  transfer.scheduled = false;
  transfer.booked = false;
  transfers_.give_back(id);
  --under_way_;
  return departure;
}

void FlowNetwork::mark_dirty(LinkId link) {
  bool& dirty = marks_[link.index()].dirty;
  if (dirty) {
    return;
  }
  dirty = true;
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
    drop_stale(state);
    for (const Occupant& occupant : state.occupants) {
      Transfer& transfer = transfers_[occupant.transfer];
      if (transfer.visited == search_ || transfer.start == queue_->now()) {
        continue;
      }
      transfer.visited = search_;
      affected.push_back({occupant.transfer, paths_.full_rate(transfer.path).rate});
    }
    book_those_alone(change.link);
    if (marks_[change.link.index()].binds) {
      mark_dirty(change.link);
    }
  }
  for (const CapacityChange& change : changes_) {
    paths_.set_capacity(change.link, change.bandwidth);
  }
  for (const CapacityChange& change : changes_) {
    if (update_binds(change.link)) {
      mark_dirty(change.link);
    }
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

void FlowNetwork::append_state(std::span<const std::uint32_t> number_of_tag,
                               detail::StateRecord& record) const {
  std::vector<std::pair<std::uint32_t, TransferId>> order;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const Transfer& transfer = transfers_[TransferId(i)];
    if (transfer.under_way) {
      order.emplace_back(number_of_tag[transfer.tag], TransferId(i));
    }
  }
  std::ranges::sort(order);
  record.add(order.size());
  for (const auto& [number, id] : order) {
    const Transfer& transfer = transfers_[id];
    record.add(std::uint64_t{number})
        .add(transfer.left)
        .add(static_cast<std::uint64_t>(transfer.rate.numerator))
        .add(static_cast<std::uint64_t>(transfer.rate.denominator))
        .add(transfer.start)
        .add(transfer.updated)
        .add(transfer.departure)
        .add((std::uint64_t{transfer.bottleneck.value()} << 1U) | (transfer.of_link ? 1U : 0U));
  }
}

}  // namespace collsim
