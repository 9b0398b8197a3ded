// How long clusters take to build, and routes to find.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "tests/topology/clusters.hpp"

namespace collsim {

namespace {

void build(benchmark::State& state, const ClusterSpec& spec) {
  std::size_t links = 0;
  for (auto _ : state) {
    const Cluster cluster(spec);
    links = cluster.graph().links().size();
  }
  state.counters["links"] = static_cast<double>(links);
}

/// Routes between GPUs that are far apart in order, all over the cluster.
void route(benchmark::State& state, const ClusterSpec& spec) {
  const Cluster cluster(spec);
  const auto gpus = cluster.graph().gpus();
  std::size_t from = 0;
  std::size_t to = gpus.size() / 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cluster.router().route(gpus[from], gpus[to]));
    from = (from + 1) % gpus.size();
    to = (to + 7) % gpus.size();
    if (from == to) {
      to = (to + 1) % gpus.size();
    }
  }
}

std::uint32_t size(const benchmark::State& state) {
  return static_cast<std::uint32_t>(state.range(0));
}

void build_star(benchmark::State& state) { build(state, test::star(size(state))); }
void build_mesh(benchmark::State& state) { build(state, test::mesh(size(state))); }
void build_leaf_spine(benchmark::State& state) {
  build(state, test::dgx_leaf_spine(size(state), 64, 1, RoutingKind::Fixed));
}
void route_star(benchmark::State& state) { route(state, test::star(size(state))); }
void route_mesh(benchmark::State& state) { route(state, test::mesh(size(state))); }
void route_leaf_spine(benchmark::State& state) {
  route(state, test::dgx_leaf_spine(size(state), 64, 1, RoutingKind::Fixed));
}
void route_sprayed(benchmark::State& state) {
  route(state, test::dgx_leaf_spine(size(state), 64, 1, RoutingKind::Spray));
}

BENCHMARK(build_star)->Arg(1024)->Arg(131072)->Unit(benchmark::kMillisecond);
BENCHMARK(build_mesh)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(build_leaf_spine)->Arg(32)->Arg(2048)->Unit(benchmark::kMillisecond);
BENCHMARK(route_star)->Arg(8)->Arg(131072);
BENCHMARK(route_mesh)->Arg(8)->Arg(1024);
BENCHMARK(route_leaf_spine)->Arg(32)->Arg(2048);
BENCHMARK(route_sprayed)->Arg(32)->Arg(2048);

}  // namespace

}  // namespace collsim
