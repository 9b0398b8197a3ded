#include "topology/leg_memory.hpp"

#include <algorithm>
#include <bit>

namespace collsim {

namespace {

constexpr std::size_t legs_of_gpu = 16;
constexpr std::size_t most_legs = std::size_t{1} << 17U;

}  // namespace

LegMemory::LegMemory(std::size_t gpus)
    : entries_(std::bit_ceil(std::clamp(gpus * legs_of_gpu, legs_of_gpu, most_legs))) {}

std::size_t LegMemory::place_of(const Key& key) const {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15U;  // Fibonacci hashing: 2^64 / golden ratio
  constexpr unsigned half = 32;
  std::uint64_t hash = ((std::uint64_t{key.from.value()} << half) | key.to.value()) * odd;
  hash = ((hash ^ (hash >> half)) + key.connection) * odd;
  return (hash >> half) & (entries_.size() - 1);
}

std::optional<LegMemory::Leg> LegMemory::find(const Key& key) const {
  const std::size_t place = place_of(key);
  for (const std::size_t at : {place, place ^ 1U}) {
    const Entry& entry = entries_[at];
    if (entry.key == key && entry.count != unused) {
      return Leg{{entry.links.data(), entry.count}, entry.latency};
    }
  }
  return std::nullopt;
}

void LegMemory::keep(const Key& key, std::span<const LinkId> links, Duration latency) {
  if (links.size() > most_links) {
    return;
  }
  // Of two neighbours one makes room for the other, and the newest one stands in its own place.
  const std::size_t place = place_of(key);
  entries_[place ^ 1U] = entries_[place];
  Entry& entry = entries_[place];
  entry.key = key;
  entry.count = static_cast<std::uint32_t>(links.size());
  entry.latency = latency;
  std::ranges::copy(links, entry.links.begin());
}

}  // namespace collsim
