#include "tools/exit_code.hpp"

#include <exception>
#include <new>
#include <ostream>
#include <string>

#include "kernels/cuda_error.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

/// In one piece: other processes may write to the same terminal.
int tell(std::ostream& err, const std::string& text, Exit code) {
  err << text + '\n';
  return static_cast<int>(code);
}

}  // namespace

int exit_code_of(const std::function<Exit()>& action, std::ostream& err) {
  const auto error_text = [](const std::exception& error) {
    return std::string("error: ") + error.what();
  };
  try {
    return static_cast<int>(action());
  } catch (const InputError& error) {
    return tell(err, error.render(), Exit::BadInput);
  } catch (const SimulationError& error) {
    return tell(err, error_text(error), Exit::CheckFailed);
  } catch (const ExecutionError& error) {
    return tell(err, error_text(error), Exit::CheckFailed);
  } catch (const CudaError& error) {
    return tell(err, error_text(error), Exit::CheckFailed);
  } catch (const std::bad_alloc&) {
    return tell(err,
                "error: not enough memory for this simulation\n"
                "hint: fewer ranks, channels or chunks, or another algorithm",
                Exit::BadInput);
  } catch (const std::exception& error) {
    return tell(
        err, std::string("internal error, please report it with the command line: ") + error.what(),
        Exit::Bug);
  }
}

}  // namespace collsim
