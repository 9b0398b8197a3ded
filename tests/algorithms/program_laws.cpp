#include "tests/algorithms/program_laws.hpp"

#include <map>
#include <optional>
#include <tuple>

namespace collsim::test {

namespace {

using End = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // rank, lane, slot

std::string at(Rank rank, std::uint32_t lane, std::uint64_t index) {
  return "rank " + std::to_string(rank.value()) + " lane " + std::to_string(lane) + " step " +
         std::to_string(index) + ": ";
}

Bytes capacity(const Program& program, Rank rank, Buffer buffer) {
  switch (buffer) {
    case Buffer::Input:
      return program.call().input_bytes(rank);
    case Buffer::Output:
      return program.call().output_bytes(rank);
    case Buffer::Scratch:
      return program.scratch_bytes(rank);
  }
  return Bytes(0);
}

/// One past the last byte of a span.
Bytes end_of(const Span& span) {
  if (span.total == Bytes(0)) {
    return span.offset;
  }
  const std::int64_t runs = (span.total.count() + span.run.count() - 1) / span.run.count();
  const Bytes last_run = span.total - span.run * (runs - 1);
  return span.offset + span.stride * (runs - 1) + last_run;
}

std::string breach_of(const Program& program, Rank rank, const std::optional<Span>& span,
                      Bytes bytes) {
  if (!span) {
    return {};
  }
  if (span->total != bytes) {
    return "a span of another size than the step";
  }
  if (span->total > Bytes(0) && (span->run <= Bytes(0) || span->stride < span->run)) {
    return "runs that overlap";
  }
  if (span->offset < Bytes(0) || end_of(*span) > capacity(program, rank, span->buffer)) {
    return "a span outside its buffer";
  }
  return {};
}

/// Walks a program once and keeps the messages of each connection, in order.
class Walk {
 public:
  explicit Walk(const Program& program) : program_(program) {}

  std::string run() {
    for (std::uint32_t r = 0; r < program_.call().ranks; ++r) {
      const Rank rank(r);
      for (std::uint32_t lane = 0; lane < program_.lane_count(rank); ++lane) {
        if (auto breach = walk_lane(rank, lane); !breach.empty()) {
          return breach;
        }
      }
    }
    if (sent_ != received_) {
      return "messages are not received as they are sent";
    }
    if (messages_ != program_.transfer_count()) {
      return "transfer_count() is not what is sent";
    }
    return {};
  }

 private:
  std::string walk_lane(Rank rank, std::uint32_t lane) {
    std::uint64_t phase = 0;
    for (std::uint64_t index = 0; index < program_.step_count(rank, lane); ++index) {
      const Step step = program_.step(rank, lane, index);
      if (step.phase < phase) {
        return at(rank, lane, index) + "the phase falls";
      }
      phase = step.phase;
      for (const auto& span : {step.source, step.operand, step.destination}) {
        if (auto breach = breach_of(program_, rank, span, step.bytes); !breach.empty()) {
          return at(rank, lane, index) + breach;
        }
      }
      if (program_.call().in_place == InPlace::No && step.destination &&
          step.destination->buffer == Buffer::Input) {
        return at(rank, lane, index) + "writes the input";
      }
      if (step.after && (step.after->lane >= program_.lane_count(rank) ||
                         step.after->index >= program_.step_count(rank, step.after->lane))) {
        return at(rank, lane, index) + "waits for a step that is not there";
      }
      if (auto breach = walk_slots(rank, lane, step); !breach.empty()) {
        return at(rank, lane, index) + breach;
      }
    }
    return {};
  }

  std::string walk_slots(Rank rank, std::uint32_t lane, const Step& step) {
    for (std::uint32_t i = 0; i < step.sends.count; ++i) {
      const std::uint32_t slot = step.sends.first + i;
      const Connection to = program_.send_to(rank, lane, slot);
      if (to.peer.value() >= program_.call().ranks) {
        return "sends to a rank that is not there";
      }
      if (to.peer == rank) {
        return "sends to itself";
      }
      if (to.lane >= program_.lane_count(to.peer)) {
        return "sends to a lane that is not there";
      }
      if (program_.receive_from(to.peer, to.lane, to.slot) != Connection{rank, lane, slot}) {
        return "a send slot whose connection does not lead back";
      }
      sent_[{to.peer.value(), to.lane, to.slot}].push_back(step.bytes);
      ++messages_;
    }
    for (std::uint32_t i = 0; i < step.receives.count; ++i) {
      const std::uint32_t slot = step.receives.first + i;
      const Connection from = program_.receive_from(rank, lane, slot);
      if (program_.send_to(from.peer, from.lane, from.slot) != Connection{rank, lane, slot}) {
        return "a receive slot whose connection does not lead back";
      }
      received_[{rank.value(), lane, slot}].push_back(step.bytes);
    }
    return {};
  }

  const Program& program_;
  std::map<End, std::vector<Bytes>> sent_;  // by the receiving end
  std::map<End, std::vector<Bytes>> received_;
  std::uint64_t messages_ = 0;
};

}  // namespace

std::string first_breach(const Program& program) { return Walk(program).run(); }

std::vector<Bytes> bytes_sent(const Program& program) {
  std::vector<Bytes> sent(program.call().ranks);
  for (std::uint32_t r = 0; r < program.call().ranks; ++r) {
    const Rank rank(r);
    for (std::uint32_t lane = 0; lane < program.lane_count(rank); ++lane) {
      for (std::uint64_t index = 0; index < program.step_count(rank, lane); ++index) {
        const Step step = program.step(rank, lane, index);
        sent[r] += step.bytes * step.sends.count;
      }
    }
  }
  return sent;
}

std::string describe(const Program& program) {
  const CollectiveCall& call = program.call();
  return std::string(program.algorithm()) + " " + std::string(name_of(call.kind)) + ", " +
         std::to_string(call.ranks) + " ranks, count " + std::to_string(call.count) + ", root " +
         std::to_string(call.root.value()) + ", " + std::to_string(program.channels()) +
         " channels, " + std::to_string(program.chunks()) + " chunks" +
         (call.in_place == InPlace::Yes ? ", in place" : ", out of place");
}

}  // namespace collsim::test
