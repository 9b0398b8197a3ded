// Direct exchange: every pair of ranks that has something to say to each other does so itself, all
// at once. One lane a peer: lane l sends to rank + 1 + l and receives from rank - 1 - l.
//
//   all_gather      the own block to everyone
//   all_to_all      block p to rank p
//   reduce_scatter  block p to rank p, which adds up what arrives in one step
//   all_reduce      two shots: reduce_scatter, then all_gather; or in one shot (direct-one-shot):
//                   the whole buffer to everyone, and everyone adds up all of them
//   gather, scatter between the root and everyone, as in `naive`
//   send_recv       to rank + 1, from rank - 1
//
// Source: the one-shot and two-shot all-reduce of MSCCL++ (test/mscclpp-test) and of TensorRT-LLM.

#include <utility>

#include "algorithms/flat.hpp"
#include "algorithms/rank_circle.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Rank arithmetic: who is served by which lane.
class EachToEach : public Pattern {
 public:
  explicit EachToEach(std::uint32_t ranks) : ranks_(ranks) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint64_t messages() const override {
    return std::uint64_t{ranks_} * (ranks_ - 1);
  }

 protected:
  [[nodiscard]] Rank receiver(Rank rank, std::uint32_t lane) const {
    return after(rank, 1 + lane, ranks_);
  }
  [[nodiscard]] Rank sender(Rank rank, std::uint32_t lane) const {
    return before(rank, 1 + lane, ranks_);
  }

 private:
  std::uint32_t ranks_;
};

/// Lane l sends one block and receives one; lane 0 first copies the rank's own.
class DirectExchange : public EachToEach {
 public:
  using EachToEach::EachToEach;

  [[nodiscard]] std::uint32_t blocks() const override { return ranks(); }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return ranks() - 1; }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t lane) const override {
    return copies_first(lane) ? 3 : 2;
  }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane, std::uint32_t) const override {
    return {receiver(rank, lane), lane, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t) const override {
    return {sender(rank, lane), lane, 0};
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index,
                          const Part& part) const override {
    const std::uint64_t copies = copies_first(lane) ? 1 : 0;
    Step step;
    if (index < copies) {
      step.source = sent(part, rank, rank);
      step.destination = received(part, rank);
    } else if (index == copies) {
      step.source = sent(part, rank, receiver(rank, lane));
      step.sends = {0, 1};
    } else {
      step.receives = {0, 1};
      step.destination = received(part, sender(rank, lane));
    }
    step.bytes = step.source ? step.source->total : step.destination->total;
    return step;
  }

 protected:
  /// What `rank` has for `receiver`, and where what comes from `sender` goes.
  [[nodiscard]] virtual Span sent(const Part& part, Rank rank, Rank receiver) const = 0;
  [[nodiscard]] virtual Span received(const Part& part, Rank sender) const = 0;
  [[nodiscard]] virtual bool copies_own() const = 0;

 private:
  [[nodiscard]] bool copies_first(std::uint32_t lane) const { return lane == 0 && copies_own(); }
};

class DirectAllGather final : public DirectExchange {
 public:
  DirectAllGather(std::uint32_t ranks, Place from, Place to)
      : DirectExchange(ranks), from_(from), to_(to) {}

 protected:
  [[nodiscard]] Span sent(const Part& part, Rank rank, Rank) const override {
    return part.blocks(from_, rank.value());
  }
  [[nodiscard]] Span received(const Part& part, Rank sender) const override {
    return part.blocks(to_, sender.value());
  }
  [[nodiscard]] bool copies_own() const override { return from_ != to_; }

 private:
  Place from_;
  Place to_;
};

class DirectAllToAll final : public DirectExchange {
 public:
  using DirectExchange::DirectExchange;

 protected:
  [[nodiscard]] Span sent(const Part& part, Rank, Rank receiver) const override {
    return part.blocks(all_blocks(Buffer::Input), receiver.value());
  }
  [[nodiscard]] Span received(const Part& part, Rank sender) const override {
    return part.blocks(all_blocks(Buffer::Output), sender.value());
  }
  [[nodiscard]] bool copies_own() const override { return true; }
};

/// n - 1 lanes that send and a last one that adds up what arrives in one step: slot s is for what
/// lane s of its sender sends.
class DirectReduction : public EachToEach {
 public:
  using EachToEach::EachToEach;

  [[nodiscard]] std::uint32_t lanes(Rank) const override { return ranks(); }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t lane) const override {
    return lane == last_lane() ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t lane) const override {
    return lane == last_lane() ? ranks() - 1 : 0;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane, std::uint32_t) const override {
    return {receiver(rank, lane), last_lane(), lane};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t,
                                        std::uint32_t slot) const override {
    return {sender(rank, slot), slot, 0};
  }

 protected:
  [[nodiscard]] std::uint32_t last_lane() const { return ranks() - 1; }
};

