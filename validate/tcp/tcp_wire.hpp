#pragma once

// The connections of a rank's program over a mesh of sockets: FIFOs whose sending half is here and whose receiving half
// is at the peer. A message stays in its slot here until the peer has released it there: slots are as many at both ends, and
// what arrives always finds room.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "validate/execution/rank_memory.hpp"
#include "validate/execution/script.hpp"
#include "validate/execution/wire.hpp"
#include "validate/tcp/mesh.hpp"

namespace collsim {

class TcpWire final : public Wire, public FrameSink {
 public:
  /// Requires: both outlive it.
  TcpWire(const RankScript& script, Mesh& mesh);

  bool arrived(std::uint32_t in_port) override;
  bool has_credit(std::uint32_t out_port) override;
  std::span<const std::byte> message(std::uint32_t in_port) override;
  void release(std::uint32_t in_port) override;
  std::byte* slot(std::uint32_t out_port) override;
  void send(std::uint32_t out_port, std::size_t bytes) override;
  bool has_left(std::uint32_t out_port) override {
    return mesh_.is_flushed(script_.out[out_port].peer.peer.value());
  }

  std::span<std::byte> place_for(std::uint32_t peer, const FrameHeader& header) override;
  void message_complete(std::uint32_t peer, const FrameHeader& header) override;
  void credit(std::uint32_t peer, const FrameHeader& header) override;

  /// Whether every message that was sent has been released at the other end.
  [[nodiscard]] bool is_settled() const;

 private:
  /// Messages put in and taken out since the start; slots are used in turn.
  struct Ring {
    ByteBuffer memory;
    std::size_t slot_bytes = 0;
    std::vector<std::size_t> sizes;  ///< by slot
    std::uint64_t in = 0;
    std::uint64_t out = 0;

    Ring(std::uint64_t slots, std::size_t bytes);
    [[nodiscard]] std::byte* place(std::uint64_t message);
  };

  [[nodiscard]] std::uint32_t port_of(const FrameHeader& header, std::uint32_t peer,
                                      bool receives) const;

  const RankScript& script_;
  Mesh& mesh_;
  std::vector<Ring> in_;
  std::vector<Ring> out_;
};

}  // namespace collsim
