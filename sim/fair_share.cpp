#include "sim/fair_share.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "topology/error.hpp"

namespace collsim {

namespace {

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw FractionOverflow("a fair share's fraction exceeds 64 bits");
  }
  return product;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw FractionOverflow("a fair share's fraction exceeds 64 bits");
  }
  return sum;
}

/// Adds what made the fractions so large: parts of 1/3432 where routes are sprayed over so many paths.
FractionOverflow with_parts(const FractionOverflow& error, std::span<const FairShareFlow> flows) {
  std::uint32_t most = 1;
  for (const FairShareFlow& flow : flows) {
    for (const ResourceUse& use : flow.uses) {
      most = std::max(most, use.denominator);
    }
  }
  if (most == 1) {
    return error;
  }
  return FractionOverflow(std::string(error.what()) + "; " + std::to_string(flows.size()) +
                          (flows.size() == 1 ? " transfer" : " transfers at once") +
                          ", in parts as small as 1/" + std::to_string(most));
}

/// weight · multiplicity · a, in units of 1 / scale.
std::int64_t load_of(const FairShareFlow& flow, const ResourceUse& use, std::int64_t scale) {
  return checked_product(
      checked_product(checked_product(flow.weight, flow.multiplicity), use.crowd),
      checked_product(use.numerator, scale / use.denominator));
}

U128 divide_up(U128 numerator, U128 denominator) {
  constexpr U128 narrow = ~std::uint64_t{0};
  if (denominator == 1) {
    return numerator;
  }
  const U128 raised = numerator + (denominator - 1);
  if (raised <= narrow && denominator <= narrow) {
    return static_cast<std::uint64_t>(raised) / static_cast<std::uint64_t>(denominator);
  }
  return raised / denominator;
}

/// Of a flow that is frozen at a level.
Rate rate_at(Rate level, const FairShareFlow& flow) {
  return flow.weight == 1 ? level : exact_rate(level.numerator, flow.weight, level.denominator);
}

/// What all single flows of `flow` take.
std::int64_t take_of(const FairShareFlow& flow, const ResourceUse& use, Rate rate) {
  return checked_product(checked_product(single_take(use, rate), flow.multiplicity), use.crowd);
}

}  // namespace

std::int64_t fractional_take(const ResourceUse& use, Rate rate) {
  const U128 numerator = static_cast<U128>(rate.numerator) * use.numerator;
  const U128 denominator = static_cast<U128>(rate.denominator) * use.denominator;
  // At most what was left of the resource, so it fits.
  return static_cast<std::int64_t>(divide_up(numerator, denominator));
}

Rate exact_rate(std::int64_t factor, std::int64_t other_factor, std::int64_t divisor) {
  if (divisor == 1) {
    return {checked_product(factor, other_factor), 1};  // nearly always
  }
  if (factor % divisor == 0) {
    return {checked_product(factor / divisor, other_factor), 1};
  }
  const std::int64_t common = std::gcd(factor, divisor);
  factor /= common;
  divisor /= common;
  const std::int64_t other_common = std::gcd(other_factor, divisor);
  return {checked_product(factor, other_factor / other_common), divisor / other_common};
}

Rate divided(Rate rate, std::uint32_t divisor) {
  const Rate part = exact_rate(rate.numerator, 1, divisor);
  return {part.numerator, checked_product(part.denominator, rate.denominator)};
}

// A sparse set: slot_of_resource_ needs no clearing, because an entry counts only if the slot it
// names says the same resource.
std::uint32_t FairShareSolver::slot_of(std::uint32_t number, std::int64_t capacity) {
  std::uint32_t& slot = slot_of_resource_[number];
  if (slot < resources_.size() && resources_[slot].number == number) {
    return slot;
  }
  slot = static_cast<std::uint32_t>(resources_.size());
  Resource& resource = resources_.emplace_back();
  resource.number = number;
  resource.remaining = capacity;
  resource.spare = capacity;
  return slot;
}

void FairShareSolver::collect(std::span<const std::int64_t> capacities,
                              std::span<const FairShareFlow> flows) {
  if (slot_of_resource_.size() < capacities.size()) {
    slot_of_resource_.resize(capacities.size());
  }
  resources_.clear();
  slot_of_use_.clear();
  first_use_.clear();
  auto next_cap = static_cast<std::uint32_t>(capacities.size());
  for (const FairShareFlow& flow : flows) {
    first_use_.push_back(static_cast<std::uint32_t>(slot_of_use_.size()));
    for (const ResourceUse& use : flow.uses) {
      const std::uint32_t slot = slot_of(use.resource, capacities[use.resource]);
      Resource& resource = resources_[slot];
      if (resource.scale % use.denominator != 0) {
        const std::int64_t factor =
            use.denominator / std::gcd<std::int64_t>(resource.scale, use.denominator);
        resource.scale = checked_product(resource.scale, factor);
        resource.load = checked_product(resource.load, factor);
      }
      resource.load = checked_sum(resource.load, load_of(flow, use, resource.scale));
      ++resource.flow_count;
      slot_of_use_.push_back(slot);
    }
    if (flow.cap != 0) {
      add_cap(next_cap++, flow);
    }
  }
  first_use_.push_back(static_cast<std::uint32_t>(slot_of_use_.size()));
}