class DirectReduceScatter final : public DirectReduction {
 public:
  DirectReduceScatter(std::uint32_t ranks, Place to) : DirectReduction(ranks), to_(to) {}

  [[nodiscard]] std::uint32_t blocks() const override { return ranks(); }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t,
                          const Part& part) const override {
    const bool reduces = lane == last_lane();
    const Rank owner = reduces ? rank : receiver(rank, lane);
    Step step;
    step.bytes = part.bytes_of(owner.value());
    step.source = part.blocks(all_blocks(Buffer::Input), owner.value());
    if (reduces) {
      step.receives = {0, ranks() - 1};
      step.destination = part.blocks(to_, owner.value());
    } else {
      step.sends = {0, 1};
    }
    return step;
  }

 private:
  Place to_;
};

class DirectOneShot final : public DirectReduction {
 public:
  using DirectReduction::DirectReduction;

  [[nodiscard]] std::uint32_t blocks() const override { return 1; }
  [[nodiscard]] std::uint64_t phases() const override { return 2; }
  [[nodiscard]] Step step(Rank, std::uint32_t lane, std::uint64_t,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0);
    step.source = part.blocks(all_blocks(Buffer::Input), 0);
    if (lane == last_lane()) {
      // In place, the sum must not replace the contribution before that has been sent.
      step.phase = 1;
      step.join = 0;
      step.receives = {0, ranks() - 1};
      step.destination = part.blocks(all_blocks(Buffer::Output), 0);
    } else {
      step.sends = {0, 1};
    }
    return step;
  }
};

/// Everyone sends the whole input to the next rank.
class Shift final : public EachToEach {
 public:
  using EachToEach::EachToEach;

  [[nodiscard]] std::uint32_t blocks() const override { return 1; }
  [[nodiscard]] std::uint32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] std::uint64_t steps(Rank, std::uint32_t) const override { return 2; }
  [[nodiscard]] std::uint64_t messages() const override { return ranks(); }
  [[nodiscard]] std::uint32_t send_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t receive_slots(Rank, std::uint32_t) const override { return 1; }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {receiver(rank, 0), 0, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t, std::uint32_t) const override {
    return {sender(rank, 0), 0, 0};
  }
  [[nodiscard]] Step step(Rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    Step step;
    step.bytes = part.bytes_of(0);
    if (index == 0) {
      step.source = part.blocks(all_blocks(Buffer::Input), 0);
      step.sends = {0, 1};
    } else {
      step.receives = {0, 1};
      step.destination = part.blocks(all_blocks(Buffer::Output), 0);
    }
    return step;
  }
};

std::unique_ptr<Pattern> pattern_for(const CollectiveCall& call) {
  const std::uint32_t n = call.ranks;
  const Place input = all_blocks(Buffer::Input);
  const Place output = all_blocks(Buffer::Output);
  const Place own_input = own_block(Buffer::Input);
  const Place own_output = own_block(Buffer::Output);
  switch (call.kind) {
    case CollectiveKind::AllGather:
      return std::make_unique<DirectAllGather>(n, own_input, output);
    case CollectiveKind::AllToAll:
      return std::make_unique<DirectAllToAll>(n);
    case CollectiveKind::ReduceScatter:
      return std::make_unique<DirectReduceScatter>(n, own_output);
    case CollectiveKind::AllReduce:
      return then(std::make_unique<DirectReduceScatter>(n, output),
                  std::make_unique<DirectAllGather>(n, output, output));
    case CollectiveKind::Scatter:
      return flat_scatter(n, call.root, input, own_output);
    case CollectiveKind::Gather:
      return flat_gather(n, call.root, own_input, output);
    case CollectiveKind::SendRecv:
      return std::make_unique<Shift>(n);
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
      break;
  }
  COLLSIM_ENSURE(false, "direct does not implement this collective");
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  return partition("direct", request.call, pattern_for(request.call), request.channels,
                   request.chunks);
}

std::unique_ptr<Program> build_one_shot(const ProgramRequest& request) {
  return partition("direct-one-shot", request.call,
                   std::make_unique<DirectOneShot>(request.call.ranks), request.channels,
                   request.chunks);
}

}  // namespace

Algorithm direct() {
  using enum CollectiveKind;
  return {"direct",
          "every pair of ranks at once: one message of latency, all links in use",
          {AllReduce, AllGather, ReduceScatter, AllToAll, Scatter, Gather, SendRecv},
          no_obstacle,
          build};
}

Algorithm direct_one_shot() {
  return {"direct-one-shot",
          "everyone sends everything to everyone: the quickest for a few bytes",
          {CollectiveKind::AllReduce},
          no_obstacle,
          build_one_shot};
}

}  // namespace collsim
