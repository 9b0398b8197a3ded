// Network models with the event queue, driven without programs: items are transfers.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/network.hpp"
#include "topology/graph.hpp"

namespace collsim {
namespace {

/// A star of n GPUs: link 2i leads from GPU i to the switch, 2i + 1 back; 50 GB/s and 500 ns each.
Graph star(std::uint32_t n) {
  GraphBuilder builder;
  const std::uint32_t gpu = builder.add_stem("gpu", true);
  const std::uint32_t hub = builder.add_stem("switch", false);
  const DeviceId center = builder.add_device(DeviceKind::NetworkSwitch, std::nullopt, hub, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    const DeviceId device = builder.add_device(DeviceKind::Gpu, NodeId(0), gpu, i);
    builder.add_cable({device, center, Bandwidth::bytes_per_second(50'000'000'000),
                       Duration(500'000), LinkKind::Generic, builder.add_level("link")});
  }
  return std::move(builder).freeze();
}

Route route(std::uint32_t from, std::uint32_t to) {
  return {{{LinkId(2 * from), 1, 1}, {LinkId(2 * to + 1), 1, 1}}, Duration(1'000'000)};
}

/// Handles events until none is left. An arrival (one latency after a departure) of transfer i with
/// rounds to go starts it again on its path: each rank passes on what it has got.
class Driver {
 public:
  Driver(NetworkModel model, const Graph& graph) : network_(make_network(model, graph, queue_)) {}

  void add(const Route& along, Bytes bytes, std::uint32_t rounds) {
    lanes_.push_back({network_->open(along), bytes, rounds});
  }
  std::uint64_t run() {
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
      start(i);
    }
    network_->settle();
    while (!queue_.empty()) {
      const Time now = queue_.next_time();
      while (!queue_.empty() && queue_.next_time() == now) {
        handle(queue_.pop());
      }
      network_->settle();
    }
    return transfers_;
  }

 private:
  struct Lane {
    PathId path;
    Bytes bytes;
    std::uint32_t rounds = 0;
  };
  void start(std::uint32_t lane) {
    network_->start(lanes_[lane].path, lanes_[lane].bytes, lane);
    ++transfers_;
  }
  void handle(const Event& event) {
    if (event.phase == EventPhase::Arrival) {
      if (--lanes_[event.subject].rounds > 0) {
        start(event.subject);
      }
      return;
    }
    const auto departure = network_->depart(event);
    if (!departure) {
      return;
    }
    queue_.push({queue_.now() + Duration(1'000'000), EventPhase::Arrival, departure->tag, 0});
  }

  EventQueue queue_;
  std::unique_ptr<Network> network_;
  std::vector<Lane> lanes_;
  std::uint64_t transfers_ = 0;
};

template <class AddLanes>
void run(benchmark::State& state, NetworkModel model, const AddLanes& add_lanes) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const Graph graph = star(n);
  std::int64_t transfers = 0;
  for (auto _ : state) {
    Driver driver(model, graph);
    add_lanes(driver, n);
    transfers += static_cast<std::int64_t>(driver.run());
  }
  state.SetItemsProcessed(transfers);
}

/// As a ring all-reduce of 1 GiB: 2(n-1) rounds, each rank to the next; no link is shared.
void add_ring(Driver& driver, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) {
    driver.add(route(i, (i + 1) % n), Bytes((std::int64_t{1} << 30) / n), 2 * (n - 1));
  }
}
void ring_flow(benchmark::State& state) { run(state, NetworkModel::Flow, add_ring); }
void ring_ideal(benchmark::State& state) { run(state, NetworkModel::Ideal, add_ring); }
BENCHMARK(ring_flow)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_ideal)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

/// A ring in which every rank sends another size: departures are scattered in time.
void uneven_ring_flow(benchmark::State& state) {
  run(state, NetworkModel::Flow, [](Driver& driver, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      driver.add(route(i, (i + 1) % n), Bytes((std::int64_t{1} << 20) + 4099 * i), 2 * (n - 1));
    }
  });
}
BENCHMARK(uneven_ring_flow)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

/// Everybody to GPU 0, equal sizes, ten times.
void many_to_one_flow(benchmark::State& state) {
  run(state, NetworkModel::Flow, [](Driver& driver, std::uint32_t n) {
    for (std::uint32_t i = 1; i < n; ++i) {
      driver.add(route(i, 0), Bytes(1 << 20), 10);
    }
  });
}
BENCHMARK(many_to_one_flow)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

/// Everybody to GPU 0, each another size: every departure changes all rates.
void uneven_many_to_one_flow(benchmark::State& state) {
  run(state, NetworkModel::Flow, [](Driver& driver, std::uint32_t n) {
    for (std::uint32_t i = 1; i < n; ++i) {
      driver.add(route(i, 0), Bytes((1 << 20) + 4099 * i), 1);
    }
  });
}
BENCHMARK(uneven_many_to_one_flow)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

/// Everybody to everybody at once: one component of n·(n-1) transfers.
void all_to_all_flow(benchmark::State& state) {
  run(state, NetworkModel::Flow, [](Driver& driver, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        if (i != j) {
          driver.add(route(i, j), Bytes(1 << 20), 1);
        }
      }
    }
  });
}
BENCHMARK(all_to_all_flow)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace collsim
