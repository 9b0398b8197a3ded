// A program out of a pattern: channels side by side, chunks one after the other.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "algorithms/pattern.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// The call and the name, which every program has.
class NamedProgram : public Program {
 public:
  NamedProgram(std::string algorithm, const CollectiveCall& call)
      : algorithm_(std::move(algorithm)), call_(call) {}
  [[nodiscard]] const CollectiveCall& call() const override { return call_; }
  [[nodiscard]] std::string_view algorithm() const override { return algorithm_; }

 private:
  std::string algorithm_;
  CollectiveCall call_;
};

/// 1 rank or 0 bytes: nothing to send, at most the input to copy to the output.
class LocalProgram final : public NamedProgram {
 public:
  using NamedProgram::NamedProgram;
  [[nodiscard]] std::uint32_t lane_count(Rank) const override { return 1; }
  [[nodiscard]] Lane lane(Rank, std::uint32_t) const override { return {}; }
  [[nodiscard]] std::uint64_t step_count(Rank, std::uint32_t) const override {
    return call().in_place == InPlace::No && call().size() > Bytes(0) ? 1 : 0;
  }
  [[nodiscard]] Step step(Rank, std::uint32_t, std::uint64_t) const override {
    Step step;
    step.bytes = call().size();
    step.source = Span::contiguous(Buffer::Input, Bytes(0), step.bytes);
    step.destination = Span::contiguous(Buffer::Output, Bytes(0), step.bytes);
    return step;
  }
  [[nodiscard]] Connection send_to(Rank, std::uint32_t, std::uint32_t) const override {
    COLLSIM_ENSURE(false, "a program without messages has no connections");
  }
  [[nodiscard]] Connection receive_from(Rank, std::uint32_t, std::uint32_t) const override {
    COLLSIM_ENSURE(false, "a program without messages has no connections");
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(0); }
  [[nodiscard]] std::uint32_t channels() const override { return 1; }
  [[nodiscard]] std::uint32_t chunks() const override { return 1; }
  [[nodiscard]] std::uint64_t transfer_count() const override { return 0; }
};

/// Lane l of channel c is lane c·lanes + l of the program; chunk k's steps, phases and joins follow
/// those of chunk k - 1.
class PartitionedProgram final : public NamedProgram {
 public:
  PartitionedProgram(std::string algorithm, const CollectiveCall& call,
                     std::unique_ptr<Pattern> pattern, std::uint32_t channels, std::uint32_t chunks)
      : NamedProgram(std::move(algorithm), call),
        pattern_(std::move(pattern)),
        whole_(call, pattern_->blocks(), pattern_->scratch_blocks()),
        in_place_(call.in_place == InPlace::Yes),
        channels_(at_most(channels, whole_.elements())),
        // The last channel is the smallest.
        chunks_(at_most(chunks, whole_.slice(channels_ - 1, channels_).elements())) {
    for (std::uint32_t c = 0; c < channels_; ++c) {
      channel_parts_.push_back(whole_.slice(c, channels_));
    }
  }

