#include "validate/execution/script.hpp"

#include <algorithm>

#include "algorithms/program_wiring.hpp"
#include "algorithms/symbolic_memory.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

[[noreturn]] void refuse(const detail::StepPlace& place, const std::string& what) {
  throw SimulationError(text_of(place) + ", " + what);
}

class ScriptWriter {
 public:
  ScriptWriter(const Program& program, Rank rank) : program_(program) { script_.rank = rank; }

  RankScript write() {
    const std::uint32_t lanes = program_.lane_count(script_.rank);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      write_lane(lane);
    }
    for (const Step& step : script_.steps) {
      check_dependency(step);
    }
    return std::move(script_);
  }

 private:
  void write_lane(std::uint32_t lane);
  void check_step(const detail::StepPlace& place, const Step& step) const;
  void check_span(const detail::StepPlace& place, const Step& step, const Span& span) const;
  void check_dependency(const Step& step) const;
  void use_ports(const detail::StepPlace& place, const Step& step);
  Port& used(std::vector<Port>& ports, std::uint32_t index, std::uint32_t lane);
  [[nodiscard]] Bytes size_of_buffer(Buffer buffer) const;

  const Program& program_;
  RankScript script_;
  std::uint32_t first_in_ = 0;   ///< of the lane at hand
  std::uint32_t first_out_ = 0;  ///< of the lane at hand
};

void ScriptWriter::write_lane(std::uint32_t lane) {
  const Lane properties = program_.lane(script_.rank, lane);
  if (properties.multiplicity != 1) {
    throw InputError("a program whose equal channels are joined cannot be run on a real machine");
  }
  first_in_ = static_cast<std::uint32_t>(script_.in.size());
  first_out_ = static_cast<std::uint32_t>(script_.out.size());
  const LaneScript entry{script_.steps.size(), program_.step_count(script_.rank, lane),
                         properties.group, first_in_, first_out_};
  script_.groups = std::max(script_.groups, entry.group + 1);
  std::uint64_t phase = 0;
  for (std::uint64_t index = 0; index < entry.steps; ++index) {
    const detail::StepPlace place{script_.rank, lane, index};
    Step step = program_.step(script_.rank, lane, index);
    check_step(place, step);
    if (step.phase < phase) {
      refuse(place, "has a phase below that of the step before it");
    }
    phase = step.phase;
    use_ports(place, step);
    step.receives.first += first_in_;
    step.sends.first += first_out_;
    script_.emulated += step.movement == Movement::Route ? 0 : 1;
    script_.steps.push_back(step);
  }
  script_.lanes.push_back(entry);
}

void ScriptWriter::check_step(const detail::StepPlace& place, const Step& step) const {
  const bool has_value = step.receives.count > 0 || step.source || step.operand;
  if (!has_value && (step.destination || step.sends.count > 0)) {
    refuse(place, "writes or sends a value but takes none from anywhere");
  }
  for (const auto& span : {step.source, step.operand, step.destination}) {
    if (span) {
      check_span(place, step, *span);
    }
  }
}

void ScriptWriter::check_span(const detail::StepPlace& place, const Step& step,
                              const Span& span) const {
  if (const auto objection = detail::objection_to(span, step.bytes, size_of_buffer(span.buffer))) {
    refuse(place, *objection);
  }
  const std::int64_t element = size_of(program_.call().type).count();
  const bool whole = span.offset.count() % element == 0 && span.total.count() % element == 0 &&
                     (span.run >= span.total ||
                      (span.run.count() % element == 0 && span.stride.count() % element == 0));
  if (!whole) {
    refuse(place, "has a span that cuts elements apart");
  }
}

void ScriptWriter::check_dependency(const Step& step) const {
  if (step.after && (step.after->lane >= script_.lanes.size() ||
                     step.after->index >= script_.lanes[step.after->lane].steps)) {
    throw SimulationError("rank " + std::to_string(script_.rank.value()) +
                          " waits for a step that it does not have: lane " +
                          std::to_string(step.after->lane) + ", step " +
                          std::to_string(step.after->index));
  }
  if (step.join && *step.join >= script_.groups) {
    throw SimulationError(
        "rank " + std::to_string(script_.rank.value()) +
        " waits for a group of lanes that it does not have: " + std::to_string(*step.join));
  }
}

void ScriptWriter::use_ports(const detail::StepPlace& place, const Step& step) {
  for (std::uint32_t i = 0; i < step.receives.count; ++i) {
    const std::uint32_t slot = step.receives.first + i;
    Port& port = used(script_.in, first_in_ + slot, place.lane);
    if (port.messages++ == 0) {
      port.peer = program_.receive_from(place.rank, place.lane, slot);
      port.depth = program_.lane(port.peer.peer, port.peer.lane).fifo_depth;
      if (program_.send_to(port.peer.peer, port.peer.lane, port.peer.slot) !=
          Connection{place.rank, place.lane, slot}) {
        refuse(place, "receives from a slot that sends to another one");
      }
    }
    port.largest = std::max(port.largest, step.bytes);
  }
  for (std::uint32_t i = 0; i < step.sends.count; ++i) {
    const std::uint32_t slot = step.sends.first + i;
    Port& port = used(script_.out, first_out_ + slot, place.lane);
    if (port.messages++ == 0) {
      port.peer = program_.send_to(place.rank, place.lane, slot);
      port.depth = program_.lane(place.rank, place.lane).fifo_depth;
      if (program_.receive_from(port.peer.peer, port.peer.lane, port.peer.slot) !=
          Connection{place.rank, place.lane, slot}) {
        refuse(place, "sends to a slot that receives from another one");
      }
    }
    port.largest = std::max(port.largest, step.bytes);
  }
}

Port& ScriptWriter::used(std::vector<Port>& ports, std::uint32_t index, std::uint32_t lane) {
  if (index >= ports.size()) {
    Port unused;
    unused.lane = lane;
    ports.resize(index + 1, unused);
  }
  return ports[index];
}

Bytes ScriptWriter::size_of_buffer(Buffer buffer) const {
  switch (buffer) {
    case Buffer::Input:
      return program_.call().input_bytes(script_.rank);
    case Buffer::Output:
      return program_.call().output_bytes(script_.rank);
    case Buffer::Scratch:
      return program_.scratch_bytes(script_.rank);
  }
  return {};
}

}  // namespace

std::string RankScript::peer_name(const Port& port) const {
  return "rank " + std::to_string(port.peer.peer.value()) + ", lane " +
         std::to_string(port.peer.lane);
}

RankScript script_of(const Program& program, Rank rank) {
  return ScriptWriter(program, rank).write();
}

}  // namespace collsim
