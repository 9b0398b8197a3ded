#include "algorithms/check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "algorithms/fifo.hpp"
#include "algorithms/program_walk.hpp"
#include "algorithms/promised_data.hpp"
#include "algorithms/race_detector.hpp"
#include "algorithms/symbolic_memory.hpp"

namespace collsim {

std::string_view name_of(CheckFailure::Kind kind) {
  switch (kind) {
    case CheckFailure::Kind::WrongData:
      return "wrong data";
    case CheckFailure::Kind::MissingData:
      return "missing data";
    case CheckFailure::Kind::Duplicate:
      return "duplicate";
    case CheckFailure::Kind::MixedElements:
      return "mixed elements";
    case CheckFailure::Kind::Race:
      return "race";
    case CheckFailure::Kind::Deadlock:
      return "deadlock";
    case CheckFailure::Kind::UnmatchedMessage:
      return "unmatched message";
    case CheckFailure::Kind::BadProgram:
      return "bad program";
  }
  return "";
}

namespace {

using detail::ConnectionId;
using detail::StepPlace;
using detail::SymbolicData;
using detail::SymbolicValue;
using detail::Walk;
using Kind = CheckFailure::Kind;

std::string_view name_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::Input:
      return "input";
    case Buffer::Output:
      return "output";
    case Buffer::Scratch:
      return "scratch";
  }
  return "";
}

/// "output byte 4", "output bytes 4-7".
std::string text_of(Buffer buffer, std::int64_t begin, std::int64_t end) {
  const std::string name(name_of(buffer));
  if (end - begin == 1) {
    return name + " byte " + std::to_string(begin);
  }
  return name + " bytes " + std::to_string(begin) + "-" + std::to_string(end - 1);
}

/// One rank's memories and what its steps have done to them.
struct RankState {
  std::array<detail::SymbolicMemory, 3> memories;  ///< by MemoryPlace::Memory
  std::array<MemoryPlace, 3> places;               ///< by Buffer
  std::array<Bytes, 3> sizes;                      ///< by Buffer
  bool keeps_input = true;                         ///< no step may write the input buffer
  /// Only where the rank has several lanes: the steps of one lane cannot race.
  std::optional<detail::RankOrder> order;
  std::array<detail::AccessLog, 3> accesses;  ///< by MemoryPlace::Memory

  [[nodiscard]] std::size_t memory_of(Buffer buffer) const {
    return static_cast<std::size_t>(places[static_cast<std::size_t>(buffer)].memory);
  }
  [[nodiscard]] std::int64_t base_of(Buffer buffer) const {
    return places[static_cast<std::size_t>(buffer)].offset.count();
  }
  [[nodiscard]] Bytes size_of(Buffer buffer) const {
    return sizes[static_cast<std::size_t>(buffer)];
  }
};

RankState initial_state(const Program& program, Rank rank, detail::RankSets& sets) {
  const CollectiveCall& call = program.call();
  RankState state;
  state.sizes = {call.input_bytes(rank), call.output_bytes(rank), program.scratch_bytes(rank)};
  for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Scratch}) {
    state.places[static_cast<std::size_t>(buffer)] = place_of(call, rank, buffer);
  }
  state.keeps_input = state.memory_of(Buffer::Input) != state.memory_of(Buffer::Output) ||
                      state.size_of(Buffer::Output) == Bytes(0);
  const std::int64_t base = state.base_of(Buffer::Input);
  state.memories[state.memory_of(Buffer::Input)].initialise(
      base, base + state.size_of(Buffer::Input).count(), {0, sets.single(rank)});

  const std::uint32_t lanes = program.lane_count(rank);
  if (lanes > 1) {
    std::vector<std::uint32_t> groups(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      groups[lane] = program.lane(rank, lane).group;
    }
    state.order.emplace(groups);
  }
  return state;
}

