#include "tools/in_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <string>
#include <system_error>

#include "tools/exit_code.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

void end_with(pid_t parent) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's call is declared so
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {  // it went before that was in force
    _exit(static_cast<int>(Exit::Interrupted));
  }
}

Exit in_process(const std::function<Exit()>& work) {
  std::cout.flush();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw ExecutionError("cannot start a process: " + std::generic_category().message(errno));
  }
  if (child == 0) {
    end_with(parent);
    const int code = exit_code_of(work, std::cerr);
    std::cerr.flush();
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw ExecutionError("a process was killed by signal " + std::to_string(WTERMSIG(status)));
  }
  return static_cast<Exit>(WEXITSTATUS(status));
}

}  // namespace collsim
