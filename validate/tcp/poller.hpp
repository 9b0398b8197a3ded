#pragma once

// Which of many sockets are ready: Linux' epoll, asked so that a look costs what is ready and not what there is.
//
// Level-triggered: whatever was not read or written is reported again, so that no readiness can be missed. Readable is always
// asked for, writable only where it is waited for.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "validate/tcp/socket.hpp"

namespace collsim {

class Poller {
 public:
  struct Ready {
    std::uint32_t key = 0;  ///< of the socket, as it was added
    bool readable = false;  ///< or closed by the other end
    bool writable = false;
  };

  /// Throws: ExecutionError where the system has no more descriptors.
  Poller();

  /// Throws: ExecutionError, as the constructor.
  void add(const Socket& socket, std::uint32_t key);
  /// Whether to report the socket when it can be written to. Requires: it was added with that key.
  void watch_writable(const Socket& socket, std::uint32_t key, bool wanted);
  /// From now on it is not reported.
  void remove(const Socket& socket);

  /// Waits until a socket is ready, at most so long; empty: none was. The result is valid until the next call.
  std::span<const Ready> wait(std::chrono::milliseconds most);

 private:
  Socket epoll_;
  std::vector<Ready> ready_;
};

}  // namespace collsim
