#include "study/measured_calls.hpp"

#include <algorithm>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// nccl-tests' own.
constexpr Iterations iterations{5, 20};

/// What a table says that NCCL was made to run, if it does, and its buffers.
NcclWish wish_of(const MeasuredTable& table, const CollectiveCall& call) {
  const MeasuredSoftware& software = table.run->software;
  NcclWish wish;
  if (is_nccl_algorithm(software.algorithm)) {
    wish.algorithm = find_nccl_algorithm(software.algorithm).algorithm;
  } else if (software.buffers == BuffersWere::Symmetric &&
             takes_symmetric(*table.decisions, call)) {
    wish.buffers = NcclBuffers::Symmetric;
  }
  return wish;
}

}  // namespace

bool ran_our_program(const MeasuredRun& run) {
  const MeasuredSoftware& software = run.software;
  return !software.algorithm.empty() && software.backend != "nccl" &&
         !is_nccl_algorithm(software.algorithm);
}

Communicator first_gpus(const Cluster& cluster, std::uint32_t nodes, std::uint32_t gpus_per_node) {
  const Graph& graph = cluster.graph();
  std::vector<std::uint32_t> taken(graph.nodes(), 0);
  Communicator gpus;
  for (const DeviceId gpu : graph.gpus()) {
    const std::size_t node = graph.device(gpu).node.value_or(NodeId(0)).index();
    if (node < nodes && taken[node] < gpus_per_node) {
      ++taken[node];
      gpus.push_back(gpu);
    }
  }
  const std::uint64_t wanted = std::uint64_t{nodes} * gpus_per_node;
  if (gpus.size() != wanted) {
    throw InputError(std::to_string(gpus_per_node) + " GPUs on each of " + std::to_string(nodes) +
                     " nodes were measured, " + cluster.name() + " has not so many");
  }
  return gpus;
}

std::optional<MeasuredCall> measured_call(const MeasuredTable& table, const MeasuredRow& row) {
  MeasuredCall call;
  call.table = &table;
  call.row = &row;
  call.call = call_for_size(table.run->collective, table.run->ranks, row.bytes, table.run->type);
  if (call.call.count == 0 || row.time <= Duration{}) {
    return std::nullopt;
  }
  call.call.in_place = row.in_place.value_or(InPlace::No);
  if (!allows_in_place(call.call.kind)) {
    call.call.in_place = InPlace::No;
  }
  if (table.run->redop) {
    call.call.op = *table.run->redop;
  }
  if (table.is_of_our_program) {
    call.program.algorithm = table.run->software.algorithm;
    call.program.channels = table.run->software.channels;
    return call;
  }
  call.program = nccl_program(
      *table.decisions, {}, call.call, wish_of(table, call.call),
      routes_ignore_channels(*table.cluster) ? ChannelsRun::Joined : ChannelsRun::Each);
  return call;
}

CollectiveResult predict(const MeasuredCall& call, const CostParameters& costs,
                         AttributeTo attribute) {
  const MeasuredTable& table = *call.table;
  CollectiveJob job;
  job.call = call.call;
  job.gpus = table.gpus;
  job.algorithm = call.program.algorithm;
  job.programs = {call.program.program};
  RunOptions options;
  options.costs = &costs;
  std::optional<CostParameters> with_network;
  if (table.network) {
    with_network = costs;
    with_network->lay_over(*table.network);
    options.costs = &*with_network;
  }
  options.attribute = attribute;
  if (table.launch.mode == LaunchMode::CudaGraph) {
    options.launch = LaunchFrom::CudaGraph;
  } else {
    options.host_per_call = host_per_call(costs, table.launch.gpus_per_process);
  }
  return run_back_to_back(*table.cluster, job, iterations, options);
}

CollectiveResult predict_our_program(const MeasuredCall& call) {
  CollectiveJob job;
  job.call = call.call;
  job.gpus = call.table->gpus;
  job.algorithm = call.program.algorithm;
  job.channels = call.program.channels;
  job.chunks = call.table->run->software.chunks;
  return run_back_to_back(*call.table->cluster, job, iterations, {});
}

}  // namespace collsim
