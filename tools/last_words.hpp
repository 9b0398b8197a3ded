#pragma once

// What processes that were started together say of why they end. The first to speak tells the cause: the others are lost without
// it, and what they say is only told to who asks for it.

#include <array>
#include <optional>
#include <string>

#include "tools/cli.hpp"

namespace collsim {

/// A pipe from all of them to who started them.
class LastWords {
 public:
  struct Message {
    Exit code = Exit::Done;
    std::string text;
  };

  /// Throws: ExecutionError where the system has no pipe.
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  /// Of a process that ends. Never waits: where there is no room, many have spoken already. A long text is cut off.
  void say(int code, const std::string& text) const;
  /// What was said first; absent: nothing was. To be called once.
  [[nodiscard]] std::optional<Message> first() const;

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace collsim