/// A cap is a resource of the flow's own, behind those it uses.
void FairShareSolver::add_cap(std::uint32_t number, const FairShareFlow& flow) {
  slot_of_use_.push_back(static_cast<std::uint32_t>(resources_.size()));
  Resource resource;
  resource.number = number;
  resource.remaining = checked_product(flow.cap, flow.multiplicity);
  resource.load = checked_product(flow.weight, flow.multiplicity);
  resource.flow_count = 1;
  resources_.push_back(resource);
}

FairShareSolver::OwnLimit FairShareSolver::own_limit(std::uint32_t flow) const {
  OwnLimit limit;
  for (std::uint32_t use = first_use_[flow]; use < first_use_[flow + 1]; ++use) {
    const std::uint32_t slot = slot_of_use_[use];
    const Resource& resource = resources_[slot];
    if (resource.flow_count != 1) {
      continue;
    }
    const Rate level = share_of(resource);
    const auto order = limit.found ? compare(level, limit.level) : std::strong_ordering::less;
    if (order < 0 ||
        (order == 0 && place_of(resource.number) < place_of(resources_[limit.slot].number))) {
      limit = {level, slot, true};
    }
  }
  return limit;
}

/// Takes off the resources that a flow shares what it can get of them at most.
void FairShareSolver::spare_what_is_left(std::uint32_t flow, const FairShareFlow& definition) {
  const OwnLimit& limit = own_limits_[flow];
  for (std::size_t i = 0; i < definition.uses.size(); ++i) {
    Resource& resource = resources_[slot_of_use_[first_use_[flow] + i]];
    if (resource.flow_count == 1 || resource.spare <= 0) {
      continue;
    }
    const ResourceUse& use = definition.uses[i];
    const U128 single =
        limit.found ? divide_up(static_cast<U128>(limit.level.numerator) * use.numerator *
                                    definition.weight,
                                static_cast<U128>(limit.level.denominator) * use.denominator)
                    : static_cast<U128>(resource.spare);
    const auto singles = std::uint64_t{definition.multiplicity} * use.crowd;
    const auto spare = static_cast<std::uint64_t>(resource.spare);
    const bool fits = single < spare && single * singles < spare;
    resource.spare = fits ? static_cast<std::int64_t>(spare - single * singles) : 0;
  }
}

bool FairShareSolver::is_limited_by_others(std::uint32_t flow) const {
  for (std::uint32_t use = first_use_[flow]; use < first_use_[flow + 1]; ++use) {
    const Resource& resource = resources_[slot_of_use_[use]];
    if (resource.flow_count != 1 && resource.spare <= 0) {
      return true;
    }
  }
  return !own_limits_[flow].found;
}

/// Freezes the flows that get what is theirs alone, and finds the resources that others may have their
/// bottlenecks in. Returns how many flows are left.
std::size_t FairShareSolver::leave_out(std::span<const FairShareFlow> flows,
                                       std::vector<FairShare>& shares) {
  own_limits_.clear();
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    own_limits_.push_back(own_limit(flow));
    spare_what_is_left(flow, flows[flow]);
  }
  for (Resource& resource : resources_) {
    resource.filled = resource.flow_count != 1 && resource.spare <= 0;
  }
  std::size_t left = flows.size();
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    const OwnLimit& limit = own_limits_[flow];
    if (is_limited_by_others(flow)) {
      if (limit.found) {
        resources_[limit.slot].filled = true;
      }
      continue;
    }
    const Rate level = exact_rate(limit.level.numerator, 1, limit.level.denominator);
    shares[flow] = {rate_at(level, flows[flow]), resources_[limit.slot].number};
    resources_[limit.slot].frozen = true;
    flow_frozen_[flow] = 1;
    --left;
  }
  return left;
}

void FairShareSolver::list_flows_of_resources(std::size_t flows) {
  std::uint32_t next = 0;
  for (Resource& resource : resources_) {
    if (resource.filled) {
      resource.first_flow = next;
      next += resource.flow_count;
      resource.flow_count = 0;
    }
  }
  flows_of_resources_.resize(next);
  for (std::uint32_t flow = 0; flow < flows; ++flow) {
    if (flow_frozen_[flow] != 0) {
      continue;
    }
    for (std::uint32_t use = first_use_[flow]; use < first_use_[flow + 1]; ++use) {
      Resource& resource = resources_[slot_of_use_[use]];
      if (resource.filled) {
        flows_of_resources_[resource.first_flow + resource.flow_count++] = flow;
      }
    }
  }
}

Rate FairShareSolver::share_of(const Resource& resource) const {
  if (resource.floor.numerator != 0) {
    return resource.floor;
  }
  return resource.scale == 1 ? Rate(resource.remaining, resource.load)
                             : exact_rate(resource.remaining, resource.scale, resource.load);
}

