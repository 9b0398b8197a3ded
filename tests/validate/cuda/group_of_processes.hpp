#pragma once

// Ranks that are processes of their own, forked from the test, and meet on loopback.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "validate/tcp/tcp_group.hpp"

namespace collsim::test {

/// Runs each rank in a process; by rank what it returned, or the text of its error.
/// Requires: the test has no other threads.
inline std::vector<std::string> in_processes(
    std::uint32_t ranks, const std::function<std::string(ProcessGroup&)>& work) {
  Socket door = listen_on({"127.0.0.1", 0});
  TcpPlace place;
  place.ranks = ranks;
  place.master = local_endpoint(door);
  place.secret = "open sesame";
  place.patience = std::chrono::seconds(60);
  std::vector<std::array<int, 2>> pipes(ranks);
  std::vector<pid_t> children;
  for (place.rank = 0; place.rank < ranks; ++place.rank) {
    if (pipe(pipes[place.rank].data()) != 0) {
      return {"no pipe"};
    }
    const pid_t child = fork();
    if (child == 0) {
      place.listener = place.rank == 0 ? &door : nullptr;
      std::string text;
      try {
        TcpGroup group(place);
        text = work(group);
      } catch (const std::exception& error) {
        text = error.what();
      }
      const ssize_t written = write(pipes[place.rank][1], text.data(), text.size());
      _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(pipes[place.rank][1]);
    children.push_back(child);
  }
  door.close();
  std::vector<std::string> texts(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::array<char, 256> part{};
    for (;;) {
      const ssize_t count = read(pipes[rank][0], part.data(), part.size());
      if (count <= 0) {
        break;
      }
      texts[rank].append(part.data(), static_cast<std::size_t>(count));
    }
    close(pipes[rank][0]);
    waitpid(children[rank], nullptr, 0);
  }
  return texts;
}

}  // namespace collsim::test
