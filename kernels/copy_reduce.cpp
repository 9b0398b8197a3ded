#include "kernels/copy_reduce.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/operators.hpp"
#include "kernels/with_element.hpp"
#include "topology/error.hpp"

namespace collsim::kernels {

namespace {

/// Several tiles fit the smallest first-level caches (32 KiB).
constexpr std::size_t tile_bytes = 8192;

// Elements lie in memory that knows only bytes.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
template <class T>
T* as(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}
template <class T>
const T* as(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

template <class Operator, class T>
void reduce_all(std::byte* out, const std::byte* a, const std::byte* b, std::size_t elements) {
  reduce_elements<Operator>(as<T>(out), as<T>(a), as<T>(b), elements, 0, 1);
}

template <class T>
void divide_all(std::byte* data, std::uint32_t divisor, std::size_t elements) {
  divide_elements(as<T>(data), divisor, elements, 0, 1);
}

template <class T>
ReduceLoop loop_for(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
    case ReductionOp::Avg:
      return reduce_all<Sum, T>;
    case ReductionOp::Prod:
      return reduce_all<Prod, T>;
    case ReductionOp::Min:
      return reduce_all<Min, T>;
    case ReductionOp::Max:
      return reduce_all<Max, T>;
  }
  COLLSIM_ENSURE(false, "every operator has a loop");
}

}  // namespace

ReduceLoop reduce_loop(DataType type, ReductionOp op) {
  return with_element(type, [op]<class T>() { return loop_for<T>(op); });
}

DivideLoop divide_loop(DataType type) {
  return with_element(type, []<class T>() -> DivideLoop { return divide_all<T>; });
}

CopyReduce::CopyReduce(DataType type, ReductionOp op)
    : reduce(reduce_loop(type, op)),
      element_bytes(static_cast<std::size_t>(size_of(type).count())) {}

void CopyReduce::operator()(std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, std::size_t bytes) const {
  if (bytes == 0 || outputs.empty()) {
    return;
  }
  const bool one_pass = outputs.size() == 1 && inputs.size() <= 2;
  const std::size_t tile = one_pass ? bytes : tile_bytes;
  for (std::size_t begin = 0; begin < bytes; begin += tile) {
    reduce_tile(inputs, outputs, begin, std::min(tile, bytes - begin));
  }
}

void CopyReduce::reduce_tile(std::span<const std::byte* const> inputs,
                             std::span<std::byte* const> outputs, std::size_t begin,
                             std::size_t bytes) const {
  const std::size_t elements = bytes / element_bytes;
  const std::byte* value = inputs.front() + begin;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read, where it is
  alignas(64) std::array<std::byte, tile_bytes> sum;
  if (inputs.size() == 2) {
    std::byte* const out = outputs.front() + begin;
    reduce(out, value, inputs[1] + begin, elements);
    value = out;
  } else if (inputs.size() > 2) {
    // Not in an output: that may be one of the inputs still to come.
    reduce(sum.data(), value, inputs[1] + begin, elements);
    for (const std::byte* const input : inputs.subspan(2)) {
      reduce(sum.data(), sum.data(), input + begin, elements);
    }
    value = sum.data();
  }
  for (std::byte* const output : outputs) {
    if (output + begin != value) {
      std::memcpy(output + begin, value, bytes);
    }
  }
}

}  // namespace collsim::kernels
