#include "topology/leg_memory.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace collsim {

namespace {

constexpr std::size_t legs_of_gpu = 32;
constexpr std::size_t first_legs = 64;
constexpr std::size_t ways =
    4;  ///< places where a leg may stand: those of numbers alike but for the last bits
constexpr std::size_t most_legs = std::size_t{1} << 17U;

}  // namespace

LegMemory::LegMemory(std::size_t gpus)
    : entries_(first_legs),
      most_(std::bit_ceil(std::clamp(gpus * legs_of_gpu, first_legs, most_legs))) {}

std::size_t LegMemory::place_of(const Key& key) const {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15U;  // Fibonacci hashing: 2^64 / golden ratio
  constexpr unsigned half = 32;
  std::uint64_t hash = ((std::uint64_t{key.from.value()} << half) | key.to.value()) * odd;
  hash = ((hash ^ (hash >> half)) + key.connection) * odd;
  return (hash >> half) & (entries_.size() - 1);
}

std::optional<LegMemory::Leg> LegMemory::find(const Key& key) const {
  const std::size_t place = place_of(key);
  for (std::size_t way = 0; way < ways; ++way) {
    const Entry& entry = entries_[place ^ way];
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
  if (used_ > entries_.size() / 2 && entries_.size() < most_) {
    grow();
  }
  Entry entry;
  entry.key = key;
  entry.count = static_cast<std::uint32_t>(links.size());
  entry.latency = latency;
  std::ranges::copy(links, entry.links.begin());
  put(entry);
}

/// The newest one stands in its own place. Whoever was there moves on, and so do those behind.
void LegMemory::put(const Entry& entry) {
  const std::size_t place = place_of(entry.key);
  Entry moving = entry;
  for (std::size_t way = 0; way < ways; ++way) {
    std::swap(moving, entries_[place ^ way]);
    if (moving.count == unused) {
      ++used_;
      return;
    }
  }
}

void LegMemory::grow() {
  const std::vector<Entry> before =
      std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
  used_ = 0;
  for (const Entry& entry : before) {
    if (entry.count != unused) {
      put(entry);
    }
  }
}

}  // namespace collsim
