#include "validate/tcp/poller.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "validate/execution/execution_error.hpp"

namespace collsim {

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_.is_open()) {
    throw ExecutionError("cannot wait for sockets: " + system_error_text(errno));
  }
}

void Poller::add(const Socket& socket, std::uint32_t key) {
  epoll_event event{EPOLLIN, {}};
  event.data.u32 = key;
  if (epoll_ctl(epoll_.descriptor(), EPOLL_CTL_ADD, socket.descriptor(), &event) != 0) {
    throw ExecutionError("cannot wait for a socket: " + system_error_text(errno));
  }
}

void Poller::watch_writable(const Socket& socket, std::uint32_t key, bool wanted) {
  epoll_event event{EPOLLIN, {}};
  if (wanted) {
    event.events |= EPOLLOUT;
  }
  event.data.u32 = key;
  epoll_ctl(epoll_.descriptor(), EPOLL_CTL_MOD, socket.descriptor(), &event);
}

void Poller::remove(const Socket& socket) {
  epoll_ctl(epoll_.descriptor(), EPOLL_CTL_DEL, socket.descriptor(), nullptr);
}

std::span<const Poller::Ready> Poller::wait(std::chrono::milliseconds most) {
  // More are reported by the next call: epoll takes them in turn.
  constexpr std::size_t at_once = 64;
  std::array<epoll_event, at_once> events{};
  const int count = epoll_wait(epoll_.descriptor(), events.data(), static_cast<int>(events.size()),
                               static_cast<int>(most.count()));
  ready_.clear();
  // Below zero: a signal came, and nothing is known to be ready.
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
    const std::uint32_t found = events.at(i).events;
    // An error or the end of a connection shows when it is read.
    ready_.push_back(
        {events.at(i).data.u32, (found & ~std::uint32_t{EPOLLOUT}) != 0, (found & EPOLLOUT) != 0});
  }
  return ready_;
}

}  // namespace collsim
