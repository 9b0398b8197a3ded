#pragma once

// Copy and reduce on a processor: what a step does with its bytes, whatever their type.
//
// The loops are those of operators.hpp, once a type and operator; a step that reduces more than two inputs, or has
// more than one output, works tile by tile, so that what it has computed is still in the cache.

#include <cstddef>
#include <cstdint>
#include <span>

#include "algorithms/collective.hpp"

namespace collsim::kernels {

/// out[i] = a[i] op b[i]; Avg sums. Requires: elements aligned to their size; `out` is `a` or `b` or does not
/// overlap with them.
using ReduceLoop = void (*)(std::byte* out, const std::byte* a, const std::byte* b,
                            std::size_t elements);
[[nodiscard]] ReduceLoop reduce_loop(DataType type, ReductionOp op);

/// What turns the sums of an average into it.
using DivideLoop = void (*)(std::byte* data, std::uint32_t divisor, std::size_t elements);
[[nodiscard]] DivideLoop divide_loop(DataType type);

/// One step's kind of work.
struct CopyReduce {
  ReduceLoop reduce = nullptr;
  std::size_t element_bytes = 1;

  CopyReduce(DataType type, ReductionOp op);

  /// Writes the reduction of all inputs (of one: a copy) to all outputs.
  /// Requires: at least one input; `bytes` are whole elements where there are several; an output is an input or does
  /// not overlap with any.
  void operator()(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                  std::size_t bytes) const;

 private:
  void reduce_tile(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                   std::size_t begin, std::size_t bytes) const;
};

}  // namespace collsim::kernels
