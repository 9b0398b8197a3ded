#include "algorithms/nccl/pat_program.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/pat_schedule.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using Place = PatOperation::Place;

constexpr std::uint32_t slots = 8;
constexpr std::uint32_t workers = 512;

/// What channels with the same aggregation do for a chunk.
struct Loop {
  PatAggregation aggregation{};
  std::vector<PatOperation> operations{};
  std::uint32_t parts{1};     ///< steps of an operation
  std::uint64_t messages{0};  ///< of all ranks
};

/// The blocks of an operation whose owners follow each other without passing the last rank.
struct Part {
  std::uint32_t first_owner{0};
  std::uint32_t count{0};
};

class PatProgram final : public Program {
 public:
  explicit PatProgram(const Execution& execution);

  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::string_view algorithm() const override { return "pat"; }
  [[nodiscard]] std::uint32_t lane_count(Rank) const override {
    return static_cast<std::uint32_t>(execution_.work.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] std::uint64_t step_count(Rank, std::uint32_t lane) const override {
    return loops(lane) * loop_of(lane).operations.size() * loop_of(lane).parts;
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    return {gathers_ ? before(rank, slot) : beyond(rank, slot), lane, slot};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    return {gathers_ ? beyond(rank, slot) : before(rank, slot), lane, slot};
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(scratch_.back()); }
  [[nodiscard]] std::uint32_t channels() const override;
  [[nodiscard]] std::uint32_t chunks() const override { return 1; }
  [[nodiscard]] std::uint64_t transfer_count() const override;

 private:
  [[nodiscard]] const Loop& loop_of(std::uint32_t lane) const { return loops_[loop_[lane]]; }
  [[nodiscard]] std::uint64_t loops(std::uint32_t lane) const {
    const ChannelWork& work = execution_.work[lane];
    return static_cast<std::uint64_t>(divided_up(work.count, work.chunk));
  }
  /// The rank at distance 2^dimension, in either direction.
  [[nodiscard]] Rank beyond(Rank rank, std::uint32_t dimension) const {
    return Rank((rank.value() + (1U << dimension)) % ranks_);
  }
  [[nodiscard]] Rank before(Rank rank, std::uint32_t dimension) const {
    return Rank((rank.value() + ranks_ - (1U << dimension)) % ranks_);
  }
  [[nodiscard]] std::size_t loop_with(PatAggregation aggregation);
  [[nodiscard]] Part part(Rank rank, const PatBlocks& blocks, std::uint32_t number) const;
  /// Bytes from `begin` of each block of a part, `run` of them.
  [[nodiscard]] std::optional<Span> span(std::uint32_t lane, Place place, const Part& part,
                                         std::uint32_t stride, Bytes begin, Bytes run) const;

  Execution execution_;
  std::uint32_t ranks_;
  bool gathers_;
  Bytes element_;
  std::vector<Loop> loops_;
  std::vector<std::size_t> loop_;      ///< by channel: position in loops_
  std::vector<std::int64_t> scratch_;  ///< where a channel's begins, bytes, and the end
};

PatProgram::PatProgram(const Execution& execution)
    : execution_(execution),
      ranks_(execution.call.ranks),
      gathers_(execution.call.kind == CollectiveKind::AllGather),
      element_(size_of(execution.call.type)) {
  scratch_.push_back(0);
  for (const ChannelWork& work : execution_.work) {
    loop_.push_back(loop_with(pat_aggregation(ranks_, work.count, work.chunk)));
    const std::int64_t kept = gathers_ ? 0 : ranks_ * work.chunk * element_.count();
    scratch_.push_back(scratch_.back() + kept);
  }
}

std::size_t PatProgram::loop_with(PatAggregation aggregation) {
  const auto known = std::find_if(loops_.begin(), loops_.end(), [&](const Loop& loop) {
    return loop.aggregation == aggregation;
  });
  if (known != loops_.end()) {
    return static_cast<std::size_t>(known - loops_.begin());
  }
  Loop loop{
      aggregation,
      gathers_ ? pat_all_gather(ranks_, aggregation) : pat_reduce_scatter(ranks_, aggregation),
      aggregation.message > 1 ? 2U : 1U, 0};
  for (const PatOperation& operation : loop.operations) {
    if (operation.send) {
      // Those of ranks r with r + first < n <= r + last are two.
      const PatBlocks& blocks = operation.blocks;
      loop.messages += loop.parts == 1 ? ranks_ : ranks_ + (blocks.count - 1) * blocks.stride;
    }
  }
  loops_.push_back(std::move(loop));
  return loops_.size() - 1;
}

Lane PatProgram::lane(Rank, std::uint32_t number) const {
  const ChannelWork& work = execution_.work[number];
  Lane lane;
  lane.channel = work.channel;
  // One of the messages in the slots may be in two parts.
  lane.fifo_depth = slots + loop_of(number).parts - 1;
  lane.protocol = WireProtocol::Simple;
  lane.threads = workers;
  lane.multiplicity = work.multiplicity;
  return lane;
}

Part PatProgram::part(Rank rank, const PatBlocks& blocks, std::uint32_t number) const {
  const std::uint32_t first = rank.value() + blocks.first;
  const std::uint32_t before_end =
      first >= ranks_ ? 0 : std::min(blocks.count, divided_up(ranks_ - first, blocks.stride));
  if (before_end == 0) {
    return {first - ranks_, number == 0 ? blocks.count : 0};
  }
  if (number == 0) {
    return {first, before_end};
  }
  return {first + before_end * blocks.stride - ranks_, blocks.count - before_end};
}

std::optional<Span> PatProgram::span(std::uint32_t lane, Place place, const Part& part,
                                     std::uint32_t stride, Bytes begin, Bytes run) const {
  Buffer buffer = Buffer::Input;
  Bytes block = execution_.call.block();
  Bytes offset = begin;
  switch (place) {
    case Place::None:
      return std::nullopt;
    case Place::Input:
      // Of AllGather the own block alone.
      offset += gathers_ ? Bytes(0) : block * part.first_owner;
      break;
    case Place::Output:
      // Of ReduceScatter, its own block.
      buffer = Buffer::Output;
      break;
    case Place::Kept:
      if (gathers_) {
        buffer = Buffer::Output;
        offset += block * part.first_owner;
      } else {
        buffer = Buffer::Scratch;
        block = element_ * execution_.work[lane].chunk;
        offset = Bytes(scratch_[lane]) + block * part.first_owner;
      }
      break;
  }
  if (part.count == 1) {
    return Span::contiguous(buffer, offset, run);
  }
  return Span{buffer, offset, run * part.count, run, block * stride};
}

Step PatProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  const ChannelWork& work = execution_.work[lane];
  const Loop& loop = loop_of(lane);
  const auto number = static_cast<std::uint32_t>(index % loop.parts);
  const PatOperation& operation = loop.operations[index / loop.parts % loop.operations.size()];
  const auto chunk =
      static_cast<std::int64_t>(index / loop.parts / loop.operations.size()) * work.chunk;
  const Bytes begin = element_ * (work.first + chunk);
  const Bytes run = element_ * std::min(work.chunk, work.count - chunk);

