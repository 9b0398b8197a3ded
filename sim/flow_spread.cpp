// FlowNetwork::settle() where a change may die out: rates are found anew for those that it reaches, while
// all others keep theirs, and then it is shown that these are the rates of the whole.
//
// Rates are those of the whole system if no link gives more than it has and every transfer is held back
// by its cap or by a link that is used up and gives nobody more (in rate by weight, its level) than it:
// then FairShareSolver, asked for all, would freeze them in the order of their levels and find these. So
//   - transfers that start, and those that a link with something else to give held back, are solved
//     for, with what the others take taken off the capacities;
//   - where a rate has changed, whom such a link held back joins them, and whoever gets as much or more
//     of a link that is used up;
//   - and so on, until nobody joins.
// Where nothing has changed on a link, it holds back whom it held back before.
// Levels that differ by no more than they may fall by rounding (see link_take.hpp) count as equal.
// With many of them all that hangs together is solved as flow_settle.cpp does. So it is with weights, or
// where links are so narrow that rounding makes a level (FairShareSolver's floors).

#include <algorithm>

#include "sim/flow_network.hpp"

namespace collsim {

namespace {

/// Transfers up to which it is tried, links with a change, and rounds.
constexpr std::size_t most_reached = 96;
constexpr std::size_t most_dirty = 4096;
constexpr int most_rounds = 16;

bool is_less(Rate a, Rate b) { return compare(a, b) < 0; }

/// Whether a is below b by more than levels fall by rounding. No link is narrow, so that `drift` is a part
/// of every rate that a link sets, and the products fit.
bool is_well_below(Rate a, Rate b, std::int64_t drift) {
  const U128 raised =
      static_cast<U128>(a.numerator) + static_cast<U128>(a.denominator) * static_cast<U128>(drift);
  return raised * static_cast<U128>(b.denominator) <
         static_cast<U128>(b.numerator) * static_cast<U128>(a.denominator);
}

}  // namespace

/// What a transfer gets in this settle() as far as it has come.
FlowNetwork::Solution FlowNetwork::present_solution(TransferId id) const {
  const Transfer& transfer = transfers_[id];
  const bool solved =
      transfer.solution < solutions_.size() && solutions_[transfer.solution].transfer == id;
  return solved ? solutions_[transfer.solution]
                : Solution{id, transfer.bottleneck, transfer.of_link, transfer.rate};
}

/// A link among those of the transfers that are solved for.
FlowNetwork::NearLink& FlowNetwork::near_link(LinkId link) {
  LinkMark& mark = marks_[link.index()];
  if (mark.visited < search_) {
    mark.visited = search_;
    mark.near = static_cast<std::uint32_t>(near_links_.size());
    NearLink near;
    near.link = link;
    near.was_full = mark.binds || mark.dirty;
    near.changed = mark.dirty;
    near.load = links_[link.index()].take.load();
    near.singles = links_[link.index()].take.singles();
    near_links_.push_back(near);
    near_capacities_[link.index()] =
        paths_.capacities()[link.index()] - links_[link.index()].take.total();
  }
  return near_links_[mark.near];
}

void FlowNetwork::reach(TransferId id) {
  Transfer& transfer = transfers_[id];
  if (transfer.visited == search_) {
    return;
  }
  add_to_component(id);
  const Rate rate = present_solution(id).rate;
  for (const ResourceUse& hop : paths_.hops(transfer.path)) {
    const LinkMark& mark = marks_[hop.resource];
    if (mark.visited < search_ && !mark.dirty && !mark.binds && transfer.booked) {
      continue;
    }
    NearLink& near = near_link(LinkId(hop.resource));
    if (transfer.booked) {
      near_capacities_[hop.resource] +=
          single_take(hop, rate) * LinkTake::singles_of(hop, transfer.terms);
    } else {
      near.changed = true;
      near.load += LinkTake::load_of(hop, transfer.terms);
      near.singles += LinkTake::singles_of(hop, transfer.terms);
      allow_for(near.singles);
    }
    uses_.push_back(hop);
  }
  use_ends_.push_back(uses_.size());
}

/// Solves for those reached. Whether it could.
bool FlowNetwork::solve_near() {
  flows_.clear();
  std::size_t first_use = 0;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    flows_.push_back(flow_of(components_[i], i, first_use));
    first_use = use_ends_[i];
    if (flows_.back().uses.empty() && flows_.back().cap == 0) {
      return false;
    }
  }
  for (NearLink& near : near_links_) {
    near.top = Rate();
    near.taken = 0;
    if (near_capacities_[near.link.index()] <= 0 ||
        LinkTake::is_narrow(near.load, paths_.capacities()[near.link.index()], drift_)) {
      return false;
    }
  }
  solver_.solve(near_capacities_, flows_, shares_);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const bool changed = compare(present_solution(components_[i]).rate, shares_[i].rate) != 0;
    for (const ResourceUse& hop : flows_[i].uses) {
      NearLink& near = near_links_[marks_[hop.resource].near];
      near.changed = near.changed || changed;
      const TransferTerms& terms = transfers_[components_[i]].terms;
      near.taken += static_cast<U128>(single_take(hop, shares_[i].rate)) *
                    static_cast<U128>(LinkTake::singles_of(hop, terms));
      if (is_less(near.top, shares_[i].rate)) {
        near.top = shares_[i].rate;
      }
    }
  }
  return true;
}

