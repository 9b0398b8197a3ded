#include "algorithms/nccl/copy_engine_program.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/nccl/peer_slots.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t copies_between_barriers = 8;
constexpr Bytes least_for_barriers(std::int64_t{512} << 20);

class CopyEngineProgram final : public Program {
 public:
  explicit CopyEngineProgram(const CollectiveCall& call);

  [[nodiscard]] const CollectiveCall& call() const override { return call_; }
  [[nodiscard]] std::string_view algorithm() const override { return "nccl-ce"; }
  [[nodiscard]] std::uint32_t lane_count(Rank) const override { return 1; }
  [[nodiscard]] Lane lane(Rank, std::uint32_t) const override {
    Lane lane;
    lane.protocol = WireProtocol::Simple;
    lane.kernel = Kernel::CopyEngine;
    lane.threads = 1;  // of the host: no block's
    return lane;
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t) const override {
    return plans_[kind_of(rank)].size();
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return {slots_.receiver(rank, slot), lane, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return {slots_.sender(rank, slot), lane, slot};
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(0); }
  [[nodiscard]] std::uint32_t channels() const override { return 1; }
  [[nodiscard]] std::uint32_t chunks() const override { return 1; }
  [[nodiscard]] std::uint64_t transfer_count() const override;

 private:
  enum class Action : std::uint8_t { Signal, Await, CopyOwn, Copy, Take };
  struct Planned {
    Action action{};
    std::uint32_t slot{0};  ///< of a copy; the class of slots of a barrier
  };
  using Plan = std::vector<Planned>;

  /// The slots of the data; those of barriers are behind.
  static constexpr std::uint32_t data = 0;

  [[nodiscard]] bool sends(Rank from, Rank to) const {
    return (call_.kind != CollectiveKind::Gather || to == call_.root) &&
           (call_.kind != CollectiveKind::Scatter || from == call_.root);
  }
  /// Ranks of a gather or scatter differ by their distance from the root; others are all alike.
  [[nodiscard]] std::size_t kind_of(Rank rank) const {
    return plans_.size() == 1 ? 0 : rank.index();
  }
  [[nodiscard]] Plan plan_of(Rank rank) const;
  /// Where the block of a peer is.
  [[nodiscard]] Span span(Buffer buffer, Rank peer) const;

  CollectiveCall call_;
  PeerSlots slots_;
  std::uint32_t barriers_between_{0};
  std::vector<Plan> plans_{};
};

CopyEngineProgram::CopyEngineProgram(const CollectiveCall& call) : call_(call), slots_(call.ranks) {
  const bool rooted = has_root(call.kind);
  const std::uint32_t copies = slots_.peers();
  if (!rooted && copies >= copies_between_barriers &&
      call.block() * std::int64_t{copies} >= least_for_barriers) {
    barriers_between_ = (copies - 1) / copies_between_barriers;
  }
  for (std::uint32_t rank = 0; rank < (rooted ? call.ranks : 1); ++rank) {
    plans_.push_back(plan_of(Rank(rank)));
  }
}

CopyEngineProgram::Plan CopyEngineProgram::plan_of(Rank rank) const {
  Plan plan;
  std::uint32_t slots = data;
  const auto barrier = [&] {
    ++slots;
    plan.push_back({Action::Signal, slots});
    plan.push_back({Action::Await, slots});
  };
  barrier();
  if (sends(rank, rank) && call_.in_place == InPlace::No) {
    plan.push_back({Action::CopyOwn, 0});
  }
  for (std::uint32_t peer = 0; peer < slots_.peers(); ++peer) {
    if (barriers_between_ > 0 && peer > 0 && peer % copies_between_barriers == 0) {
      barrier();
    }
    if (sends(rank, slots_.receiver(rank, peer))) {
      plan.push_back({Action::Copy, peer});
    }
  }
  for (std::uint32_t peer = 0; peer < slots_.peers(); ++peer) {
    if (sends(slots_.sender(rank, peer), rank)) {
      plan.push_back({Action::Take, peer});
    }
  }
  barrier();
  return plan;
}

Span CopyEngineProgram::span(Buffer buffer, Rank peer) const {
  using enum CollectiveKind;
  const bool input = buffer == Buffer::Input;
  const bool a_block_a_rank = call_.kind == AllToAll || (call_.kind == Scatter && input) ||
                              ((call_.kind == Gather || call_.kind == AllGather) && !input);
  const Bytes first = a_block_a_rank ? call_.block() * peer.value() : Bytes(0);
  return Span::contiguous(buffer, first, call_.block());
}

Step CopyEngineProgram::step(Rank rank, std::uint32_t, std::uint64_t index) const {
  const Planned& planned = plans_[kind_of(rank)][index];
  Step step;
  switch (planned.action) {
    case Action::Signal:
      step.sends = slots_.all(planned.slot);
      step.source = Span::contiguous(Buffer::Scratch, Bytes(0), Bytes(0));
      return step;
    case Action::Await:
      step.receives = slots_.all(planned.slot);
      step.destination = Span::contiguous(Buffer::Scratch, Bytes(0), Bytes(0));
      return step;
    case Action::CopyOwn:
      step.source = span(Buffer::Input, rank);
      step.destination = span(Buffer::Output, rank);
      break;
    case Action::Copy:
      step.source = span(Buffer::Input, slots_.receiver(rank, planned.slot));
      step.sends = slots_.one(data, planned.slot);
      break;
    case Action::Take:
      step.destination = span(Buffer::Output, slots_.sender(rank, planned.slot));
      step.receives = slots_.one(data, planned.slot);
      break;
  }
  step.bytes = call_.block();
  return step;
}

std::uint64_t CopyEngineProgram::transfer_count() const {
  const std::uint64_t barriers = 2 + std::uint64_t{barriers_between_};
  const std::uint64_t copies =
      has_root(call_.kind) ? slots_.peers() : std::uint64_t{call_.ranks} * slots_.peers();
  return barriers * call_.ranks * slots_.peers() + copies;
}

}  // namespace

std::string copy_engine_exclusion(const Communicator& communicator, const CollectiveCall& call) {
  using enum CollectiveKind;
  if (call.kind != AllGather && call.kind != AllToAll && call.kind != Gather &&
      call.kind != Scatter) {
    return "copy engines do all_gather, all_to_all, gather and scatter, not " +
           std::string(collsim::name_of(call.kind));
  }
  if (communicator.nodes > 1) {
    return "copy engines copy where NVLink joins all ranks, not over " +
           std::to_string(communicator.nodes) + " nodes";
  }
  if (!communicator.all_nvlink) {
    return "copy engines copy where NVLink joins every two GPUs, and here it does not";
  }
  return {};
}

std::unique_ptr<Program> build_copy_engine_program(const CollectiveCall& call) {
  COLLSIM_ENSURE(call.ranks > 1, "somebody to copy to");
  return std::make_unique<CopyEngineProgram>(call);
}

}  // namespace collsim::nccl
