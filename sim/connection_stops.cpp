#include "sim/connection_stops.hpp"

#include <string>

#include "topology/error.hpp"

namespace collsim::detail {

namespace {

DeviceId nic_of(const Graph& graph, DeviceId gpu, std::uint32_t position) {
  const auto node = graph.device(gpu).node;
  const auto nics = node ? graph.nics(*node) : std::span<const DeviceId>();
  if (position >= nics.size()) {
    throw SimulationError("a connection of " + graph.name(gpu) + " is to go by NIC " +
                          std::to_string(position) + " of its node, which has " +
                          std::to_string(nics.size()));
  }
  return nics[position];
}

DeviceId host_of(const Cluster& cluster, DeviceId gpu) {
  const auto cpu = cluster.router().cpu_of(gpu);
  if (!cpu) {
    throw SimulationError("a connection is to go through the host memory of " +
                          cluster.graph().name(gpu) + ", which reaches no CPU");
  }
  return *cpu;
}

}  // namespace

std::vector<DeviceId> stops_of(const Cluster& cluster, const Communicator& communicator, Rank from,
                               Rank to, const Waypoints& waypoints) {
  const Graph& graph = cluster.graph();
  DeviceId sender = communicator[from.index()];
  const DeviceId receiver = communicator[to.index()];
  std::vector<DeviceId> stops;
  if (waypoints.through) {
    if (waypoints.through->index() >= communicator.size()) {
      throw SimulationError("a connection of rank " + std::to_string(from.value()) +
                            " is to go through rank " + std::to_string(waypoints.through->value()) +
                            ", which does not exist");
    }
    sender = communicator[waypoints.through->index()];
    stops.push_back(sender);
  }
  if (waypoints.host_out) {
    stops.push_back(host_of(cluster, sender));
  }
  if (waypoints.nic_out) {
    stops.push_back(nic_of(graph, sender, *waypoints.nic_out));
  }
  if (waypoints.nic_in) {
    stops.push_back(nic_of(graph, receiver, *waypoints.nic_in));
  }
  if (waypoints.host_in) {
    stops.push_back(host_of(cluster, receiver));
  }
  return stops;
}

}  // namespace collsim::detail
