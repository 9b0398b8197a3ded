#pragma once

// How processes become a group: each tells rank 0 who it is, rank 0 tells all where the others are, each connects to
// those below it.
//
// A connection begins with a hello: magic, version, secret, rank, size of the group, digest of what is to be run. Whoever
// knows another secret is refused, before anything else of it is looked at; the comparison takes the same time
// wherever they differ. The secret guards against strangers and stray jobs; it goes over the wire as it is, so use networks that you trust.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/tcp/hello.hpp"
#include "validate/tcp/socket.hpp"

namespace collsim {

struct TcpPlace {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  Endpoint master;                 ///< where rank 0 listens
  std::string bind = "127.0.0.1";  ///< where this rank listens for the others
  std::string secret;              ///< at most 255 bytes
  std::uint64_t digest = 0;        ///< of what is to be run: the same for all
  std::chrono::milliseconds patience{30'000};
  /// Of rank 0, where the listening socket exists already.
  Socket* listener = nullptr;
};

/// A connection to each other rank, by rank; the own one is not open.
/// Throws: ExecutionError: who is late, who was refused and why, which address cannot be had.
[[nodiscard]] std::vector<Socket> join_group(const TcpPlace& place);

/// Whether they are equal, in a time that depends on the longer one's length only.
[[nodiscard]] bool same_secret(const std::string& a, const std::string& b);

}  // namespace collsim
