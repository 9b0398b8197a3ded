#pragma once

// Tells the other ranks that this one works, while it is at something that lasts: a large copy, test data, a check.
//
// A rank that waits looks at its sockets all the time. One that has not looked for a quarter of the patience computes, and a thread of
// its own beats for it; so a peer that waits can tell work from a deadlock, in which nobody computes. A process that was
// stopped or cut off does not beat. Peers with less patience than this rank's may give up before the first beat.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "validate/tcp/mesh.hpp"

namespace collsim {

class Heart {
 public:
  /// Requires: the mesh outlives it. Throws: ExecutionError where the system starts no thread.
  Heart(Mesh& mesh, std::chrono::milliseconds patience);

 private:
  void run(const std::stop_token& stop);

  Mesh& mesh_;
  std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  ///< last: it uses the rest
};

}  // namespace collsim
