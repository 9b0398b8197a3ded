#include "tools/last_words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "validate/execution/execution_error.hpp"
#include "validate/tcp/socket.hpp"

namespace collsim {

LastWords::LastWords() {
  if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw ExecutionError("cannot open a pipe: " + system_error_text(errno));
  }
}

LastWords::~LastWords() {
  close(ends_[0]);
  close(ends_[1]);
}

void LastWords::say(int code, const std::string& text) const {
  // So much the system writes in one piece: the code, the text, and its end.
  const std::string message =
      static_cast<char>(code) + text.substr(0, PIPE_BUF - 2) + std::string(1, '\0');
  const auto written = write(ends_[1], message.data(), message.size());
  static_cast<void>(written);
}

std::optional<LastWords::Message> LastWords::first() const {
  std::array<char, PIPE_BUF> bytes{};
  const ssize_t count = read(ends_[0], bytes.data(), bytes.size());
  const std::string said(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (said.size() < 2) {
    return std::nullopt;
  }
  return Message{static_cast<Exit>(said[0]), said.substr(1, said.find('\0', 1) - 1)};
}

}  // namespace collsim
