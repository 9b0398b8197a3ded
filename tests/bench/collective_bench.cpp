// Whole collectives from program to result: transfers a second, and the memory they need.
// One channel, 1 GiB, `flow`, on textbook-star.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "algorithms/table.hpp"
#include "sim/executor.hpp"
#include "tests/topology/clusters.hpp"

namespace {

// Heap in use now and at most, as this program counts it below: the peak of the process would be
// that of the largest benchmark before.
std::size_t heap_in_use = 0;
std::size_t heap_peak = 0;

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc): this is the allocator
// Not inlined, so that the compiler does not take the pairs apart and object to malloc with delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  heap_in_use += malloc_usable_size(memory);
  heap_peak = std::max(heap_peak, heap_in_use);
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  heap_in_use -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace {

using namespace collsim;

void run_collective(benchmark::State& state, const char* algorithm, CollectiveKind kind) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const Cluster cluster(test::star(ranks));
  ProgramRequest request;
  request.call = call_for_size(kind, ranks, Bytes(INT64_C(1) << 30), DataType::Float32);
  if (!allows_in_place(kind)) {
    request.call.in_place = InPlace::No;
  }
  const auto gpus = cluster.graph().gpus();
  Workload workload;
  workload.operations.emplace_back(
      Collective{build_program(find_algorithm(algorithm), request),
                 std::make_shared<const Communicator>(gpus.begin(), gpus.end())});

  std::uint64_t transfers = 0;
  const std::size_t before = heap_in_use;
  heap_peak = heap_in_use;
  for (auto _ : state) {
    transfers += run_workload(cluster, workload).transfers;
  }
  state.counters["transfers/s"] =
      benchmark::Counter(static_cast<double>(transfers), benchmark::Counter::kIsRate);
  state.counters["peak_MB"] = static_cast<double>(heap_peak - before) / 1e6;
}

void ranks(benchmark::internal::Benchmark* bench) {
  bench->Arg(64)->Arg(256)->Arg(1024)->ArgName("ranks")->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(run_collective, ring_all_reduce, "ring", CollectiveKind::AllReduce)->Apply(ranks);
BENCHMARK_CAPTURE(run_collective, tree_all_reduce, "tree", CollectiveKind::AllReduce)->Apply(ranks);
BENCHMARK_CAPTURE(run_collective, pairwise_all_to_all, "pairwise", CollectiveKind::AllToAll)
    ->Apply(ranks);
// Steps with one receive slot a peer.
BENCHMARK_CAPTURE(run_collective, direct_reduce_scatter, "direct", CollectiveKind::ReduceScatter)
    ->Apply(ranks);
BENCHMARK_CAPTURE(run_collective, direct_all_reduce, "direct", CollectiveKind::AllReduce)
    ->Apply(ranks);

}  // namespace
