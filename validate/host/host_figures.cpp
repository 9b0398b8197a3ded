#include "validate/host/host_figures.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

#include "algorithms/table.hpp"
#include "kernels/copy_reduce.hpp"
#include "topology/error.hpp"
#include "validate/host/host_execution.hpp"

namespace collsim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Bytes small{8};
constexpr Bytes large{4 << 20};

Bandwidth rate(Bytes bytes, Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return Bandwidth::bytes_per_second(
      static_cast<std::int64_t>(static_cast<double>(bytes.count()) / seconds));
}

/// The best of several: what disturbs only adds.
template <class Measure>
Duration best_of(int times, Measure measure) {
  Duration best = measure();
  for (int i = 1; i < times; ++i) {
    best = std::min(best, measure());
  }
  return best;
}

Bandwidth copy_rate() {
  constexpr std::size_t bytes = std::size_t{64} << 20U;
  ByteBuffer from(bytes);
  ByteBuffer to(bytes);
  std::ranges::fill(from.bytes(), std::byte{1});
  std::ranges::fill(to.bytes(), std::byte{0});
  const kernels::CopyReduce copy(DataType::Uint8, ReductionOp::Sum);
  const std::array<const std::byte*, 1> inputs{from.data()};
  const std::array<std::byte*, 1> outputs{to.data()};
  const Duration time = best_of(5, [&] {
    const auto begin = Clock::now();
    copy(inputs, outputs, bytes);
    return Duration(Clock::now() - begin);
  });
  return rate(Bytes(bytes), time);
}

/// Two threads wake each other in turn: half of a round.
Duration wake_up_time() {
  constexpr std::uint32_t rounds = 500;
  Doorbell here;
  Doorbell there;
  const auto answer = [&] {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      while (there.count() == round) {
        there.wait(round, 0);
      }
      here.ring();
    }
  };
  std::jthread partner;
  try {
    partner = std::jthread(answer);
  } catch (const std::system_error& error) {
    throw too_few_threads(0, 1, error);
  }
  const auto begin = Clock::now();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    there.ring();
    while (here.count() == round) {
      here.wait(round, 0);
    }
  }
  return Duration(Clock::now() - begin) / (2 * rounds);
}

/// Of one exchange in which every rank sends to the next one.
Duration exchange_time(std::uint32_t ranks, Bytes bytes, std::uint32_t calls) {
  ProgramRequest request;
  request.call.kind = CollectiveKind::SendRecv;
  request.call.ranks = ranks;
  request.call.type = DataType::Uint8;
  request.call.count = bytes.count();
  request.call.in_place = InPlace::No;
  const std::shared_ptr<const Program> program = build_program(find_algorithm("direct"), request);
  ExecutionRequest execution;
  execution.warmup = calls / 4 + 1;
  execution.timed = calls;
  execution.check = false;
  return best_of(3, [&] { return execute_on_host(program, execution).time; });
}

}  // namespace

HostFigures measure_host(std::uint32_t ranks) {
  COLLSIM_ENSURE(ranks >= 2, "an exchange has two ranks at least");
  constexpr std::uint32_t many = 100;
  constexpr std::uint32_t few = 8;
  HostFigures figures;
  figures.ranks = ranks;
  figures.copy = copy_rate();
  figures.wake_up = wake_up_time();
  figures.fifo = exchange_time(2, small, many);
  figures.message = exchange_time(ranks, small, many);
  figures.pair = rate(large, exchange_time(2, large, few));
  figures.all = rate(large * ranks, exchange_time(ranks, large, few));
  return figures;
}

}  // namespace collsim
