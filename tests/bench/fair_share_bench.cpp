// The solver alone, on the systems that collectives on a star make.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "sim/fair_share.hpp"

namespace collsim {
namespace {

constexpr std::int64_t capacity = 51'200'000'000'000;  // 50 GB/s in 2^-10 B/s

struct Systems {
  std::vector<std::int64_t> capacities;
  std::vector<ResourceUse> uses;
  std::vector<FairShareFlow> flows;

  /// A flow over the up-link of one rank (0 … n-1) and the down-link of another (n … 2n-1).
  void add(std::uint32_t up, std::uint32_t down) {
    uses.push_back({up, 1, 1});
    uses.push_back({down, 1, 1});
  }
  void finish() {
    for (std::size_t i = 0; i + 1 < uses.size(); i += 2) {
      flows.push_back({{&uses[i], 2}, 1, 1});
    }
  }
};

void solve(benchmark::State& state, const Systems& system) {
  FairShareSolver solver;
  std::vector<FairShare> shares;
  for (auto _ : state) {
    solver.solve(system.capacities, system.flows, shares);
    benchmark::DoNotOptimize(shares.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(system.flows.size()));
}

/// n flows into one link: items are flows.
void many_to_one(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  Systems system;
  system.capacities.assign(std::size_t{2} * n, capacity);
  for (std::uint32_t i = 1; i < n; ++i) {
    system.add(i, n);
  }
  system.finish();
  solve(state, system);
}
BENCHMARK(many_to_one)->Arg(2)->Arg(8)->Arg(64)->Arg(1024);

/// Everybody to everybody: n·(n-1) flows, all links tied.
void all_to_all(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  Systems system;
  system.capacities.assign(std::size_t{2} * n, capacity);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      if (i != j) {
        system.add(i, n + j);
      }
    }
  }
  system.finish();
  solve(state, system);
}
BENCHMARK(all_to_all)->Arg(8)->Arg(64)->Arg(256)->Arg(1024);

/// Everybody to everybody with a different capacity on each link: as many rounds as links.
void many_rounds(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  Systems system;
  for (std::uint32_t link = 0; link < 2 * n; ++link) {
    system.capacities.push_back(capacity + 1'000'000'000 * static_cast<std::int64_t>(link));
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      if (i != j) {
        system.add(i, n + j);
      }
    }
  }
  system.finish();
  solve(state, system);
}
BENCHMARK(many_rounds)->Arg(8)->Arg(64)->Arg(256);

}  // namespace
}  // namespace collsim