FairShareSolver::Entry FairShareSolver::new_entry(std::uint32_t slot) {
  Resource& resource = resources_[slot];
  resource.share = share_of(resource);
  resource.raised = false;
  return {resource.share, resource.number, place_of(resource.number), slot, ++resource.entry};
}

namespace {

/// The order of a heap with the least share in front; equal ones by place.
struct ComesAfter {
  template <class Entry>
  bool operator()(const Entry& a, const Entry& b) const {
    const auto order = compare(a.share, b.share);
    return order != 0 ? order > 0 : a.place > b.place;
  }
};

}  // namespace

void FairShareSolver::pop_front() {
  std::pop_heap(heap_.begin(), heap_.end(), ComesAfter{});
  heap_.pop_back();
}

/// Makes the entry in front one that is up to date. Shares hardly ever fall (by rounding alone), so
/// one that was raised waits until it comes to the front.
void FairShareSolver::bring_up_front() {
  while (!heap_.empty()) {
    const Entry front = heap_.front();
    const Resource& resource = resources_[front.slot];
    const bool is_void = front.entry != resource.entry || resource.load == 0;
    if (!is_void && !resource.raised) {
      return;
    }
    pop_front();
    if (!is_void) {
      heap_.push_back(new_entry(front.slot));
      std::push_heap(heap_.begin(), heap_.end(), ComesAfter{});
    }
  }
}

void FairShareSolver::find_bottlenecks() {
  bottlenecks_.clear();
  bring_up_front();
  COLLSIM_ENSURE(!heap_.empty(), "a flow that is not frozen has no resource left");
  const Rate level = heap_.front().share;
  while (!heap_.empty() && compare(heap_.front().share, level) == 0) {
    bottlenecks_.push_back(heap_.front());
    resources_[heap_.front().slot].frozen = true;
    pop_front();
    bring_up_front();
  }
}

void FairShareSolver::freeze(std::uint32_t flow, const FairShareFlow& definition,
                             const FairShare& share) {
  flow_frozen_[flow] = 1;
  for (std::size_t i = 0; i < definition.uses.size(); ++i) {
    const std::uint32_t slot = slot_of_use_[first_use_[flow] + i];
    Resource& resource = resources_[slot];
    if (!resource.filled || resource.frozen) {
      continue;
    }
    const ResourceUse& use = definition.uses[i];
    resource.load -= load_of(definition, use, resource.scale);
    // Nobody asks for what is left of a resource without unfrozen flows.
    if (resource.load > 0) {
      resource.remaining -= take_of(definition, use, share.rate);
    }
    if (!resource.touched) {
      resource.touched = true;
      touched_.push_back(slot);
    }
  }
  if (definition.cap != 0) {
    // Nobody else is limited by it.
    ++resources_[slot_of_use_[first_use_[flow] + definition.uses.size()]].entry;
  }
}

void FairShareSolver::update_touched(Rate level) {
  for (const std::uint32_t slot : touched_) {
    Resource& resource = resources_[slot];
    resource.touched = false;
    if (resource.load == 0) {
      continue;
    }
    if (resource.remaining <= 0 && resource.floor.numerator == 0) {
      resource.floor = level;
    }
    if (compare(share_of(resource), resource.share) >= 0) {
      resource.raised = true;
      continue;
    }
    heap_.push_back(new_entry(slot));
    std::push_heap(heap_.begin(), heap_.end(), ComesAfter{});
  }
  touched_.clear();
}

void FairShareSolver::solve(std::span<const std::int64_t> capacities,
                            std::span<const FairShareFlow> flows, std::vector<FairShare>& shares) {
  try {
    fill(capacities, flows, shares);
  } catch (const FractionOverflow& error) {
    throw with_parts(error, flows);
  }
}

void FairShareSolver::fill(std::span<const std::int64_t> capacities,
                           std::span<const FairShareFlow> flows, std::vector<FairShare>& shares) {
  shares.resize(flows.size());
  collect(capacities, flows);
  flow_frozen_.assign(flows.size(), 0);
  std::size_t unfrozen = leave_out(flows, shares);
  if (unfrozen == 0) {
    return;
  }
  list_flows_of_resources(flows.size());
  heap_.clear();
  for (std::uint32_t slot = 0; slot < resources_.size(); ++slot) {
    if (resources_[slot].filled) {
      heap_.push_back(new_entry(slot));
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), ComesAfter{});
  while (unfrozen > 0) {
    find_bottlenecks();
    const Rate level =
        exact_rate(bottlenecks_.front().share.numerator, 1, bottlenecks_.front().share.denominator);
    for (const Entry& bottleneck : bottlenecks_) {
      const Resource& resource = resources_[bottleneck.slot];
      for (std::uint32_t i = 0; i < resource.flow_count; ++i) {
        const std::uint32_t flow = flows_of_resources_[resource.first_flow + i];
        if (flow_frozen_[flow] != 0) {
          continue;
        }
        shares[flow] = {rate_at(level, flows[flow]), bottleneck.number};
        freeze(flow, flows[flow], shares[flow]);
        --unfrozen;
      }
    }
    update_touched(level);
  }
}

}  // namespace collsim
