// interpret_program: the data checker's sibling that moves numbers.

#include <algorithm>
#include <array>
#include <utility>

#include "algorithms/check.hpp"
#include "algorithms/fifo.hpp"
#include "algorithms/program_walk.hpp"
#include "algorithms/symbolic_memory.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using detail::ConnectionId;
using detail::StepPlace;
using detail::Walk;
using Number = std::optional<double>;
using Numbers = std::vector<Number>;

Number reduced(ReductionOp op, Number a, Number b) {
  if (!a || !b) {
    return std::nullopt;
  }
  switch (op) {
    case ReductionOp::Sum:
    case ReductionOp::Avg:  // divided at the end
      return *a + *b;
    case ReductionOp::Prod:
      return *a * *b;
    case ReductionOp::Min:
      return std::min(*a, *b);
    case ReductionOp::Max:
      return std::max(*a, *b);
  }
  return std::nullopt;
}

class Interpreter final : public detail::StepHandler {
 public:
  Interpreter(const Program& program, const std::vector<std::vector<double>>& inputs);

  Walk execute(const StepPlace& place, const Step& step, std::span<const ConnectionId> received,
               std::span<const ConnectionId> sent) override;
  [[nodiscard]] std::vector<Numbers> outputs() const;

 private:
  using Memories = std::array<Numbers, 3>;  ///< by MemoryPlace::Memory

  /// Calls visit(number) for each element of a span, in order.
  template <class Visit>
  void for_each_element(const StepPlace& place, const Step& step, const Span& span, Visit&& visit);
  [[nodiscard]] Bytes size_of(Rank rank, Buffer buffer) const;
  [[nodiscard]] std::size_t element(Bytes bytes) const {
    return static_cast<std::size_t>(bytes / element_bytes_);
  }
  [[nodiscard]] detail::Fifo<Numbers>& messages(ConnectionId id) {
    if (id.index() >= messages_.size()) {
      messages_.resize(id.index() + 1);
    }
    return messages_[id.index()];
  }

  const Program& program_;
  Bytes element_bytes_;
  std::vector<Memories> ranks_;
  std::vector<detail::Fifo<Numbers>> messages_;  ///< by connection
};

Bytes Interpreter::size_of(Rank rank, Buffer buffer) const {
  switch (buffer) {
    case Buffer::Input:
      return program_.call().input_bytes(rank);
    case Buffer::Output:
      return program_.call().output_bytes(rank);
    case Buffer::Scratch:
      return program_.scratch_bytes(rank);
  }
  return {};
}

Interpreter::Interpreter(const Program& program, const std::vector<std::vector<double>>& inputs)
    : program_(program), element_bytes_(collsim::size_of(program.call().type)) {
  const CollectiveCall& call = program.call();
  if (inputs.size() != call.ranks) {
    throw InputError("expected the inputs of " + std::to_string(call.ranks) + " ranks, got " +
                     std::to_string(inputs.size()));
  }
  for (std::uint32_t i = 0; i < call.ranks; ++i) {
    const Rank rank(i);
    Memories& memories = ranks_.emplace_back();
    for (const Buffer buffer : {Buffer::Input, Buffer::Output, Buffer::Scratch}) {
      const MemoryPlace place = place_of(call, rank, buffer);
      Numbers& memory = memories[static_cast<std::size_t>(place.memory)];
      memory.resize(std::max(memory.size(), element(place.offset + size_of(rank, buffer))));
    }
    const std::size_t expected = element(call.input_bytes(rank));
    if (inputs[i].size() != expected) {
      throw InputError("expected " + std::to_string(expected) + " elements in the input of rank " +
                       std::to_string(i) + ", got " + std::to_string(inputs[i].size()));
    }
    const MemoryPlace place = place_of(call, rank, Buffer::Input);
    std::ranges::copy(inputs[i], memories[static_cast<std::size_t>(place.memory)].begin() +
                                     static_cast<std::ptrdiff_t>(element(place.offset)));
  }
}

template <class Visit>
void Interpreter::for_each_element(const StepPlace& place, const Step& step, const Span& span,
                                   Visit&& visit) {
  auto objection = detail::objection_to(span, step.bytes, size_of(place.rank, span.buffer));
  const bool whole = span.offset.count() % element_bytes_.count() == 0 &&
                     span.run.count() % element_bytes_.count() == 0 &&
                     span.total.count() % element_bytes_.count() == 0 &&
                     (span.run >= span.total || span.stride.count() % element_bytes_.count() == 0);
  if (!objection && !whole) {
    objection = "has a span that cuts elements apart";
  }
  if (objection) {
    throw SimulationError(text_of(place) + ", " + *objection);
  }

  const MemoryPlace memory_place = place_of(program_.call(), place.rank, span.buffer);
  Numbers& memory = ranks_[place.rank.index()][static_cast<std::size_t>(memory_place.memory)];
  detail::for_each_run(span, [&](std::int64_t begin, std::int64_t end) {
    const std::size_t last = element(memory_place.offset + Bytes(end));
    for (std::size_t i = element(memory_place.offset + Bytes(begin)); i < last; ++i) {
      visit(memory[i]);
    }
  });
}

Walk Interpreter::execute(const StepPlace& place, const Step& step,
                          std::span<const ConnectionId> received,
                          std::span<const ConnectionId> sent) {
  std::optional<Numbers> value;
  auto add = [&](Numbers input) {
    if (!value) {
      value = std::move(input);
      return;
    }
    for (std::size_t i = 0; i < value->size(); ++i) {
      (*value)[i] = reduced(program_.call().op, (*value)[i], input[i]);
    }
  };
  auto read = [&](const Span& span) {
    Numbers numbers;
    for_each_element(place, step, span, [&](Number& number) { numbers.push_back(number); });
    return numbers;
  };
  for (const ConnectionId connection : received) {
    add(messages(connection).pop());
  }
  if (step.source) {
    add(read(*step.source));
  }
  if (step.operand) {
    add(read(*step.operand));
  }
  if (!value) {
    value.emplace(element(step.bytes));
  }

  if (step.destination) {
    auto next = value->begin();
    for_each_element(place, step, *step.destination, [&](Number& number) { number = *next++; });
  }
  for (const ConnectionId connection : sent) {
    messages(connection).push(*value);
  }
  return Walk::GoOn;
}

std::vector<Numbers> Interpreter::outputs() const {
  const CollectiveCall& call = program_.call();
  std::vector<Numbers> outputs;
  for (std::uint32_t i = 0; i < call.ranks; ++i) {
    const MemoryPlace place = place_of(call, Rank(i), Buffer::Output);
    const Numbers& memory = ranks_[i][static_cast<std::size_t>(place.memory)];
    const auto first = memory.begin() + static_cast<std::ptrdiff_t>(element(place.offset));
    const auto count = static_cast<std::ptrdiff_t>(element(call.output_bytes(Rank(i))));
    outputs.emplace_back(first, first + count);
    if (!reduces(call.kind) || call.op != ReductionOp::Avg) {
      continue;
    }
    for (Number& number : outputs.back()) {
      if (number) {
        *number /= call.ranks;
      }
    }
  }
  return outputs;
}

}  // namespace

std::vector<std::vector<std::optional<double>>> interpret_program(
    const Program& program, const std::vector<std::vector<double>>& inputs) {
  Interpreter interpreter(program, inputs);
  const detail::WalkReport walk = walk_program(program, interpreter);
  if (!walk.failures.empty()) {
    throw SimulationError(walk.failures.front().text);
  }
  return interpreter.outputs();
}

}  // namespace collsim
