#include "tools/exit_code.hpp"

#include <functional>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "kernels/cuda_error.hpp"
#include "tests/catch.hpp"
#include "topology/error.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {
namespace {

struct Ending {
  int code;
  std::string text;
};

Ending run(const std::function<Exit()>& action) {
  std::ostringstream err;
  const int code = exit_code_of(action, err);
  return {code, err.str()};
}

TEST_CASE("an action that ends gives its own code and says nothing") {
  CHECK(run([] { return Exit::Done; }).code == 0);
  CHECK(run([] { return Exit::CheckFailed; }).code == 1);
  CHECK(run([] { return Exit::Done; }).text.empty());
}

TEST_CASE("the user's mistake is 2") {
  const Ending ending = run([]() -> Exit { throw InputError("too big", "--bytes", "take less"); });
  CHECK(ending.code == 2);
  CHECK(ending.text == "error: --bytes: too big\nhint: take less\n");
}

TEST_CASE("a real machine that cannot finish is 1") {
  const Ending ending = run([]() -> Exit { throw ExecutionError("rank 1 is lost"); });
  CHECK(ending.code == 1);
  CHECK(ending.text == "error: rank 1 is lost\n");
}

TEST_CASE("a call of CUDA that fails is 1, with its place") {
  const Ending ending =
      run([]() -> Exit { throw CudaError("cudaMalloc(&memory, 8)", "out of memory", "a.cpp", 7); });
  CHECK(ending.code == 1);
  CHECK(ending.text == "error: a.cpp:7: cudaMalloc(&memory, 8): out of memory\n");
}

TEST_CASE("a simulated system that cannot finish is 1") {
  const Ending ending = run([]() -> Exit { throw SimulationError("rank 0 waits for rank 1"); });
  CHECK(ending.code == 1);
  CHECK(ending.text == "error: rank 0 waits for rank 1\n");
}

TEST_CASE("too little memory is 2, with what to do") {
  const Ending ending = run([]() -> Exit { throw std::bad_alloc(); });
  CHECK(ending.code == 2);
  CHECK(ending.text ==
        "error: not enough memory for this simulation\n"
        "hint: fewer ranks, channels or chunks, or another algorithm\n");
}

TEST_CASE("our own mistakes are 70") {
  const Ending ending = run([]() -> Exit { throw InternalError("a.cpp", 7, "x > 0", "why"); });
  CHECK(ending.code == 70);
  CHECK(ending.text.starts_with("internal error, please report it with the command line: "));
  CHECK(run([]() -> Exit { throw std::logic_error("?"); }).code == 70);
}

}  // namespace
}  // namespace collsim
