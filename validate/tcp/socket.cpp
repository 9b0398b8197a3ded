#include "validate/tcp/socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

// The system's calls take addresses of any family by a pointer to what they have in common.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }
const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

sockaddr_in address_of(const Endpoint& endpoint) {
  // The resolver takes "10.1" for 10.0.0.1.
  sockaddr_in numeric{};
  if (endpoint.host.find_first_not_of("0123456789.") == std::string::npos &&
      inet_pton(AF_INET, endpoint.host.c_str(), &numeric.sin_addr) != 1) {
    throw ExecutionError("there is no host " + in_quotes(endpoint.host) +
                         " (an IPv4 address has four numbers)");
  }
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  if (error != 0 || found == nullptr) {
    throw ExecutionError("there is no host " + in_quotes(endpoint.host) + " (" +
                         gai_strerror(error) + ")");
  }
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof(address));
  address.sin_port = htons(endpoint.port);
  return address;
}

Endpoint endpoint_of(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return {text.data(), ntohs(address.sin_port)};
}

/// Whether the socket is ready for `events` in time.
bool wait_for(const Socket& socket, short events, Deadline deadline) {
  pollfd entry{socket.descriptor(), events, 0};
  for (;;) {
    const int ready = poll(&entry, 1, milliseconds_until(deadline));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 || errno != EINTR) {
      return false;
    }
  }
}

Socket new_socket() {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) {
    throw ExecutionError("cannot open a socket: " + system_error_text(errno));
  }
  return socket;
}

}  // namespace

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

std::string system_error_text(int error) { return std::generic_category().message(error); }

Socket::~Socket() { close(); }

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void Socket::close() {
  if (is_open()) {
    ::close(std::exchange(descriptor_, -1));
  }
}

Socket listen_on(const Endpoint& endpoint) {
  Socket socket = new_socket();
  const int yes = 1;
  setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = address_of(endpoint);
  if (bind(socket.descriptor(), generic(address), sizeof(address)) != 0 ||
      listen(socket.descriptor(), SOMAXCONN) != 0) {
    throw ExecutionError("cannot listen on " + endpoint.text() + ": " + system_error_text(errno));
  }
  return socket;
}

std::vector<std::string> own_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, entry->ifa_addr, sizeof(address));
      addresses.push_back(endpoint_of(address).host);
    }
  }
  return addresses;
}

void require_host(const std::string& host) { static_cast<void>(address_of({host, 0})); }

Endpoint local_endpoint(const Socket& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(socket.descriptor(), generic(address), &size);
  return endpoint_of(address);
}

Endpoint remote_endpoint(const Socket& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getpeername(socket.descriptor(), generic(address), &size);
  return endpoint_of(address);
}

Socket connect_to(const Endpoint& endpoint, Deadline deadline, const std::string& who) {
  constexpr std::chrono::milliseconds pause{20};
  const auto start = std::chrono::steady_clock::now();
  const sockaddr_in address = address_of(endpoint);
  int error = 0;
  do {
    Socket socket = new_socket();
    error = connect(socket.descriptor(), generic(address), sizeof(address)) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      if (wait_for(socket, POLLOUT, deadline)) {
        socklen_t size = sizeof(error);
        getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
      } else {
        error = ETIMEDOUT;
      }
    }
    if (error == 0) {
      return socket;
    }
    std::this_thread::sleep_for(pause);
  } while (std::chrono::steady_clock::now() < deadline);
  const auto waited = std::chrono::round<std::chrono::milliseconds>(deadline - start);
  throw ExecutionError(who + " does not answer at " + endpoint.text() + " within " +
                       std::to_string(waited.count()) + " ms: " + system_error_text(error));
}

std::optional<Socket> accept_from(const Socket& listener, Deadline deadline) {
  while (wait_for(listener, POLLIN, deadline)) {
    Socket socket(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.is_open()) {
      return socket;
    }
    if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) {
      throw ExecutionError("cannot accept a connection: " + system_error_text(errno));
    }
  }
  return std::nullopt;
}

void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline,
              const std::string& who) {
  while (!bytes.empty()) {
    if (!wait_for(socket, POLLOUT, deadline)) {
      throw ExecutionError(who + " takes nothing: late");
    }
    const ssize_t sent =
        send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      throw ExecutionError("lost " + who + ": " + system_error_text(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
}

void receive_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline,
                 const std::string& who) {
  std::size_t got = 0;
  while (got < bytes.size()) {
    if (!wait_for(socket, POLLIN, deadline)) {
      throw ExecutionError(who + " is late: " + std::to_string(got) + " of " +
                           std::to_string(bytes.size()) + " bytes came in time");
    }
    const ssize_t count =
        recv(socket.descriptor(), bytes.data() + got, bytes.size() - got, MSG_DONTWAIT);
    if (count == 0) {
      throw ExecutionError(who + " closed the connection after " + std::to_string(got) + " of " +
                           std::to_string(bytes.size()) + " bytes");
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      throw ExecutionError("lost " + who + ": " + system_error_text(errno));
    }
    got += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
}

std::optional<std::size_t> receive_some(const Socket& socket, std::span<std::byte> bytes) {
  const ssize_t count = recv(socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

void make_quick(const Socket& socket) {
  const int yes = 1;
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  // What the kernel has taken has then left the machine but for a few packets.
  const int unsent_bytes = 16'384;
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes,
             sizeof(unsent_bytes));
}

}  // namespace collsim