class Checker final : public detail::StepHandler {
 public:
  Checker(const Program& program, std::size_t max_failures)
      : program_(program), max_failures_(max_failures) {
    for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
      ranks_.push_back(initial_state(program, Rank(rank), sets_));
    }
  }

  Walk execute(const StepPlace& place, const Step& step, std::span<const ConnectionId> received,
               std::span<const ConnectionId> sent) override;
  CheckReport report(detail::WalkReport walk);

 private:
  enum class Access : std::uint8_t { Read, Write };

  [[nodiscard]] SymbolicData value_of(const StepPlace& place, const Step& step,
                                      std::span<const ConnectionId> received);
  [[nodiscard]] SymbolicData read(const StepPlace& place, const Step& step, const Span& span);
  void write(const StepPlace& place, const Step& step, const SymbolicData& data);
  [[nodiscard]] bool usable(const StepPlace& place, const Step& step, const Span& span);
  void look_for_race(const StepPlace& place, const Span& span, Access access);
  void check_output(Rank rank);
  void check_content(Rank rank, std::int64_t begin, std::int64_t end, SymbolicValue expected,
                     const detail::SymbolicMemory::Content& content);
  [[nodiscard]] StepPlace last_step(Rank rank) const;
  void fail(Kind kind, const StepPlace& place, const std::string& what) {
    if (failures_.size() < max_failures_) {
      failures_.push_back(
          {kind, place.rank, place.lane, place.step, detail::text_of(place) + ", " + what});
    }
  }
  [[nodiscard]] detail::Fifo<SymbolicData>& messages(ConnectionId id) {
    if (id.index() >= messages_.size()) {
      messages_.resize(id.index() + 1);
    }
    return messages_[id.index()];
  }

  const Program& program_;
  std::size_t max_failures_;
  detail::RankSets sets_;
  std::vector<RankState> ranks_;
  std::vector<detail::Fifo<SymbolicData>> messages_;  ///< by connection
  std::vector<CheckFailure> failures_;
  bool race_reported_ = false;  ///< for the step at hand
};

Walk Checker::execute(const StepPlace& place, const Step& step,
                      std::span<const ConnectionId> received, std::span<const ConnectionId> sent) {
  RankState& rank = ranks_[place.rank.index()];
  if (rank.order) {
    rank.order->begin({place.lane, place.step}, step);
  }
  race_reported_ = false;

  const SymbolicData value = value_of(place, step, received);
  if (step.destination) {
    write(place, step, value);
  }
  for (const ConnectionId connection : sent) {
    messages(connection).push(value);
  }
  return failures_.size() < max_failures_ ? Walk::GoOn : Walk::Stop;
}

SymbolicData Checker::value_of(const StepPlace& place, const Step& step,
                               std::span<const ConnectionId> received) {
  std::optional<SymbolicData> value;
  bool clashed = false;
  auto add = [&](SymbolicData input) {
    if (!value) {
      value = std::move(input);
      return;
    }
    detail::SymbolicReduction reduction = detail::reduce(*value, input, sets_);
    value = std::move(reduction.data);
    if (!reduction.clash || std::exchange(clashed, true)) {
      return;
    }
    const auto& [kind, left, right] = *reduction.clash;
    if (kind == detail::ReductionClash::Kind::CommonContributor) {
      const Rank twice = sets_.common(left.contributors, right.contributors).value();
      fail(Kind::Duplicate, place,
           "reduces the contribution of rank " + std::to_string(twice.value()) + " twice: " +
               text_of(left, 1, sets_) + " with that of " + sets_.text(right.contributors));
    } else {
      fail(Kind::MixedElements, place,
           "reduces different elements: " + text_of(left, 1, sets_) + " with " +
               text_of(right, 1, sets_));
    }
  };
  for (const ConnectionId connection : received) {
    add(messages(connection).pop());
  }
  if (step.source) {
    add(read(place, step, *step.source));
  }
  if (step.operand) {
    add(read(place, step, *step.operand));
  }
  if (value) {
    return *value;
  }

  if (step.destination || step.sends.count > 0) {
    fail(Kind::BadProgram, place, "writes or sends a value but takes none from anywhere");
  }
  SymbolicData nothing;
  nothing.append(step.bytes.count(), SymbolicValue::spoilt());
  return nothing;
}

bool Checker::usable(const StepPlace& place, const Step& step, const Span& span) {
  const auto objection =
      detail::objection_to(span, step.bytes, ranks_[place.rank.index()].size_of(span.buffer));
  if (objection) {
    fail(Kind::BadProgram, place, std::string(name_of(span.buffer)) + ": " + *objection);
  }
  return !objection;
}

SymbolicData Checker::read(const StepPlace& place, const Step& step, const Span& span) {
  SymbolicData nothing;
  nothing.append(step.bytes.count(), SymbolicValue::spoilt());
  if (!usable(place, step, span)) {
    return nothing;
  }
  look_for_race(place, span, Access::Read);
  const RankState& rank = ranks_[place.rank.index()];
  detail::SymbolicMemory::Reading reading =
      rank.memories[rank.memory_of(span.buffer)].read(span, rank.base_of(span.buffer));
  if (reading.missing) {
    fail(Kind::MissingData, place,
         "reads " + text_of(span.buffer, *reading.missing, *reading.missing + 1) +
             ", which nothing has written");
  }
  return std::move(reading.data);
}

