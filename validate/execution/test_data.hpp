#pragma once

// What a collective is tested with on a real machine: inputs that every process can make for itself, and what must come out.
//
// An input element is a function of seed, rank and position. Collectives that move data get random bits, compared bit
// by bit. What is reduced gets random numbers whose sums and products every order of reduction gives exactly, where the type has digits
// enough for that many ranks: so a contribution that is missing or counted twice shows however small it is. Sums are of whole numbers up to 2^p / ranks
// (p: digits of the type), products of powers of two that stay within 2^±6; integers have all their bits and wrap.
// Where the digits do not suffice (8-bit floats, bfloat16 on hundreds of ranks), and for averages, there is a tolerance.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/collective.hpp"
#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim {

/// The first element that is wrong, and how many are.
struct WrongData {
  Rank rank;
  std::int64_t element = 0;  ///< of the output
  std::string expected;
  std::string found;
  std::uint64_t count = 0;  ///< wrong elements of that rank

  /// "rank 1, element 5: expected 3, found 4 (and 7 more)".
  [[nodiscard]] std::string text() const;
};

/// How far a result may be from the exact one: each of ranks-1 roundings errs by at most half a unit in the last of
/// p digits of a partial sum, which is at most `magnitude`; an average is rounded once more, and may have been
/// scaled before it was summed. 0 where all of it is exact, and for integers, products of test data, minima and maxima.
[[nodiscard]] double tolerance(DataType type, ReductionOp op, std::uint32_t ranks,
                               double magnitude);

class TestData {
 public:
  /// Streams of other names are other numbers.
  TestData(const CollectiveCall& call, std::string_view seed);

  /// Requires: `input` has the size of the rank's input buffer.
  void fill_input(Rank rank, std::span<std::byte> input) const;
  /// Absent: the output is as promised. Requires: `output` has the size of the rank's output buffer.
  [[nodiscard]] std::optional<WrongData> check_output(Rank rank, std::span<const std::byte> output);

 private:
  [[nodiscard]] bool is_reduced() const;
  /// Elements from `origin` (bytes) of a rank's input.
  void fill(Rank rank, std::int64_t origin, std::span<std::byte> out) const;
  void reduce_inputs();

  CollectiveCall call_;
  std::uint64_t seed_;
  std::vector<std::byte> reduced_;  ///< of all ranks' inputs; made when first needed
};

}  // namespace collsim
