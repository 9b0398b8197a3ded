#include "validate/execution/port_pairs.hpp"

#include <optional>
#include <string>

#include "topology/error.hpp"

namespace collsim {

namespace {

/// The port that a slot of a lane is; absent: the lane does not use it.
std::optional<std::uint32_t> port_of(const std::vector<Port>& ports, std::uint32_t first,
                                     const Connection& end) {
  const std::uint32_t port = first + end.slot;
  if (port < ports.size() && ports[port].lane == end.lane && ports[port].messages > 0) {
    return port;
  }
  return std::nullopt;
}

std::string lane_name(Rank rank, std::uint32_t lane) {
  return "rank " + std::to_string(rank.value()) + ", lane " + std::to_string(lane);
}

void require_sender(const std::vector<const RankScript*>& scripts, const Port& port) {
  const RankScript& peer = *scripts[port.peer.peer.index()];
  if (!port_of(peer.out, peer.lanes[port.peer.lane].first_out, port.peer)) {
    throw SimulationError(lane_name(port.peer.peer, port.peer.lane) +
                          ", never sends what another rank receives from it");
  }
}

}  // namespace

std::vector<std::vector<std::uint32_t>> port_pairs(const std::vector<const RankScript*>& scripts) {
  std::vector<std::vector<std::uint32_t>> pairs(scripts.size());
  for (std::size_t rank = 0; rank < scripts.size(); ++rank) {
    const RankScript& script = *scripts[rank];
    pairs[rank].resize(script.out.size());
    for (std::size_t i = 0; i < script.out.size(); ++i) {
      const Port& port = script.out[i];
      if (port.messages == 0) {
        continue;
      }
      const RankScript& peer = *scripts[port.peer.peer.index()];
      const auto found = port_of(peer.in, peer.lanes[port.peer.lane].first_in, port.peer);
      const std::uint64_t received = found ? peer.in[*found].messages : 0;
      if (received != port.messages) {
        throw SimulationError(lane_name(script.rank, port.lane) + ", sends " +
                              std::to_string(port.messages) + " messages to " +
                              script.peer_name(port) + ", which receives " +
                              std::to_string(received));
      }
      pairs[rank][i] = *found;
    }
  }
  for (const RankScript* const script : scripts) {
    for (const Port& port : script->in) {
      if (port.messages > 0) {
        require_sender(scripts, port);
      }
    }
  }
  return pairs;
}

}  // namespace collsim
