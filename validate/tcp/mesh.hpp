#pragma once

// A TCP connection to every other rank, and the frames that go over it, without ever blocking.
//
// A frame is a header and what belongs to it: a message of a program's connection, a credit for one, or control (what ranks tell each
// other between runs). A port is named on the wire by lane and slot of the receiving side.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/tcp/socket.hpp"

namespace collsim {

enum class FrameKind : std::uint32_t { Message, Credit, Control };

struct FrameHeader {
  FrameKind kind = FrameKind::Control;
  std::uint32_t lane = 0;
  std::uint32_t slot = 0;
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;
};

/// Where messages and credits go.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// Where a message is to be put. Throws: ExecutionError where it cannot be: a broken peer.
  virtual std::span<std::byte> place_for(std::uint32_t peer, const FrameHeader& header) = 0;
  virtual void message_complete(std::uint32_t peer, const FrameHeader& header) = 0;
  virtual void credit(std::uint32_t peer, const FrameHeader& header) = 0;

 protected:
  FrameSink() = default;
  FrameSink(const FrameSink&) = default;
  FrameSink& operator=(const FrameSink&) = default;
};

class Mesh {
 public:
  /// `sockets` by rank; that of the own rank is not open.
  explicit Mesh(std::vector<Socket> sockets);

  /// Who takes messages and credits from now on; null: none may come. Requires: it outlives that.
  void set_sink(FrameSink* sink) { sink_ = sink; }
  /// Queues a frame. Requires: the bytes stay as they are until the mesh has sent them.
  void send(std::uint32_t peer, const FrameHeader& header, std::span<const std::byte> bytes = {});
  void send_control(std::uint32_t peer, std::string text);
  /// Sends and receives what can be; false: nothing could.
  /// Throws: ExecutionError where a peer breaks the rules or closes in the middle of a frame.
  bool progress();
  /// Until something can be sent or received, at most so long.
  void wait(std::chrono::milliseconds most);
  /// Waits for the next control text of a peer. Throws: ExecutionError where it is lost or late.
  std::string receive_control(std::uint32_t peer, std::chrono::milliseconds patience);

  /// Whether everything queued has left.
  [[nodiscard]] bool is_flushed() const;
  [[nodiscard]] bool is_flushed(std::uint32_t peer) const { return peers_[peer].out.empty(); }
  /// Peers that have closed their connection.
  [[nodiscard]] std::optional<std::uint32_t> lost_peer() const;

 private:
  struct Outgoing {
    FrameHeader header;
    std::span<const std::byte> bytes;
    std::string owned;  ///< of control frames
    std::size_t sent = 0;
  };
  struct Peer {
    Socket socket;
    bool closed = false;
    std::deque<Outgoing> out;
    FrameHeader header;
    std::size_t header_got = 0;
    std::span<std::byte> place;
    std::size_t place_got = 0;
    std::string control;  ///< the one that is coming
    std::deque<std::string> controls;
  };

  bool flush(Peer& peer);
  bool receive(std::uint32_t rank);
  /// Bytes read; absent: none are there. Notes that the peer has closed.
  std::optional<std::size_t> read_some(std::uint32_t rank, std::span<std::byte> bytes);
  void header_complete(std::uint32_t rank);
  void frame_complete(std::uint32_t rank);

  std::vector<Peer> peers_;
  FrameSink* sink_ = nullptr;
};

}  // namespace collsim
