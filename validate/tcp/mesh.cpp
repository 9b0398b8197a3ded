#include "validate/tcp/mesh.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

/// Of what one rank tells; rank 0 passes on that of all.
constexpr std::uint64_t longest_control = 4096;

std::string name_of(std::uint32_t rank) { return "rank " + std::to_string(rank); }

std::string lost_text(std::uint32_t rank) {
  return "lost " + name_of(rank) + ": it closed the connection";
}

/// Whether nothing has moved for too long.
class Stillness {
 public:
  explicit Stillness(std::chrono::milliseconds patience) : patience_(patience) {}

  void moved() { since_ = Clock::now(); }
  [[nodiscard]] bool is_too_long() const { return Clock::now() - since_ > patience_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds patience_;
  Clock::time_point since_ = Clock::now();
};

}  // namespace

Mesh::Mesh(std::vector<Socket> sockets) : peers_(sockets.size()) {
  for (std::uint32_t rank = 0; rank < sockets.size(); ++rank) {
    if (sockets[rank].is_open()) {
      make_quick(sockets[rank]);
      poller_.add(sockets[rank], rank);
      peers_[rank].socket = std::move(sockets[rank]);
    }
  }
}

void Mesh::set_sink(FrameSink* sink) {
  const std::scoped_lock lock(mutex_);
  sink_ = sink;
  const auto borrows = [](const Outgoing& frame) { return !frame.bytes.empty(); };
  is_mute_ = is_mute_ || (sink == nullptr && std::ranges::any_of(peers_, [&](const Peer& peer) {
                            return std::ranges::any_of(peer.out, borrows);
                          }));
}

void Mesh::queue(std::uint32_t rank, Outgoing frame) {
  Peer& peer = peers_[rank];
  peer.out.push_back(std::move(frame));
  ++queued_;
  if (!peer.to_flush && !peer.is_full) {
    peer.to_flush = true;
    to_flush_.push_back(rank);
  }
}

void Mesh::send(std::uint32_t peer, const FrameHeader& header, std::span<const std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  queue(peer, {header, bytes, {}, 0});
}

void Mesh::send_control(std::uint32_t peer, std::string text) {
  Outgoing frame;
  frame.header.bytes = text.size();
  frame.owned = std::move(text);
  const std::scoped_lock lock(mutex_);
  queue(peer, std::move(frame));
}

void Mesh::beat() {
  const std::scoped_lock lock(mutex_);
  if (is_mute_ || is_waiting_) {
    return;
  }
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (peer.socket.is_open() && !peer.closed) {
      // What is queued already moves something at the peer, once it goes.
      if (peer.out.empty()) {
        queue(rank, {{FrameKind::Beat, 0, 0, 0, 0}, {}, {}, 0});
      }
      flush(rank);
    }
  }
}

bool Mesh::progress(std::chrono::milliseconds most) {
  looks_.fetch_add(1, std::memory_order_relaxed);
  bool moved = flush_queued();
  if (moved) {
    most = {};
  }
  const std::span<const Poller::Ready> ready = poller_.wait(most);
  const std::scoped_lock lock(mutex_);
  for (const Poller::Ready& what : ready) {
    if (what.writable) {
      moved = flush(what.key) || moved;
    }
    while (what.readable && !peers_[what.key].closed && receive(what.key)) {
      moved = true;
    }
  }
  return moved;
}

bool Mesh::flush_queued() {
  const std::scoped_lock lock(mutex_);
  bool moved = false;
  for (const std::uint32_t rank : to_flush_) {
    peers_[rank].to_flush = false;
    moved = flush(rank) || moved;
  }
  to_flush_.clear();
  return moved;
}

void Mesh::note_full(std::uint32_t rank, bool is_full) {
  Peer& peer = peers_[rank];
  if (peer.is_full != is_full) {
    peer.is_full = is_full;
    poller_.watch_writable(peer.socket, rank, is_full);
  }
}

void Mesh::note_closed(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  if (!peer.closed) {
    peer.closed = true;
    poller_.remove(peer.socket);
    lost_ = lost_.value_or(rank);
  }
}

