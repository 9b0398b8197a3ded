// FlowNetwork::settle(): which transfers get another rate, and which.
//
// The links that are solved for are those that bound before the change, as far as they hang together
// with what changed. The rates so found are those of the whole system if no link that was left out
// binds now; else that link comes in, and what hangs together with it is solved (again).

#include <algorithm>
#include <bit>

#include "sim/flow_network.hpp"
#include "topology/error.hpp"

namespace collsim {

void FlowNetwork::schedule(TransferId id) {
  Transfer& transfer = transfers_[id];
  transfer.scheduled = true;
  queue_->push(Event{transfer.departure, EventPhase::Departure, id.value(), transfer.generation});
}

void FlowNetwork::set_rate(Transfer& transfer, const Solution& solution) {
  transfer.bottleneck = solution.bottleneck;
  transfer.of_link = solution.of_link;
  if (compare(transfer.rate, solution.rate) == 0) {
    return;
  }
  const Time now = queue_->now();
  if (transfer.updated != now) {
    transfer.left -= progress_fine(now - transfer.updated, transfer.rate);
    transfer.updated = now;
  }
  transfer.rate = solution.rate;
  transfer.departure = checked_add(now, transfer_time_fine(transfer.left, transfer.rate));
  if (transfer.scheduled) {
    ++transfer.generation;
    transfer.scheduled = false;
  }
}

bool FlowNetwork::shares_no_link(const Transfer& transfer) const {
  const auto hops = paths_.hops(transfer.path);
  return std::all_of(hops.begin(), hops.end(), [this](const ResourceUse& hop) {
    return links_[hop.resource].transfers == 1;
  });
}

/// What a transfer gets that shares no link (with others than those it stands for).
FlowNetwork::Solution FlowNetwork::alone(TransferId id) {
  const Transfer& transfer = transfers_[id];
  const auto [all, narrowest] = paths_.full_rate(transfer.path);
  const Rate cap(transfer.terms.cap);
  if (paths_.is_crowded(transfer.path)) {
    const auto [rate, link] = paths_.crowded_rate(transfer.path, transfer.terms.multiplicity);
    const bool slower = transfer.terms.cap > Bandwidth{} && compare(cap, rate) < 0;
    return {id, slower ? narrowest : link, !slower, slower ? cap : rate};
  }
  const Rate full =
      transfer.terms.multiplicity == 1 ? all : divided(all, transfer.terms.multiplicity);
  const bool capped = transfer.terms.cap > Bandwidth{} && compare(cap, full) < 0;
  return {id, narrowest, false, capped ? cap : full};
}

void FlowNetwork::drop_stale(LinkState& state) const {
  if (state.occupants.size() == state.transfers) {
    return;
  }
  std::erase_if(state.occupants, [this](const Occupant& occupant) {
    return transfers_[occupant.transfer].birth != occupant.birth;
  });
}

/// Writes down what the links of a transfer give it.
void FlowNetwork::book(Transfer& transfer, Rate before, Rate after) {
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    LinkState& state = links_[hop.resource];
    if (!transfer.booked) {
      state.take.enter(hop, transfer.terms);
      ++state.booked;
      allow_for(state.take.singles());
    }
    state.take.change(hop, transfer.terms, single_take(hop, before), single_take(hop, after));
    if (update_binds(LinkId(hop.resource)) && marks_[hop.resource].visited < first_search_) {
      fuller_.emplace_back(hop.resource);
    }
  }
  transfer.booked = true;
}

/// A transfer that has shared no link so far is not in the books. If there is one, it is the first.
void FlowNetwork::book_those_alone(LinkId link) {
  LinkState& state = links_[link.index()];
  if (state.booked > 0 || state.transfers == 0) {
    return;
  }
  drop_stale(state);
  Transfer& first = transfers_[state.occupants.front().transfer];
  if (first.rate.numerator > 0) {
    book(first, Rate(), first.rate);
  }
}

void FlowNetwork::add_to_component(TransferId id) {
  Transfer& transfer = transfers_[id];
  if (transfer.visited == search_) {
    return;
  }
  transfer.visited = search_;
  components_.push_back(id);
  if (transfer.listed_hops != 0) {
    // It is looked at after those that were found before it.
    __builtin_prefetch(&paths_.hop(
        transfer.first_hop + static_cast<std::size_t>(std::countr_zero(transfer.listed_hops))));
  }
  if (transfer.solution >= solutions_.size() || solutions_[transfer.solution].transfer != id) {
    transfer.solution = static_cast<std::uint32_t>(solutions_.size());
    solutions_.push_back({id, transfer.bottleneck, transfer.of_link, transfer.rate});
  }
}