  Step step;
  const Part part = this->part(rank, operation.blocks, number);
  step.continues = operation.continues || number > 0;
  if (part.count == 0) {
    return step;
  }
  step.bytes = run * part.count;
  if (operation.receive) {
    step.receives = {*operation.receive, 1};
  }
  if (operation.send) {
    step.sends = {*operation.send, 1};
  }
  const std::uint32_t stride = operation.blocks.stride;
  step.source = span(lane, operation.source, part, stride, begin, run);
  const bool in_its_place =
      gathers_ && operation.source == Place::Input && execution_.call.in_place == InPlace::Yes;
  if (!in_its_place) {
    step.destination = span(lane, operation.destination, part, stride, begin, run);
  }
  return step;
}

std::uint32_t PatProgram::channels() const {
  std::uint32_t count = 0;
  for (const ChannelWork& work : execution_.work) {
    count += work.multiplicity;
  }
  return count;
}

std::uint64_t PatProgram::transfer_count() const {
  std::uint64_t count = 0;
  for (std::uint32_t lane = 0; lane < execution_.work.size(); ++lane) {
    count += loops(lane) * loop_of(lane).messages;
  }
  return count;
}

}  // namespace

std::unique_ptr<Program> build_pat_program(const Execution& execution) {
  const CollectiveKind kind = execution.call.kind;
  COLLSIM_ENSURE(execution.call.ranks > 1 &&
                     (kind == CollectiveKind::AllGather || kind == CollectiveKind::ReduceScatter),
                 "PAT is for AllGather and ReduceScatter");
  return std::make_unique<PatProgram>(execution);
}

}  // namespace collsim::nccl
