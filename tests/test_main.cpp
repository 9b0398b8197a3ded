// The main of every test program, and what tests share at run time.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "tests/shared_data.hpp"

namespace {

// CTest's SKIP_RETURN_CODE, see collsim_add_test. Catch2 2.13 cannot skip, and its exit code is a
// number of failures, so main maps the codes itself.
constexpr int skipped_code = 4;

bool skipped = false;

}  // namespace

namespace collsim::test {

std::filesystem::path source_path(std::string_view relative) {
  return std::filesystem::path(COLLSIM_SOURCE_DIR) / relative;
}

std::optional<std::filesystem::path> shared_path(std::string_view relative) {
  auto path = std::filesystem::path(COLLSIM_SOURCE_DIR).parent_path() / "shared" / relative;
  if (std::filesystem::exists(path)) {
    return path;
  }
  skip("needs ../shared/" + std::string(relative));
  return std::nullopt;
}

void skip(std::string_view why) {
  std::cout << "skipped: " << why << '\n';
  skipped = true;
}

}  // namespace collsim::test

int main(int argc, char* argv[]) {
  // RapidCheck seeds itself from the clock otherwise, and a test must fail twice if it fails once.
  setenv("RC_PARAMS", "seed=1", /*overwrite=*/0);
  Catch::Session session;
#ifdef CATCH_CONFIG_RUNNER
  // A name that CTest or Catch2 reads as something else (one with a semicolon, say) matches no case;
  // that must fail, not pass. Version 3 needs no asking.
  session.configData().warnings = Catch::WarnAbout::NoTests;
#endif
  if (session.run(argc, argv) != 0) {
    return EXIT_FAILURE;
  }
  return skipped ? skipped_code : EXIT_SUCCESS;
}