void FlowNetwork::visit(LinkId link) {
  LinkState& state = links_[link.index()];
  marks_[link.index()].visited = search_;
  drop_stale(state);
  constexpr std::size_t ahead = 4;
  for (std::size_t i = 0; i < state.occupants.size(); ++i) {
    if (i + ahead < state.occupants.size()) {
      __builtin_prefetch(&transfers_[state.occupants[i + ahead].transfer]);
    }
    add_to_component(state.occupants[i].transfer);
  }
}

/// From now on searches look at the link whenever they come to one of its transfers.
void FlowNetwork::list(LinkId link) {
  LinkMark& mark = marks_[link.index()];
  if (mark.listed) {
    return;
  }
  mark.listed = true;
  for (const Occupant& occupant : links_[link.index()].occupants) {
    Transfer& transfer = transfers_[occupant.transfer];
    if (transfer.birth == occupant.birth) {
      transfer.listed_hops |= bit_of(occupant.position);
    }
  }
}

void FlowNetwork::look_at_hop(const ResourceUse& hop) {
  const LinkMark& mark = marks_[hop.resource];
  if (mark.visited < search_) {
    if (mark.visited < first_search_ && !mark.dirty && !mark.binds) {
      return;
    }
    visit(LinkId(hop.resource));
  }
  uses_.push_back(hop);
}

// Adds whom the transfers from position `first` on hang together with, directly or through others.
void FlowNetwork::grow_component(std::size_t first) {
  for (std::size_t i = first; i < components_.size(); ++i) {
    const Transfer& transfer = transfers_[components_[i]];
    for (std::uint64_t left = transfer.listed_hops; left != 0; left &= left - 1) {
      const auto position = static_cast<std::size_t>(std::countr_zero(left));
      if (position < last_bit) {
        look_at_hop(paths_.hop(transfer.first_hop + position));
        continue;
      }
      for (const ResourceUse& hop : paths_.hops(transfer.path).subspan(last_bit)) {
        look_at_hop(hop);
      }
    }
    use_ends_.push_back(uses_.size());
  }
  if (components_.size() > first) {
    component_ends_.push_back(components_.size());
  }
}

void FlowNetwork::search_components() {
  ++search_;
  components_.clear();
  component_ends_.clear();
  uses_.clear();
  use_ends_.clear();
  for (const TransferId id : to_solve_) {
    const std::size_t first = components_.size();
    add_to_component(id);
    grow_component(first);
  }
  to_solve_.clear();
  for (const LinkId link : dirty_) {
    if (links_[link.index()].transfers == 0 || marks_[link.index()].visited == search_) {
      continue;
    }
    const std::size_t first = components_.size();
    visit(link);
    grow_component(first);
  }
  for (const LinkId link : dirty_) {
    marks_[link.index()].dirty = false;
  }
  dirty_.clear();
}

void FlowNetwork::set_solution(TransferId id, const Solution& solution) {
  Transfer& transfer = transfers_[id];
  Solution& present = solutions_[transfer.solution];
  if (!transfer.booked || compare(present.rate, solution.rate) != 0) {
    book(transfer, transfer.booked ? present.rate : Rate(), solution.rate);
  }
  present = solution;
}

/// A transfer that shares no link that binds.
void FlowNetwork::solve_alone(TransferId id) {
  const Transfer& transfer = transfers_[id];
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    if (links_[hop.resource].transfers == 1) {
      list(LinkId(hop.resource));
      marks_[hop.resource].visited = search_;
    }
  }
  set_solution(id, alone(id));
}

/// A transfer as the solver takes it, the i-th that is solved for; its uses begin at `first_use`.
FairShareFlow FlowNetwork::flow_of(TransferId id, std::size_t i, std::size_t first_use) const {
  const TransferTerms& terms = transfers_[id].terms;
  return {{uses_.data() + first_use, use_ends_[i] - first_use},
          terms.weight,
          terms.multiplicity,
          terms.cap.units()};
}

