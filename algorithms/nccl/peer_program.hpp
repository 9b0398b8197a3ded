#pragma once
// Programs whose ranks exchange with every other rank, without staging buffers: slots in classes of one
// for each peer, the ranks behind the own one first, and barriers over all. A slot's number is the same at both
// ends, on lanes of the same number.

#include <cstdint>

#include "algorithms/program.hpp"

namespace collsim::nccl {

class PeerProgram : public Program {
 public:
  [[nodiscard]] const CollectiveCall& call() const override { return call_; }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return {receiver(rank, slot), lane, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return {sender(rank, slot), lane, slot};
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(0); }
  [[nodiscard]] std::uint32_t chunks() const override { return 1; }

 protected:
  /// Requires: at least 2 ranks.
  explicit PeerProgram(const CollectiveCall& call) : call_(call) {}

  [[nodiscard]] std::uint32_t others() const { return call_.ranks - 1; }
  [[nodiscard]] SlotRange all(std::uint32_t number) const { return {number * others(), others()}; }
  [[nodiscard]] SlotRange one(std::uint32_t number, std::uint64_t peer) const {
    return {number * others() + static_cast<std::uint32_t>(peer), 1};
  }
  /// Whom a send slot of a rank sends to.
  [[nodiscard]] Rank receiver(Rank rank, std::uint32_t slot) const {
    return Rank((rank.value() + 1 + slot % others()) % call_.ranks);
  }
  /// Whom a receive slot of a rank receives from.
  [[nodiscard]] Rank sender(Rank rank, std::uint32_t slot) const {
    return Rank((rank.value() + call_.ranks - 1 - slot % others()) % call_.ranks);
  }

  // The two steps of a barrier, on a class of slots: messages without bytes.
  [[nodiscard]] Step signal(std::uint32_t number) const {
    Step step;
    step.source = Span::contiguous(Buffer::Input, Bytes(0), Bytes(0));
    step.sends = all(number);
    return step;
  }
  [[nodiscard]] Step await(std::uint32_t number) const {
    Step step;
    step.receives = all(number);
    step.destination = Span::contiguous(Buffer::Output, Bytes(0), Bytes(0));
    return step;
  }

 private:
  CollectiveCall call_;
};

}  // namespace collsim::nccl