/// Whether a link gives no more, or so little that rounding decides.
bool FlowNetwork::is_used_up(const NearLink& near) const {
  const auto margin = static_cast<U128>(near.load) * static_cast<U128>(drift_);
  return solver_.exhausted(near.link.value()) ||
         near.taken + margin >= static_cast<U128>(near_capacities_[near.link.index()]);
}

/// Where nothing is left of a link and other links hold back all who are on it, as with ties: how fast those
/// are who give way. Requires: list_others().
Rate FlowNetwork::who_gives_way(const NearLink& near) const {
  Rate fastest;
  if (near_capacities_[near.link.index()] > 0) {
    return fastest;
  }
  for (const auto& [transfer, rate] : others_) {
    if (present_solution(transfer).bottleneck == near.link) {
      return Rate();
    }
    fastest = is_less(fastest, rate) ? rate : fastest;
  }
  return fastest;
}

/// Adds those of a link who may get another rate by what has changed there.
void FlowNetwork::spread_over(std::size_t number) {
  const NearLink near = near_links_[number];
  const bool solved_for = near.top.numerator > 0;
  const bool used_up = solved_for && is_used_up(near);
  const bool touched = near.changed && near.was_full;
  const bool held_back = touched && !near.asked;
  const bool counts = near.ties || (near.changed && (used_up || near.was_full));
  const bool as_high =
      solved_for && counts && (!near.known || !is_well_below(near.others, near.top, drift_));
  if (!held_back && !as_high) {
    return;
  }
  list_others(near.link);
  const Rate fastest = held_back ? who_gives_way(near) : Rate();
  const auto gives_way = [&](Rate rate) {
    return fastest.numerator > 0 && !is_well_below(rate, fastest, drift_);
  };
  Rate below;
  for (const auto& [transfer, rate] : others_) {
    // Whom another link held back, that one still does unless it has changed, too: then it is asked itself.
    const bool first =
        held_back && (gives_way(rate) || present_solution(transfer).bottleneck == near.link);
    const bool joins = as_high && !is_well_below(rate, near.top, drift_) &&
                       (used_up || !is_well_below(near.top, rate, drift_));
    if (first || joins) {
      reach(transfer);
    } else if (is_less(below, rate)) {
      below = rate;
    }
  }
  near_links_[number].known = true;
  near_links_[number].others = below;
  near_links_[number].asked = near.asked || held_back;
}

/// Those on a link who are not solved for, with their rates.
void FlowNetwork::list_others(LinkId link) {
  LinkState& state = links_[link.index()];
  drop_stale(state);
  others_.clear();
  for (const Occupant& occupant : state.occupants) {
    if (transfers_[occupant.transfer].visited != search_) {
      others_.emplace_back(occupant.transfer, present_solution(occupant.transfer).rate);
    }
  }
}