void FlowNetwork::solve_component(std::size_t begin, std::size_t end) {
  if (end - begin == 1) {
    solve_alone(components_[begin]);
    return;
  }
  flows_.clear();
  std::size_t first_use = begin == 0 ? 0 : use_ends_[begin - 1];
  for (std::size_t i = begin; i < end; ++i) {
    flows_.push_back(flow_of(components_[i], i, first_use));
    first_use = use_ends_[i];
  }
  solver_.solve(paths_.capacities(), flows_, shares_);
  for (std::size_t i = begin; i < end; ++i) {
    const TransferId id = components_[i];
    const FairShare& share = shares_[i - begin];
    const bool of_link = share.bottleneck < links_.size();
    const LinkId bottleneck =
        of_link ? LinkId(share.bottleneck) : paths_.full_rate(transfers_[id].path).link;
    set_solution(id, {id, bottleneck, of_link, share.rate});
  }
}

void FlowNetwork::solve_components() {
  std::size_t begin = 0;
  for (const std::size_t end : component_ends_) {
    solve_component(begin, end);
    begin = end;
  }
}

/// Links that were left out and bind now: to be solved for, too.
void FlowNetwork::find_overloaded() {
  if (drift_grew_) {
    drift_grew_ = false;
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      update_binds(LinkId(link));
      fuller_.emplace_back(link);
    }
  }
  for (const LinkId link : fuller_) {
    LinkMark& mark = marks_[link.index()];
    if (mark.binds && mark.visited < first_search_) {
      mark.visited = search_;
      dirty_.push_back(link);
    }
  }
  fuller_.clear();
}

void FlowNetwork::apply_solutions() {
  for (const Solution& solution : solutions_) {
    links_[solution.bottleneck.index()].earliest = Time::max();
  }
  for (const Solution& solution : solutions_) {
    Transfer& transfer = transfers_[solution.transfer];
    set_rate(transfer, solution);
    if (solution.of_link) {
      Time& earliest = links_[solution.bottleneck.index()].earliest;
      earliest = std::min(earliest, transfer.departure);
    }
  }
  for (const Solution& solution : solutions_) {
    const Transfer& transfer = transfers_[solution.transfer];
    if (!transfer.scheduled &&
        (!solution.of_link || transfer.departure == links_[solution.bottleneck.index()].earliest)) {
      schedule(solution.transfer);
    }
  }
  solutions_.clear();
}

void FlowNetwork::settle_started() {
  for (const TransferId id : started_) {
    Transfer& transfer = transfers_[id];
    note_start(transfer);
    if (shares_no_link(transfer)) {
      set_rate(transfer, alone(id));
      schedule(id);
      continue;
    }
    to_solve_.push_back(id);
  }
  started_.clear();
  for (const TransferId id : to_solve_) {
    for (const ResourceUse& hop : paths_.hops(transfers_[id].path)) {
      book_those_alone(LinkId(hop.resource));
    }
  }
}

/// Where many start at once, links that would bind if all on them went as fast as they can alone are solved for
/// at once, rather than after a solution without them has turned out to use them up. With or without such a
/// link that does not bind in the end, the rates are the same.
void FlowNetwork::expect_bottlenecks() {
  for (const TransferId id : to_solve_) {
    const Transfer& transfer = transfers_[id];
    if (transfer.booked) {
      continue;
    }
    const Rate most = paths_.full_rate(transfer.path).rate;
    for (const ResourceUse& hop : paths_.hops(transfer.path)) {
      const std::uint64_t all = links_[hop.resource].transfers;
      const auto capacity = static_cast<U128>(paths_.capacities()[hop.resource]);
      if (all > 1 && !marks_[hop.resource].dirty &&
          static_cast<U128>(single_take(hop, most)) * all > capacity) {
        list(LinkId(hop.resource));
        mark_dirty(LinkId(hop.resource));
      }
    }
  }
}

void FlowNetwork::settle() {
  first_search_ = search_ + 1;
  settle_successors();
  settle_groups();
  if (!changes_.empty()) {
    apply_capacity_changes();
  }
  if (!started_.empty()) {
    settle_started();
  }
  if (!dirty_.empty() || !to_solve_.empty()) {
    settle_searched();
  }
  schedule_behind_successors();
}

/// Those whose links others are on.
void FlowNetwork::settle_searched() {
  fuller_.clear();  // what was booked up to here has not changed
  constexpr int most_attempts = 8;
  int attempts = 0;
  while (attempts < most_attempts && settle_near()) {
    ++attempts;
    find_overloaded();
    if (dirty_.empty()) {
      apply_solutions();
      return;
    }
  }
  first_search_ = search_ + 1;
  expect_bottlenecks();
  do {
    search_components();
    solve_components();
    find_overloaded();
  } while (!dirty_.empty());
  apply_solutions();
}

}  // namespace collsim