void Checker::write(const StepPlace& place, const Step& step, const SymbolicData& data) {
  const Span& span = *step.destination;
  if (!usable(place, step, span)) {
    return;
  }
  RankState& rank = ranks_[place.rank.index()];
  if (span.buffer == Buffer::Input && rank.keeps_input && step.bytes > Bytes(0)) {
    fail(Kind::BadProgram, place, "writes its input buffer, which must stay as it is");
  }
  look_for_race(place, span, Access::Write);
  rank.memories[rank.memory_of(span.buffer)].write(span, rank.base_of(span.buffer), data,
                                                   {place.lane, place.step});
}

void Checker::look_for_race(const StepPlace& place, const Span& span, Access access) {
  RankState& rank = ranks_[place.rank.index()];
  if (!rank.order) {
    return;
  }
  const StepRef at{place.lane, place.step};
  const std::int64_t base = rank.base_of(span.buffer);
  detail::AccessLog& log = rank.accesses[rank.memory_of(span.buffer)];
  detail::for_each_run(span, [&](std::int64_t begin, std::int64_t end) {
    const auto race = access == Access::Read ? log.read(base + begin, base + end, at, *rank.order)
                                             : log.write(base + begin, base + end, at, *rank.order);
    if (!race || std::exchange(race_reported_, true)) {
      return;
    }
    const bool other_reads = race->kind == detail::RacingAccess::Kind::Read;
    fail(Kind::Race, place,
         std::string(access == Access::Read ? "reads " : "writes ") +
             text_of(span.buffer, race->begin - base, race->end - base) + ", which lane " +
             std::to_string(race->step.lane) + ", step " + std::to_string(race->step.index) +
             (other_reads ? ", reads" : ", writes") + ", and nothing orders the two");
  });
}

CheckReport Checker::report(detail::WalkReport walk) {
  for (CheckFailure& failure : walk.failures) {
    if (failures_.size() < max_failures_) {
      failures_.push_back(std::move(failure));
    }
  }
  if (walk.finished) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      check_output(Rank(rank));
    }
  }
  return {std::move(failures_), walk.steps, walk.messages};
}

void Checker::check_output(Rank rank) {
  const RankState& state = ranks_[rank.index()];
  const detail::SymbolicMemory& memory = state.memories[state.memory_of(Buffer::Output)];
  const std::int64_t base = state.base_of(Buffer::Output);
  memory.inspect(
      base, base + state.size_of(Buffer::Output).count(),
      [&](std::int64_t begin, std::int64_t end, const detail::SymbolicMemory::Content* content) {
        if (content != nullptr) {
          return;
        }
        fail(Kind::MissingData, last_step(rank),
             "is the end of a rank that never writes its " +
                 text_of(Buffer::Output, begin - base, end - base));
      });
  std::int64_t begin = base;
  const SymbolicData expected = detail::promised_output(program_.call(), rank, sets_);
  for (const detail::SymbolicPiece& piece : expected.pieces()) {
    memory.inspect(
        begin, begin + piece.bytes,
        [&](std::int64_t from, std::int64_t to, const detail::SymbolicMemory::Content* content) {
          if (content == nullptr) {
            return;
          }
          check_content(rank, from - base, to - base, piece.value.advanced(from - begin), *content);
        });
    begin += piece.bytes;
  }
}

void Checker::check_content(Rank rank, std::int64_t begin, std::int64_t end, SymbolicValue expected,
                            const detail::SymbolicMemory::Content& content) {
  if (content.value.is_spoilt() || content.value == expected) {
    return;
  }
  const std::string where = text_of(Buffer::Output, begin, end);
  const std::string found = text_of(content.value, end - begin, sets_);
  const std::string promised = text_of(expected, end - begin, sets_);
  if (content.writer) {
    fail(Kind::WrongData, {rank, content.writer->lane, content.writer->index},
         "leaves " + found + " in " + where + " instead of " + promised);
  } else {
    fail(Kind::WrongData, last_step(rank),
         "is the end of a rank that leaves " + found + " in " + where + " instead of " + promised);
  }
}

StepPlace Checker::last_step(Rank rank) const {
  for (std::uint32_t lane = program_.lane_count(rank); lane > 0; --lane) {
    const std::uint64_t steps = program_.step_count(rank, lane - 1);
    if (steps > 0) {
      return {rank, lane - 1, steps - 1};
    }
  }
  return {rank, 0, 0};
}

}  // namespace

CheckReport check_program(const Program& program, std::size_t max_failures) {
  Checker checker(program, max_failures);
  detail::WalkReport walk = walk_program(program, checker);
  return checker.report(std::move(walk));
}

}  // namespace collsim