/// Whether something has on a link, in this search.
bool FlowNetwork::has_changed(LinkId link) const {
  const LinkMark& mark = marks_[link.index()];
  return mark.visited != search_ || near_links_[mark.near].changed;
}

/// Which link holds a transfer back (of several, the first in order); none: its cap. Where its rate is the
/// same, a link where nothing has changed still does if it did; `unsure`: that one has changed, and others
/// may have been as low.
std::optional<LinkId> FlowNetwork::bottleneck_of(TransferId id, const FairShare& share,
                                                 bool& unsure) const {
  const Transfer& transfer = transfers_[id];
  std::optional<LinkId> found;
  if (share.bottleneck < links_.size()) {
    found = LinkId(share.bottleneck);
  }
  const Solution before = present_solution(id);
  unsure = false;
  if (!transfer.booked || compare(before.rate, share.rate) != 0) {
    return found;
  }
  const Bandwidth cap = transfer.terms.cap;
  const bool by_cap = !before.of_link && cap > Bandwidth{} && compare(before.rate, Rate(cap)) == 0;
  // A link where nothing has changed holds it back if it did before. It may seem to by what others take
  // there who are not asked.
  const bool seems =
      found && !has_changed(*found) && !near_links_[marks_[found->index()].near].ties;
  if (by_cap) {
    unsure = seems;
    return found;
  }
  const bool found_first = found && paths_.comes_before(*found, before.bottleneck);
  unsure = has_changed(before.bottleneck) || (seems && found_first);
  return unsure || found_first ? found : before.bottleneck;
}

/// Where a transfer's bottleneck has changed and its rate has not, others of its links may have held it
/// back as well, together with transfers that are not solved for.
bool FlowNetwork::spread_over_ties() {
  bool any = false;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    bool unsure = false;
    (void)bottleneck_of(components_[i], shares_[i], unsure);
    if (!unsure) {
      continue;
    }
    for (const ResourceUse& hop : flows_[i].uses) {
      NearLink& near = near_links_[marks_[hop.resource].near];
      any = any || !near.ties;
      near.ties = true;
    }
  }
  return any;
}

bool FlowNetwork::settle_near() {
  if (weighted_ || narrow_ || to_solve_.size() > most_reached || dirty_.size() > most_dirty) {
    return false;
  }
  ++search_;
  first_search_ = search_;
  components_.clear();
  uses_.clear();
  use_ends_.clear();
  near_links_.clear();
  near_capacities_.resize(paths_.capacities().size());
  // First those that may use up links which did not bind; then the others' uses of these count, too.
  for (const TransferId id : to_solve_) {
    if (!transfers_[id].booked) {
      reach(id);
    }
  }
  for (const TransferId id : to_solve_) {
    reach(id);
  }
  for (const LinkId link : dirty_) {
    if (links_[link.index()].transfers != 0) {
      near_link(link).changed = true;
    }
  }
  spread_over_all();
  for (int round = 0; round < most_rounds && components_.size() <= most_reached; ++round) {
    if (!solve_near()) {
      return false;
    }
    if (!spread_over_all() && !spread_over_ties()) {
      take_near_solution();
      return true;
    }
  }
  return false;
}

/// Whether somebody joined.
bool FlowNetwork::spread_over_all() {
  const std::size_t before = components_.size();
  for (std::size_t i = 0; i < near_links_.size(); ++i) {
    spread_over(i);
  }
  return components_.size() > before;
}

void FlowNetwork::take_near_solution() {
  for (const LinkId link : dirty_) {
    marks_[link.index()].dirty = false;
  }
  dirty_.clear();
  to_solve_.clear();
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const TransferId id = components_[i];
    bool unsure = false;
    const std::optional<LinkId> bottleneck = bottleneck_of(id, shares_[i], unsure);
    set_solution(id, {id, bottleneck ? *bottleneck : paths_.full_rate(transfers_[id].path).link,
                      bottleneck.has_value(), shares_[i].rate});
  }
}

}  // namespace collsim
