#include "tools/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "tools/cli.hpp"

namespace collsim {

namespace {

// The mutable globals of the program: a signal handler can reach nothing else.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t holds = 0;
volatile std::sig_atomic_t pending = 0;
volatile std::sig_atomic_t open_line = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

[[noreturn]] void leave() {
  // Only what POSIX allows in a handler.
  const char* const text = "\ninterrupted\n";
  constexpr std::size_t length = 13;
  const std::size_t skipped = open_line == 0 ? 1 : 0;
  const auto written = write(STDERR_FILENO, text + skipped, length - skipped);
  static_cast<void>(written);
  _exit(static_cast<int>(Exit::Interrupted));
}

void on_interrupt(int /*signal*/) {
  if (holds == 0) {
    leave();
  }
  pending = 1;
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // nohup asks for it to be ignored.
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) {
    std::signal(SIGHUP, SIG_IGN);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // What exceeds the limit on a file's size is an error of writing.
  std::signal(SIGXFSZ, SIG_IGN);
}

void note_open_line(OpenLine line) { open_line = line == OpenLine::Yes ? 1 : 0; }

HoldInterrupts::HoldInterrupts() { holds = holds + 1; }

HoldInterrupts::~HoldInterrupts() {
  holds = holds - 1;
  if (holds == 0 && pending != 0) {
    leave();
  }
}

}  // namespace collsim
