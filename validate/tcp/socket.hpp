#pragma once

// TCP sockets with deadlines: what a group of processes joins and talks through.
//
// IPv4 only, and no call blocks: sockets are waited for. Every wait ends at its deadline with an ExecutionError that says who was waited for.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace collsim {

/// "127.0.0.1:5000". A host is an address or a name.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;  ///< 0, to listen on: any that is free

  [[nodiscard]] std::string text() const {
    return port == 0 ? host : host + ":" + std::to_string(port);
  }
};

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void close();

 private:
  int descriptor_ = -1;
};

using Deadline = std::chrono::steady_clock::time_point;

/// Throws: ExecutionError where the address cannot be had (in use, not of this machine).
[[nodiscard]] Socket listen_on(const Endpoint& endpoint);
/// The addresses of this machine's networks, loopback included.
[[nodiscard]] std::vector<std::string> own_addresses();
/// Requires that there is such a host. Throws: ExecutionError.
void require_host(const std::string& host);

/// Where it listens, or where the other end of a connection is.
[[nodiscard]] Endpoint local_endpoint(const Socket& socket);
[[nodiscard]] Endpoint remote_endpoint(const Socket& socket);

/// Tries again while nobody listens there. `who` is for the error ("rank 0").
[[nodiscard]] Socket connect_to(const Endpoint& endpoint, Deadline deadline,
                                const std::string& who);
/// Absent: nobody came in time.
[[nodiscard]] std::optional<Socket> accept_from(const Socket& listener, Deadline deadline);

/// Throws: ExecutionError where `who` is late or closes the connection.
void send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline,
              const std::string& who);
void receive_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline,
                 const std::string& who);

/// What is there already, at most as many bytes as asked for (which are not 0); absent: nothing is; 0: the connection has ended.
[[nodiscard]] std::optional<std::size_t> receive_some(const Socket& socket,
                                                      std::span<std::byte> bytes);

/// Small messages leave at once, and the kernel takes little more than it can send now.
void make_quick(const Socket& socket);

/// As the system's waits take it: rounded up, 0 where it has passed.
[[nodiscard]] int milliseconds_until(Deadline deadline);
/// Of `errno`.
[[nodiscard]] std::string system_error_text(int error);

}  // namespace collsim
