#include "tools/exit_code.hpp"

#include <exception>
#include <new>
#include <ostream>

#include "kernels/cuda_error.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

int exit_code_of(const std::function<Exit()>& action, std::ostream& err) {
  try {
    return static_cast<int>(action());
  } catch (const InputError& error) {
    err << error.render() << '\n';
    return static_cast<int>(Exit::BadInput);
  } catch (const SimulationError& error) {
    err << "error: " << error.what() << '\n';
    return static_cast<int>(Exit::CheckFailed);
  } catch (const ExecutionError& error) {
    err << "error: " << error.what() << '\n';
    return static_cast<int>(Exit::CheckFailed);
  } catch (const CudaError& error) {
    err << "error: " << error.what() << '\n';
    return static_cast<int>(Exit::CheckFailed);
  } catch (const std::bad_alloc&) {
    err << "error: not enough memory for this simulation\n"
           "hint: fewer ranks, channels or chunks, or another algorithm\n";
    return static_cast<int>(Exit::BadInput);
  } catch (const std::exception& error) {
    err << "internal error, please report it with the command line: " << error.what() << '\n';
    return static_cast<int>(Exit::Bug);
  }
}

}  // namespace collsim