bool Mesh::flush(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  bool moved = false;
  while (!peer.out.empty() && !peer.closed) {
    Outgoing& frame = peer.out.front();
    const std::span<const std::byte> bytes =
        frame.owned.empty() ? frame.bytes : std::as_bytes(std::span(frame.owned));
    const std::span<const std::byte> header = std::as_bytes(std::span(&frame.header, 1));
    std::array<iovec, 2> parts{};
    std::size_t count = 0;
    std::size_t skip = frame.sent;
    for (const std::span<const std::byte> part : {header, bytes}) {
      if (skip < part.size()) {
        // iovec is not const: the kernel only reads from it.
        parts[count++] = {const_cast<std::byte*>(part.data() + skip),  // NOLINT(*-const-cast)
                          part.size() - skip};
      }
      skip -= std::min(skip, part.size());
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(peer.socket.descriptor(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      note_full(rank, true);
      return moved;
    }
    if (sent < 0 && errno != EINTR) {
      note_closed(rank);
      return moved;
    }
    moved = true;
    frame.sent += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    if (frame.sent == header.size() + bytes.size()) {
      peer.out.pop_front();
      --queued_;
    }
  }
  if (!peer.closed) {
    note_full(rank, false);
  }
  return moved;
}

std::optional<std::size_t> Mesh::read_some(std::uint32_t rank, std::span<std::byte> bytes) {
  Peer& peer = peers_[rank];
  const std::optional<std::size_t> count = receive_some(peer.socket, bytes);
  if (count == std::size_t{0}) {
    note_closed(rank);
    const std::size_t got = peer.header_got + peer.place_got;
    if (got > 0) {
      throw ExecutionError(
          "lost " + name_of(rank) + ": it closed the connection after " + std::to_string(got) +
          " of " + std::to_string(sizeof(FrameHeader) + peer.place.size()) + " bytes of a message");
    }
    return std::nullopt;
  }
  return count;
}

bool Mesh::receive(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  if (peer.header_got < sizeof(FrameHeader)) {
    const auto bytes = std::as_writable_bytes(std::span(&peer.header, 1)).subspan(peer.header_got);
    const auto count = read_some(rank, bytes);
    if (!count) {
      return false;
    }
    peer.header_got += *count;
    if (peer.header_got < sizeof(FrameHeader)) {
      return true;
    }
    header_complete(rank);
  } else {
    const auto count = read_some(rank, peer.place.subspan(peer.place_got));
    if (!count) {
      return false;
    }
    peer.place_got += *count;
  }
  if (peer.place_got == peer.place.size()) {
    frame_complete(rank);
  }
  return true;
}

bool Mesh::is_expected(std::uint32_t rank, const FrameHeader& header) const {
  switch (header.kind) {
    case FrameKind::Message:
      return sink_ != nullptr;
    case FrameKind::Credit:
      return sink_ != nullptr && header.bytes == 0;
    case FrameKind::Control:
      return header.bytes <= longest_control * (rank == 0 ? peers_.size() : 1);
    case FrameKind::Beat:
      return header.bytes == 0;
  }
  return false;
}

void Mesh::header_complete(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  peer.place = {};
  peer.place_got = 0;
  if (!is_expected(rank, peer.header)) {
    throw ExecutionError(name_of(rank) + " sent what no rank sends here: it runs something else");
  }
  if (peer.header.kind == FrameKind::Control) {
    peer.control.resize(peer.header.bytes);
    peer.place = std::as_writable_bytes(std::span(peer.control));
  } else if (peer.header.kind == FrameKind::Message) {
    peer.place = sink_->place_for(rank, peer.header);
  }
}

void Mesh::frame_complete(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  peer.header_got = 0;
  peer.place_got = 0;
  switch (peer.header.kind) {
    case FrameKind::Message:
      sink_->message_complete(rank, peer.header);
      break;
    case FrameKind::Credit:
      sink_->credit(rank, peer.header);
      break;
    case FrameKind::Control:
      peer.controls.push_back(std::move(peer.control));
      break;
    case FrameKind::Beat:
      break;
  }
  peer.place = {};
}

std::chrono::milliseconds Mesh::nap(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds longest{50};
  constexpr int naps = 16;
  return std::clamp(patience / naps, std::chrono::milliseconds(1), longest);
}

bool Mesh::is_flushed() const {
  const std::scoped_lock lock(mutex_);
  return queued_ == 0;
}

bool Mesh::is_flushed(std::uint32_t peer) const {
  const std::scoped_lock lock(mutex_);
  return peers_[peer].out.empty();
}

std::optional<std::uint32_t> Mesh::lost_peer() const {
  const std::scoped_lock lock(mutex_);
  return lost_;
}

/// While one lives, this rank waits and does not beat. A beat that a peer has not read when it closes would take what the
/// peer said last with it: the system resets such a connection.
class Mesh::Waiting {
 public:
  explicit Waiting(Mesh& mesh) : mesh_(mesh) { set(true); }
  ~Waiting() { set(false); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void set(bool waiting) {
    const std::scoped_lock lock(mesh_.mutex_);
    mesh_.is_waiting_ = waiting;
  }

  Mesh& mesh_;
};

std::string Mesh::receive_control(std::uint32_t rank, std::chrono::milliseconds patience) {
  const Waiting waiting(*this);
  Stillness stillness(patience);
  Peer& peer = peers_[rank];  // no other thread closes it: it waits
  while (peer.controls.empty()) {
    if (progress(nap(patience))) {
      stillness.moved();
    } else if (peer.closed) {
      throw ExecutionError(lost_text(rank));
    } else if (stillness.is_too_long()) {
      throw ExecutionError(name_of(rank) + " is late: nothing came from any rank for " +
                           std::to_string(patience.count()) + " ms");
    }
  }
  std::string text = std::move(peer.controls.front());
  peer.controls.pop_front();
  return text;
}

void Mesh::drain(std::chrono::milliseconds patience) {
  const Waiting waiting(*this);
  Stillness stillness(patience);
  while (!is_flushed()) {
    if (progress(nap(patience))) {
      stillness.moved();
    } else if (const auto lost = lost_peer()) {
      throw ExecutionError(lost_text(*lost));
    } else if (stillness.is_too_long()) {
      throw ExecutionError("the other ranks take nothing for " + std::to_string(patience.count()) +
                           " ms");
    }
  }
}

}  // namespace collsim
