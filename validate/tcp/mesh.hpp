#pragma once

// A TCP connection to every other rank, and the frames that go over it, without ever blocking.
//
// A frame is a header and what belongs to it: a message of a program's connection, a credit for one, control (what ranks tell each
// other between runs), or a beat: that the sender works, though nothing of it comes. A port is named on the wire by lane and slot of
// the receiving side. One thread uses a mesh; a second one may call beat() and looks().

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/tcp/poller.hpp"
#include "validate/tcp/socket.hpp"

namespace collsim {

enum class FrameKind : std::uint32_t { Message, Credit, Control, Beat };

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
  /// `sockets` by rank; that of the own rank is not open. Throws: ExecutionError, as Poller.
  explicit Mesh(std::vector<Socket> sockets);

  /// Who takes messages and credits from now on; null: none may come, and what is still queued is never sent.
  /// Requires: it outlives that.
  void set_sink(FrameSink* sink);
  /// Queues a frame. Requires: the bytes stay as they are until the mesh has sent them, or the sink is taken away.
  void send(std::uint32_t peer, const FrameHeader& header, std::span<const std::byte> bytes = {});
  void send_control(std::uint32_t peer, std::string text);
  /// Sends and receives what can be, and waits at most so long until something can be; false: nothing could.
  /// Throws: ExecutionError where a peer breaks the rules or closes in the middle of a frame.
  /// Complexity: that of what is queued and ready, however many peers there are.
  bool progress(std::chrono::milliseconds most = {});
  /// Waits for the next control text of a peer. Throws: ExecutionError where it is lost, or nothing moves for so long.
  std::string receive_control(std::uint32_t peer, std::chrono::milliseconds patience);
  /// Waits until everything queued has left. Throws: as receive_control.
  void drain(std::chrono::milliseconds patience);

  /// Whether everything queued has left.
  [[nodiscard]] bool is_flushed() const;
  [[nodiscard]] bool is_flushed(std::uint32_t peer) const;
  /// A peer that has closed its connection: the first.
  [[nodiscard]] std::optional<std::uint32_t> lost_peer() const;

  /// Times that progress() looked; a rank that computes does not.
  [[nodiscard]] std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }
  /// Tells all peers that this rank works, behind what is queued for them; while it waits for control, it does not.
  void beat();

  /// How long a rank waits for readiness at a time, which is as often as looks() moves.
  [[nodiscard]] static std::chrono::milliseconds nap(std::chrono::milliseconds patience);

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
    bool to_flush = false;  ///< is in `to_flush_`
    bool is_full = false;   ///< the kernel takes no more: it is watched until it does
    std::deque<Outgoing> out;
    FrameHeader header;
    std::size_t header_got = 0;
    std::span<std::byte> place;
    std::size_t place_got = 0;
    std::string control;  ///< the one that is coming
    std::deque<std::string> controls;
  };

  void queue(std::uint32_t rank, Outgoing frame);
  bool flush(std::uint32_t rank);
  bool flush_queued();
  void note_full(std::uint32_t rank, bool is_full);
  void note_closed(std::uint32_t rank);
  bool receive(std::uint32_t rank);
  /// Bytes read; absent: none are there. Notes that the peer has closed.
  std::optional<std::size_t> read_some(std::uint32_t rank, std::span<std::byte> bytes);
  [[nodiscard]] bool is_expected(std::uint32_t rank, const FrameHeader& header) const;
  void header_complete(std::uint32_t rank);
  void frame_complete(std::uint32_t rank);

  class Waiting;

  mutable std::mutex mutex_;  ///< of all that beat() touches; not held while waiting
  std::vector<Peer> peers_;
  Poller poller_;
  std::vector<std::uint32_t> to_flush_;  ///< peers with frames that have not been tried
  std::size_t queued_ = 0;               ///< frames of all peers
  bool is_waiting_ = false;              ///< for control, or for frames to leave
  bool is_mute_ = false;                 ///< frames were left whose bytes are gone
  FrameSink* sink_ = nullptr;
  std::optional<std::uint32_t> lost_;
  std::atomic<std::uint64_t> looks_ = 0;
};

}  // namespace collsim