  [[nodiscard]] std::uint32_t lane_count(Rank rank) const override {
    return channels_ * pattern_->lanes(rank);
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override {
    const Split at = split(rank, lane);
    return Lane{at.channel, at.channel * pattern_->groups() + pattern_->group(rank, at.lane),
                std::nullopt};
  }
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override {
    return chunks_ * pattern_->steps(rank, split(rank, lane).lane);
  }

  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    const Split at = split(rank, lane);
    const Part& channel_part = channel_parts_[at.channel];
    std::uint32_t chunk = 0;
    if (chunks_ > 1) {
      const std::uint64_t chunk_steps = pattern_->steps(rank, at.lane);
      chunk = static_cast<std::uint32_t>(index / chunk_steps);
      index -= chunk * chunk_steps;
    }
    Step step = chunks_ > 1
                    ? pattern_->step(rank, at.lane, index, channel_part.slice(chunk, chunks_))
                    : pattern_->step(rank, at.lane, index, channel_part);
    if (in_place_ && copies_onto_itself(rank, step)) {
      step.destination.reset();
    }
    step.phase += chunk * pattern_->phases();
    if (step.join) {
      *step.join += at.channel * pattern_->groups();
    }
    if (step.after) {
      step.after->index += chunk * pattern_->steps(rank, step.after->lane);
      step.after->lane += lane - at.lane;
    }
    return step;
  }

  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane,
                                   std::uint32_t slot) const override {
    const Split at = split(rank, lane);
    return placed(pattern_->send_to(rank, at.lane, slot), at.channel);
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t slot) const override {
    const Split at = split(rank, lane);
    return placed(pattern_->receive_from(rank, at.lane, slot), at.channel);
  }

  /// Where all blocks are equal and a step's copy onto itself is left out for all ranks or for none.
  [[nodiscard]] std::optional<LaneSchedule> schedule(Rank rank, std::uint32_t lane) const override {
    const Split at = split(rank, lane);
    const std::optional<std::uint64_t> shape = pattern_->shape(rank, at.lane);
    if (!shape || !channel_parts_[at.channel].has_equal_blocks(chunks_)) {
      return std::nullopt;
    }
    constexpr std::uint64_t shapes = std::uint64_t{1} << 32U;
    return LaneSchedule{*shape + at.channel * shapes, pattern_->send_slots(rank, at.lane)};
  }

  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return whole_.scratch_bytes(); }
  [[nodiscard]] std::uint32_t channels() const override { return channels_; }
  [[nodiscard]] std::uint32_t chunks() const override { return chunks_; }
  [[nodiscard]] std::uint64_t transfer_count() const override {
    // More than fits is more than any limit.
    std::uint64_t count = 0;
    const bool fits =
        !__builtin_mul_overflow(std::uint64_t{channels_} * chunks_, pattern_->messages(), &count);
    return fits ? count : std::numeric_limits<std::uint64_t>::max();
  }

 private:
  struct Split {
    std::uint32_t channel = 0;
    std::uint32_t lane = 0;
  };
  [[nodiscard]] Split split(Rank rank, std::uint32_t lane) const {
    if (channels_ == 1) {
      return {0, lane};
    }
    const std::uint32_t lanes = pattern_->lanes(rank);
    return {lane / lanes, lane % lanes};
  }
  [[nodiscard]] Connection placed(Connection end, std::uint32_t channel) const {
    if (channel > 0) {
      end.lane += channel * pattern_->lanes(end.peer);
    }
    return end;
  }
  /// Whether the value is what stands at the destination already.
  [[nodiscard]] bool copies_onto_itself(Rank rank, const Step& step) const {
    if (!step.source || !step.destination || step.operand || step.receives.count > 0) {
      return false;
    }
    const Span& from = *step.source;
    const Span& to = *step.destination;
    const MemoryPlace from_place = place_of(call(), rank, from.buffer);
    const MemoryPlace to_place = place_of(call(), rank, to.buffer);
    return from_place.memory == to_place.memory &&
           from_place.offset + from.offset == to_place.offset + to.offset && from.run == to.run &&
           from.stride == to.stride;
  }
  static std::uint32_t at_most(std::uint32_t wanted, std::int64_t elements) {
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(std::max<std::uint32_t>(wanted, 1), elements));
  }

  std::unique_ptr<Pattern> pattern_;
  Part whole_;
  bool in_place_ = false;
  std::uint32_t channels_;
  std::uint32_t chunks_;
  std::vector<Part> channel_parts_;
};

}  // namespace

std::unique_ptr<Program> partition(std::string algorithm, const CollectiveCall& call,
                                   std::unique_ptr<Pattern> pattern, std::uint32_t channels,
                                   std::uint32_t chunks) {
  if (call.ranks == 1 || call.count == 0) {
    return std::make_unique<LocalProgram>(std::move(algorithm), call);
  }
  COLLSIM_ENSURE(pattern->ranks() == call.ranks, "a pattern for another number of ranks");
  return std::make_unique<PartitionedProgram>(std::move(algorithm), call, std::move(pattern),
                                              channels, chunks);
}

}  // namespace collsim
