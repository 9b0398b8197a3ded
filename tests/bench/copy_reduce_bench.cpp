// What a step's copy and reduce take of memory bandwidth, beside memcpy: bytes are those that are read.
// The goal: a copy of a large message within 20 % of memcpy.

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kernels/copy_reduce.hpp"

namespace {

using namespace collsim;

/// Of every float type a number near 1: subnormals are slow.
std::vector<std::byte> filled(std::size_t bytes) {
  return std::vector<std::byte>(bytes, std::byte{0x3c});
}

void memcpy_alone(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<std::byte> from = filled(bytes);
  std::vector<std::byte> to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// range(0): bytes; range(1): outputs.
void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const kernels::CopyReduce step(DataType::Float32, ReductionOp::Sum);
  const std::vector<std::byte> from = filled(bytes);
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(state.range(1)), filled(bytes));
  std::vector<std::byte*> outputs;
  for (auto& out : to) {
    outputs.push_back(out.data());
  }
  const std::vector<const std::byte*> inputs{from.data()};
  for (auto _ : state) {
    step(inputs, outputs, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// range(0): bytes of each of two inputs; range(1): the data type.
void reduce(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const kernels::CopyReduce step(static_cast<DataType>(state.range(1)), ReductionOp::Sum);
  const std::vector<std::byte> a = filled(bytes);
  const std::vector<std::byte> b = filled(bytes);
  std::vector<std::byte> to(bytes);
  const std::vector<const std::byte*> inputs{a.data(), b.data()};
  const std::vector<std::byte*> outputs{to.data()};
  for (auto _ : state) {
    step(inputs, outputs, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * state.iterations() * state.range(0));
}

constexpr std::int64_t small = 16 << 10;
constexpr std::int64_t large = 64 << 20;

BENCHMARK(memcpy_alone)->Arg(small)->Arg(large);
BENCHMARK(copy)->ArgsProduct({{small, large}, {1, 2}});
BENCHMARK(reduce)->ArgsProduct(
    {{small, large},
     {static_cast<std::int64_t>(DataType::Int8), static_cast<std::int64_t>(DataType::Float32),
      static_cast<std::int64_t>(DataType::Half), static_cast<std::int64_t>(DataType::Bfloat16),
      static_cast<std::int64_t>(DataType::Fp8E4m3)}});

}  // namespace
