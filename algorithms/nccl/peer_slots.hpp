#pragma once
// Slots of lanes that exchange with every other rank: classes of one slot for each peer, the ranks
// behind the own one first. A slot's number is the same at both ends.

#include <cstdint>

#include "algorithms/program.hpp"

namespace collsim::nccl {

class PeerSlots {
 public:
  /// Requires: at least 2 ranks.
  explicit PeerSlots(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t peers() const { return ranks_ - 1; }
  [[nodiscard]] SlotRange all(std::uint32_t number) const { return {number * peers(), peers()}; }
  [[nodiscard]] SlotRange one(std::uint32_t number, std::uint64_t peer) const {
    return {number * peers() + static_cast<std::uint32_t>(peer), 1};
  }
  /// Whom a send slot of a rank sends to.
  [[nodiscard]] Rank receiver(Rank rank, std::uint32_t slot) const {
    return Rank((rank.value() + 1 + slot % peers()) % ranks_);
  }
  /// Whom a receive slot of a rank receives from.
  [[nodiscard]] Rank sender(Rank rank, std::uint32_t slot) const {
    return Rank((rank.value() + ranks_ - 1 - slot % peers()) % ranks_);
  }

 private:
  std::uint32_t ranks_;
};

}  // namespace collsim::nccl
