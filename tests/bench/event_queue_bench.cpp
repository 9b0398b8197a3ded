// The event queue alone: a constant number of pending events, each pop followed by a push.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>

#include "sim/event_queue.hpp"

namespace collsim {
namespace {

/// All events of a round at the same time, as in a symmetric collective.
void rounds(benchmark::State& state) {
  EventQueue queue;
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  for (std::uint32_t i = 0; i < pending; ++i) {
    queue.push({Time(Duration(1)), EventPhase::Departure, i, 0});
  }
  for (auto _ : state) {
    const Event event = queue.pop();
    queue.push({event.time + Duration(1'000'000), event.phase, event.subject, 0});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(rounds)->Arg(64)->Arg(1024)->Arg(65536);

/// Every event at a time of its own.
void scattered(benchmark::State& state) {
  EventQueue queue;
  std::mt19937_64 random(1);
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  const auto delay = [&random] { return Duration(static_cast<std::int64_t>(random() >> 30U)); };
  for (std::uint32_t i = 0; i < pending; ++i) {
    queue.push({Time(delay()), EventPhase::Departure, i, 0});
  }
  for (auto _ : state) {
    const Event event = queue.pop();
    queue.push({event.time + delay(), event.phase, event.subject, 0});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(scattered)->Arg(64)->Arg(1024)->Arg(65536);

}  // namespace
}  // namespace collsim
