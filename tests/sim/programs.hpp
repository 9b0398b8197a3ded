#pragma once

// Small runs for the tests of the executor: programs written out by hand on textbook machines.
// There a byte takes 20 ps and a route 10^6 ps of latency.

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/table.hpp"
#include "sim/executor.hpp"
#include "tests/algorithms/table_program.hpp"
#include "tests/topology/clusters.hpp"

namespace collsim::test {

/// Time of the bytes alone, and of a route's latency, on textbook-mesh and textbook-star.
constexpr Duration wire(std::int64_t bytes) { return Duration(20 * bytes); }
constexpr Duration latency = std::chrono::microseconds(1);
constexpr Time at(Duration since_start) { return Time(since_start); }

/// A program whose call says nothing but the number of ranks: the executor asks for no more.
inline TableProgram program_for(std::uint32_t ranks) {
  CollectiveCall call;
  call.ranks = ranks;
  call.count = 1;
  return TableProgram(call);
}

inline std::shared_ptr<const Communicator> gpus(const Cluster& cluster) {
  const auto all = cluster.graph().gpus();
  return std::make_shared<const Communicator>(all.begin(), all.end());
}
/// GPUs by number, over all nodes, in this order.
inline std::shared_ptr<const Communicator> gpus(const Cluster& cluster,
                                                const std::vector<std::uint32_t>& numbers) {
  Communicator communicator;
  for (const std::uint32_t number : numbers) {
    communicator.push_back(cluster.graph().gpus()[number]);
  }
  return std::make_shared<const Communicator>(std::move(communicator));
}

inline Collective collective(TableProgram program, std::shared_ptr<const Communicator> communicator,
                             Launch launch = Launch::Blocking) {
  return {std::make_shared<const TableProgram>(std::move(program)), std::move(communicator),
          launch};
}

/// An algorithm of the table on all ranks of a communicator.
inline Collective collective(const char* algorithm, CollectiveKind kind, Bytes bytes,
                             const std::shared_ptr<const Communicator>& communicator,
                             Launch launch = Launch::Blocking) {
  ProgramRequest request;
  request.call = call_for_size(kind, static_cast<std::uint32_t>(communicator->size()), bytes,
                               DataType::Float32);
  return {build_program(find_algorithm(algorithm), request), communicator, launch};
}

inline RunResult run(const Cluster& cluster, std::vector<Workload::Operation> operations,
                     const RunOptions& options = {}) {
  Workload workload;
  workload.operations = std::move(operations);
  return run_workload(cluster, workload, options);
}

inline RunOptions ideal() {
  RunOptions options;
  options.network = NetworkModel::Ideal;
  return options;
}

inline RunResult run_on_all(const Cluster& cluster, TableProgram program,
                            const RunOptions& options = {}) {
  return run(cluster, {collective(std::move(program), gpus(cluster))}, options);
}

}  // namespace collsim::test
