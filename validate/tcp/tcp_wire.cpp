#include "validate/tcp/tcp_wire.hpp"

#include <algorithm>

#include "validate/execution/execution_error.hpp"

namespace collsim {

TcpWire::Ring::Ring(std::uint64_t slots, std::size_t bytes)
    : memory(static_cast<std::size_t>(slots) * bytes),
      slot_bytes(bytes),
      sizes(static_cast<std::size_t>(slots)) {}

std::byte* TcpWire::Ring::place(std::uint64_t message) {
  return memory.data() + (message % sizes.size()) * slot_bytes;
}

TcpWire::TcpWire(const RankScript& script, Mesh& mesh) : script_(script), mesh_(mesh) {
  in_.reserve(script.in.size());
  out_.reserve(script.out.size());
  constexpr std::size_t alignment = ByteBuffer::alignment;
  const auto padded = [](Bytes bytes) {
    return (static_cast<std::size_t>(bytes.count()) + alignment - 1) / alignment * alignment;
  };
  for (const Port& port : script.in) {
    in_.emplace_back(port.slots(), padded(port.largest));
  }
  for (const Port& port : script.out) {
    out_.emplace_back(port.slots(), padded(port.largest));
  }
}

bool TcpWire::arrived(std::uint32_t in_port) { return in_[in_port].in != in_[in_port].out; }

bool TcpWire::has_credit(std::uint32_t out_port) {
  const Ring& ring = out_[out_port];
  return ring.in - ring.out < ring.sizes.size();
}

std::span<const std::byte> TcpWire::message(std::uint32_t in_port) {
  Ring& ring = in_[in_port];
  return {ring.place(ring.out), ring.sizes[ring.out % ring.sizes.size()]};
}

void TcpWire::release(std::uint32_t in_port) {
  ++in_[in_port].out;
  const Connection& peer = script_.in[in_port].peer;
  mesh_.send(peer.peer.value(), {FrameKind::Credit, peer.lane, peer.slot, 0, 0});
}

std::byte* TcpWire::slot(std::uint32_t out_port) {
  Ring& ring = out_[out_port];
  return ring.place(ring.in);
}

void TcpWire::send(std::uint32_t out_port, std::size_t bytes) {
  Ring& ring = out_[out_port];
  const Connection& peer = script_.out[out_port].peer;
  mesh_.send(peer.peer.value(), {FrameKind::Message, peer.lane, peer.slot, 0, bytes},
             {ring.place(ring.in), bytes});
  ++ring.in;
}

std::uint32_t TcpWire::port_of(const FrameHeader& header, std::uint32_t peer, bool receives) const {
  const std::vector<Port>& ports = receives ? script_.in : script_.out;
  if (header.lane < script_.lanes.size()) {
    const LaneScript& lane = script_.lanes[header.lane];
    const std::uint64_t port =
        std::uint64_t{receives ? lane.first_in : lane.first_out} + header.slot;
    if (port < ports.size() && ports[port].lane == header.lane && ports[port].messages > 0 &&
        ports[port].peer.peer.value() == peer) {
      return static_cast<std::uint32_t>(port);
    }
  }
  throw ExecutionError("rank " + std::to_string(peer) +
                       " sent a message for a connection that is not there: lane " +
                       std::to_string(header.lane) + ", slot " + std::to_string(header.slot));
}

std::span<std::byte> TcpWire::place_for(std::uint32_t peer, const FrameHeader& header) {
  Ring& ring = in_[port_of(header, peer, true)];
  if (header.bytes > ring.slot_bytes || ring.in - ring.out >= ring.sizes.size()) {
    throw ExecutionError("rank " + std::to_string(peer) + " sent " + std::to_string(header.bytes) +
                         " bytes to lane " + std::to_string(header.lane) + ", slot " +
                         std::to_string(header.slot) + ", which has no room for them");
  }
  return {ring.place(ring.in), static_cast<std::size_t>(header.bytes)};
}

void TcpWire::message_complete(std::uint32_t peer, const FrameHeader& header) {
  Ring& ring = in_[port_of(header, peer, true)];
  ring.sizes[ring.in % ring.sizes.size()] = static_cast<std::size_t>(header.bytes);
  ++ring.in;
}

void TcpWire::credit(std::uint32_t peer, const FrameHeader& header) {
  ++out_[port_of(header, peer, false)].out;
}

bool TcpWire::is_settled() const {
  return std::ranges::all_of(out_, [](const Ring& ring) { return ring.in == ring.out; });
}

}  // namespace collsim
