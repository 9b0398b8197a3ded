#include "sim/ideal_network.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim {

IdealNetwork::IdealNetwork(const Graph& graph, EventQueue& queue)
    : queue_(&queue), paths_(graph), usage_(graph.links().size()) {}

// A transfer has its full rate whatever its weight.
void IdealNetwork::start(PathId path, Bytes bytes, std::uint32_t tag, const TransferTerms& terms) {
  COLLSIM_DCHECK(bytes.count() >= 0, "a transfer of less than nothing");
  COLLSIM_DCHECK(terms.multiplicity > 0, "a transfer that does not count");
  const TransferId id = transfers_.take();
  Transfer& transfer = transfers_[id];
  const Time now = queue_->now();
  transfer.left = to_fine(bytes);
  transfer.rate = Rate();  // none until settle()
  transfer.bytes = bytes;
  transfer.start = now;
  transfer.updated = now;
  transfer.path = path;
  transfer.tag = tag;
  transfer.cap = terms.cap;
  transfer.multiplicity = terms.multiplicity;
  transfer.present = true;
  ++under_way_;
  if (bytes == Bytes(0)) {
    queue_->push(Event{now, EventPhase::Departure, id.value(), transfer.generation});
    return;
  }
  for (const ResourceUse& hop : paths_.hops(path)) {
    usage_.enter(LinkId(hop.resource), terms.multiplicity * hop.crowd, now);
  }
  started_.push_back(id);
}

std::optional<Departure> IdealNetwork::depart(const Event& event) {
  Transfer& transfer = transfers_[TransferId(event.subject)];
  if (transfer.generation != event.generation) {
    return std::nullopt;
  }
  const Time now = queue_->now();
  if (transfer.bytes != Bytes(0)) {
    for (const ResourceUse& hop : paths_.hops(transfer.path)) {
      const std::uint32_t flows = transfer.multiplicity * hop.crowd;
      usage_.leave(LinkId(hop.resource), flows, fine_bytes_of(transfer.bytes, hop) * flows, now);
    }
  }
  transfer.present = false;
  ++transfer.generation;
  transfers_.give_back(TransferId(event.subject));
  --under_way_;
  const Duration elapsed = now - transfer.start;
  const PathTable::FullRate full = paths_.full_rate(transfer.path);
  Departure departure{transfer.tag, elapsed, elapsed, elapsed, full.link, full.link};
  if (transfer.cap > Bandwidth{}) {
    departure.wire = std::min(elapsed, transfer_time(transfer.bytes, full.rate));
  }
  return departure;
}

LinkId IdealNetwork::add_resource(Bandwidth capacity) {
  usage_.add_resource();
  return paths_.add_resource(capacity);
}

Rate IdealNetwork::rate_of(const Transfer& transfer) {
  const Rate full = paths_.full_rate(transfer.path).rate;
  const Rate cap(transfer.cap);
  return transfer.cap > Bandwidth{} && compare(cap, full) < 0 ? cap : full;
}

void IdealNetwork::set_capacity(LinkId link, Bandwidth bandwidth) {
  changes_.push_back({link, bandwidth});
}

void IdealNetwork::schedule(TransferId id) {
  Transfer& transfer = transfers_[id];
  const Time departure =
      checked_add(queue_->now(), transfer_time_fine(transfer.left, transfer.rate));
  queue_->push(Event{departure, EventPhase::Departure, id.value(), transfer.generation});
}

void IdealNetwork::apply_capacity_changes() {
  for (const CapacityChange& change : changes_) {
    paths_.set_capacity(change.link, change.bandwidth);
  }
  changes_.clear();
  for (std::size_t index = 0; index < transfers_.size(); ++index) {
    Transfer& transfer = transfers_[TransferId(index)];
    const bool moving =
        transfer.present && transfer.bytes != Bytes(0) && transfer.rate.numerator > 0;
    if (!moving) {
      continue;
    }
    const Rate rate = rate_of(transfer);
    if (compare(rate, transfer.rate) == 0) {
      continue;
    }
    const Time now = queue_->now();
    transfer.left -= progress_fine(now - transfer.updated, transfer.rate);
    transfer.updated = now;
    transfer.rate = rate;
    ++transfer.generation;
    schedule(TransferId(index));
  }
}

void IdealNetwork::settle() {
  if (!changes_.empty()) {
    apply_capacity_changes();
  }
  for (const TransferId id : started_) {
    Transfer& transfer = transfers_[id];
    for (const ResourceUse& hop : paths_.hops(transfer.path)) {
      const LinkId link(hop.resource);
      usage_.note_peak(link);
      contention_ignored_ = contention_ignored_ || usage_.flows(link) > 1;
    }
    transfer.rate = rate_of(transfer);
    schedule(id);
  }
  started_.clear();
}

}  // namespace collsim
