#pragma once

// The data checker: executes a program symbolically and says whether every rank ends up with
// exactly the data its collective promises.
//
// Memory holds, per byte range, which element it is and which ranks have contributed to it how
// often. Ranges are kept as intervals that split on demand, so the cost follows the number of
// steps, not the number of bytes. Two lanes of a rank that touch the same bytes, one of them
// writing, must be ordered by the rank's own dependencies (lane order, join, after); an order that
// exists only through messages of other ranks counts as a race. Ignored: time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program.hpp"

namespace collsim {

struct CheckFailure {
  enum class Kind : std::uint8_t {
    WrongData,         ///< an output holds something else than promised
    MissingData,       ///< bytes read, or promised, that nobody has written
    Duplicate,         ///< a rank's contribution counted twice
    MixedElements,     ///< different elements reduced with each other
    Race,              ///< two lanes touch the same bytes without order
    Deadlock,          ///< lanes wait for each other, or for what nobody sends
    UnmatchedMessage,  ///< sent and never received, or of another size than expected
    BadProgram,        ///< spans outside buffers, inconsistent connections, sizes that differ, …
  };
  Kind kind = Kind::WrongData;
  Rank rank;
  std::uint32_t lane = 0;
  std::uint64_t step = 0;
  std::string text;  ///< one sentence that names rank, lane and step
};
[[nodiscard]] std::string_view name_of(CheckFailure::Kind kind);

struct CheckReport {
  std::vector<CheckFailure> failures;  ///< the first `max_failures` found, in a fixed order
  std::uint64_t steps = 0;             ///< executed
  std::uint64_t messages = 0;          ///< received
  [[nodiscard]] bool ok() const { return failures.empty(); }
};

/// Runs the program on symbolic data. Complexity: O(steps · log) for regular programs.
[[nodiscard]] CheckReport check_program(const Program& program, std::size_t max_failures = 8);

/// Runs the program on numbers: `inputs[rank]` has the rank's input elements (as many as
/// call().input_bytes(rank) holds). Returns each rank's output elements; elements that nobody wrote
/// are absent. Reductions follow call().op; avg divides by the ranks at the end.
/// Throws: SimulationError if the program cannot finish.
[[nodiscard]] std::vector<std::vector<std::optional<double>>> interpret_program(
    const Program& program, const std::vector<std::vector<double>>& inputs);

}  // namespace collsim
