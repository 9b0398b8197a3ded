#pragma once

// Ctrl-C ends the program at once, with exit code 130, wherever it is: results are written only at the
// end, and a file appears whole or not at all. Only while a file is being put in place it waits.

namespace collsim {

/// From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored) end the program; a broken pipe and a
/// file that may not grow are errors of the write, not signals.
void catch_interrupts();

/// What stands unfinished on the terminal's line, so that the last message begins on a new one.
enum class OpenLine : unsigned char { No, Yes };
void note_open_line(OpenLine line);

/// While one lives, an interrupt waits for its end.
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;
};

}  // namespace collsim
