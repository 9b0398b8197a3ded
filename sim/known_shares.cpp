#include "sim/known_shares.hpp"

#include <algorithm>

namespace collsim {

namespace {

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every bit of the input moves every bit
// of the output, so that sums of hashes collide no more often than random numbers.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e37'79b9'7f4a'7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d0'49bb'1331'11ebU;
  return value ^ (value >> 31U);
}

}  // namespace

FlowKind flow_kind(std::uint64_t route, const TransferTerms& terms) {
  const std::uint64_t counts =
      (std::uint64_t{terms.weight} << 32U) | std::uint64_t{terms.multiplicity};
  const auto cap = static_cast<std::uint64_t>(terms.cap.units());
  return {mixed(mixed(mixed(route) ^ counts) ^ cap), route, terms};
}

std::span<const KnownShares::Share> KnownShares::find(std::span<const FlowKind> flows,
                                                      std::uint64_t hash) const {
  const auto found = places_.find(hash);
  if (found == places_.end()) {
    return {};
  }
  const Place place = found->second;
  const std::span<const FlowKind> known(flows_.data() + place.first, place.count);
  if (!std::ranges::equal(known, flows)) {
    return {};
  }
  return {shares_.data() + place.first, place.count};
}

std::span<KnownShares::Share> KnownShares::add(std::span<const FlowKind> flows,
                                               std::uint64_t hash) {
  if (flows_.size() + flows.size() > most_) {
    forget();
  }
  const Place place{flows_.size(), flows.size()};
  places_[hash] = place;
  flows_.insert(flows_.end(), flows.begin(), flows.end());
  shares_.resize(flows_.size());
  return {shares_.data() + place.first, place.count};
}

void KnownShares::forget() {
  places_.clear();
  flows_.clear();
  shares_.clear();
}

}  // namespace collsim
