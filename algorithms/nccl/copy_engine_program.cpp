#include "algorithms/nccl/copy_engine_program.hpp"

#include <vector>

#include "algorithms/nccl/peer_program.hpp"
#include "algorithms/nccl/symmetric_kernels.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::uint32_t copies_between_barriers = 8;
constexpr Bytes least_for_barriers(std::int64_t{512} << 20);

class CopyEngineProgram final : public PeerProgram {
 public:
  explicit CopyEngineProgram(const CollectiveCall& call);

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
  [[nodiscard]] std::uint32_t channels() const override { return 1; }
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
    return (call().kind != CollectiveKind::Gather || to == call().root) &&
           (call().kind != CollectiveKind::Scatter || from == call().root);
  }
  /// Ranks of a gather or scatter differ by their distance from the root; others are all alike.
  [[nodiscard]] std::size_t kind_of(Rank rank) const {
    return plans_.size() == 1 ? 0 : rank.index();
  }
  [[nodiscard]] Plan plan_of(Rank rank) const;
  [[nodiscard]] bool barriers_between() const {
    return !has_root(call().kind) && others() >= copies_between_barriers &&
           call().block() * std::int64_t{others()} >= least_for_barriers;
  }
  /// Where the block of a peer is.
  [[nodiscard]] Span span(Buffer buffer, Rank peer) const {
    return Span::contiguous(buffer, block_offset(call(), buffer, peer), call().block());
  }

  std::vector<Plan> plans_{};
};

CopyEngineProgram::CopyEngineProgram(const CollectiveCall& call) : PeerProgram(call) {
  for (std::uint32_t rank = 0; rank < (has_root(call.kind) ? call.ranks : 1); ++rank) {
    plans_.push_back(plan_of(Rank(rank)));
  }
}

CopyEngineProgram::Plan CopyEngineProgram::plan_of(Rank rank) const {
  const bool between = barriers_between();
  Plan plan;
  std::uint32_t slots = data;
  const auto barrier = [&] {
    ++slots;
    plan.push_back({Action::Signal, slots});
    plan.push_back({Action::Await, slots});
  };
  barrier();
  if (sends(rank, rank) && call().in_place == InPlace::No) {
    plan.push_back({Action::CopyOwn, 0});
  }
  for (std::uint32_t peer = 0; peer < others(); ++peer) {
    if (between && peer > 0 && peer % copies_between_barriers == 0) {
      barrier();
    }
    if (sends(rank, receiver(rank, peer))) {
      plan.push_back({Action::Copy, peer});
    }
  }
  for (std::uint32_t peer = 0; peer < others(); ++peer) {
    if (sends(sender(rank, peer), rank)) {
      plan.push_back({Action::Take, peer});
    }
  }
  barrier();
  return plan;
}

Step CopyEngineProgram::step(Rank rank, std::uint32_t, std::uint64_t index) const {
  const Planned& planned = plans_[kind_of(rank)][index];
  Step step;
  switch (planned.action) {
    case Action::Signal:
      return signal(planned.slot);
    case Action::Await:
      return await(planned.slot);
    case Action::CopyOwn:
      step.source = span(Buffer::Input, rank);
      step.destination = span(Buffer::Output, rank);
      break;
    case Action::Copy:
      step.source = span(Buffer::Input, receiver(rank, planned.slot));
      step.sends = one(data, planned.slot);
      break;
    case Action::Take:
      step.destination = span(Buffer::Output, sender(rank, planned.slot));
      step.receives = one(data, planned.slot);
      break;
  }
  step.bytes = call().block();
  return step;
}

std::uint64_t CopyEngineProgram::transfer_count() const {
  std::uint64_t count = 0;
  for (const Plan& plan : plans_) {
    for (const Planned& planned : plan) {
      count += planned.action == Action::Signal ? others() : 0;
      count += planned.action == Action::Copy ? 1 : 0;
    }
  }
  return count * (call().ranks / plans_.size());
}

}  // namespace

std::string copy_engine_exclusion(const Communicator& communicator, const CollectiveCall& call) {
  using enum CollectiveKind;
  if (call.kind != AllGather && call.kind != AllToAll && call.kind != Gather &&
      call.kind != Scatter) {
    return "copy engines do all_gather, all_to_all, gather and scatter, not " +
           std::string(collsim::name_of(call.kind));
  }
  return nvlink_exclusion(communicator, "copy engines copy");
}

std::unique_ptr<Program> build_copy_engine_program(const CollectiveCall& call) {
  COLLSIM_ENSURE(call.ranks > 1, "somebody to copy to");
  return std::make_unique<CopyEngineProgram>(call);
}

}  // namespace collsim::nccl
