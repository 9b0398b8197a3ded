#include "tools/interrupt.hpp"

#include <csignal>

namespace collsim {

namespace {

// The one mutable global of the program: a signal handler can reach nothing else.
volatile std::sig_atomic_t interrupt_flag = 0;

void on_interrupt(int /*signal*/) { interrupt_flag = 1; }

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return interrupt_flag != 0; }

}  // namespace collsim
