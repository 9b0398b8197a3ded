#include "validate/tcp/mesh.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

constexpr std::uint64_t longest_control = 1 << 16;

std::string name_of(std::uint32_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

Mesh::Mesh(std::vector<Socket> sockets) : peers_(sockets.size()) {
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (sockets[i].is_open()) {
      make_quick(sockets[i]);
      peers_[i].socket = std::move(sockets[i]);
    }
  }
}

void Mesh::send(std::uint32_t peer, const FrameHeader& header, std::span<const std::byte> bytes) {
  peers_[peer].out.push_back({header, bytes, {}, 0});
}

void Mesh::send_control(std::uint32_t peer, std::string text) {
  Outgoing frame;
  frame.header.bytes = text.size();
  frame.owned = std::move(text);
  peers_[peer].out.push_back(std::move(frame));
}

bool Mesh::progress() {
  bool moved = false;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (peer.socket.is_open() && !peer.closed) {
      moved = flush(peer) || moved;
      while (!peer.closed && receive(rank)) {
        moved = true;
      }
    }
  }
  return moved;
}

bool Mesh::flush(Peer& peer) {
  bool moved = false;
  while (!peer.out.empty()) {
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
    if (sent < 0) {
      peer.closed = peer.closed || (errno != EAGAIN && errno != EINTR);
      return moved;
    }
    moved = true;
    frame.sent += static_cast<std::size_t>(sent);
    if (frame.sent == header.size() + bytes.size()) {
      peer.out.pop_front();
    }
  }
  return moved;
}

std::optional<std::size_t> Mesh::read_some(std::uint32_t rank, std::span<std::byte> bytes) {
  Peer& peer = peers_[rank];
  const ssize_t count = recv(peer.socket.descriptor(), bytes.data(), bytes.size(), 0);
  if (count > 0) {
    return static_cast<std::size_t>(count);
  }
  if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    peer.closed = true;
    const std::size_t got = peer.header_got + peer.place_got;
    if (got > 0) {
      throw ExecutionError(
          "lost " + name_of(rank) + ": it closed the connection after " + std::to_string(got) +
          " of " + std::to_string(sizeof(FrameHeader) + peer.place.size()) + " bytes of a message");
    }
  }
  return std::nullopt;
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

void Mesh::header_complete(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  peer.place = {};
  peer.place_got = 0;
  const bool is_control = peer.header.kind == FrameKind::Control;
  const bool known = is_control ? peer.header.bytes <= longest_control : sink_ != nullptr;
  if (!known || peer.header.kind > FrameKind::Control) {
    throw ExecutionError(name_of(rank) + " sent what no rank sends here: it runs something else");
  }
  if (is_control) {
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
  }
  peer.place = {};
}

void Mesh::wait(std::chrono::milliseconds most) {
  std::vector<pollfd> entries;
  for (const Peer& peer : peers_) {
    if (peer.socket.is_open() && !peer.closed) {
      const int events = POLLIN | (peer.out.empty() ? 0 : POLLOUT);
      entries.push_back({peer.socket.descriptor(), static_cast<short>(events), 0});
    }
  }
  poll(entries.data(), entries.size(), static_cast<int>(most.count()));
}

std::string Mesh::receive_control(std::uint32_t rank, std::chrono::milliseconds patience) {
  const Deadline deadline = std::chrono::steady_clock::now() + patience;
  Peer& peer = peers_[rank];
  while (peer.controls.empty()) {
    const bool moved = progress();
    if (moved || !peer.controls.empty()) {
      continue;
    }
    if (peer.closed) {
      throw ExecutionError("lost " + name_of(rank) + ": it closed the connection");
    }
    if (std::chrono::steady_clock::now() > deadline) {
      throw ExecutionError(name_of(rank) + " is late: nothing came from it for " +
                           std::to_string(patience.count()) + " ms");
    }
    wait(std::chrono::milliseconds(50));
  }
  std::string text = std::move(peer.controls.front());
  peer.controls.pop_front();
  return text;
}

bool Mesh::is_flushed() const {
  return std::ranges::all_of(peers_, [](const Peer& peer) { return peer.out.empty(); });
}

std::optional<std::uint32_t> Mesh::lost_peer() const {
  const auto lost = std::ranges::find_if(peers_, &Peer::closed);
  if (lost == peers_.end()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(lost - peers_.begin());
}

}  // namespace collsim
