// NCCL is found when it is needed, and what is wrong with it is said.

#include "validate/cuda/nccl_library.hpp"

#include <string>

#include "tests/catch.hpp"
#include "topology/error.hpp"

using namespace collsim;

namespace {

std::string objection_to(const std::string& file) {
  try {
    const NcclLibrary library(file);
  } catch (const InputError& error) {
    return error.message();
  }
  return {};
}

}  // namespace

TEST_CASE("a library that is not there is named") {
  const std::string text = objection_to("libnowhere.so.2");
  CAPTURE(text);
  CHECK(text.starts_with("NCCL cannot be used: "));
  CHECK(text.find("libnowhere.so.2") != std::string::npos);
}

TEST_CASE("a library that is too old is refused with its version") {
  // 21206 is 2.12.6.
  CHECK(objection_to(FAKE_NCCL) ==
        std::string("NCCL cannot be used: ") + FAKE_NCCL + " is version 2.12.6");
}

TEST_CASE("a library without the function that tells its version is none") {
  CHECK(objection_to("libm.so.6") ==
        "NCCL cannot be used: libm.so.6 has no function ncclGetVersion");
}
