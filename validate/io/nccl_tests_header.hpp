#pragma once

// Single lines of nccl-tests and rccl-tests that are no rows, of all eras, with or without their '#', and the lines of
// NCCL among them that tell its version and its variables. Each function looks at one line and says what it is.
//
// Sources: nccl-tests src/common.cu and src/util.cu, v2.0.0 to v2.19.2; rccl-tests src/common.cu.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace collsim {

/// "# nThread 1 nGpus 8 minBytes 8 … graph: 0".
struct TestParameters {
  std::uint32_t threads = 1;
  std::uint32_t gpus = 1;        ///< of a thread
  std::uint32_t aggregated = 1;  ///< calls in a group
  std::uint32_t graph = 0;       ///< launches of a CUDA graph; 0: none

  [[nodiscard]] std::uint32_t gpus_per_process() const { return threads * gpus; }
};

/// "#  Rank  0 Group  0 Pid 4242 on node0 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3".
struct TestDevice {
  std::uint32_t rank = 0;
  std::uint32_t group = 0;
  std::uint64_t process = 0;
  std::string host;  ///< to tell machines apart; goes nowhere
  std::string gpu;
};

/// "# nccl-tests version 2.18.3 nccl-headers=22902 nccl-library=22902".
struct TestVersion {
  std::string nccl_tests;
  std::string nccl;       ///< "2.29.2"; empty: not told
  std::string simulator;  ///< "collsim 0.1.0", where the table is a prediction
};

/// "NCCL version 2.29.2+cuda13.1", "RCCL version 2.18.3+hip6.0".
struct LibraryVersion {
  std::string nccl;  ///< "2.29.2", "RCCL 2.18.3"
  std::string cuda;  ///< "13.1"; empty where it is not CUDA's
};

/// A variable that NCCL says it reads.
struct LoggedVariable {
  std::string name;
  std::string value;
};

/// The line without '#' and blanks before its text.
[[nodiscard]] std::string_view without_hash(std::string_view line);

[[nodiscard]] std::optional<TestParameters> parse_test_parameters(std::string_view line);
[[nodiscard]] std::optional<TestDevice> parse_test_device(std::string_view line);
[[nodiscard]] std::optional<TestVersion> parse_test_version(std::string_view line);
[[nodiscard]] std::optional<LibraryVersion> parse_library_version(std::string_view line);

/// "NCCL_ALGO set by environment to Ring". Only NCCL's own variables, and none that holds an address, the name of a
/// host or a path.
[[nodiscard]] std::optional<LoggedVariable> parse_logged_variable(std::string_view line);
/// Whether a variable of that name and value may be told on.
[[nodiscard]] bool is_telling(std::string_view name, std::string_view value);

/// "all_reduce" of "# Collective test starting: all_reduce_perf".
[[nodiscard]] std::optional<std::string_view> parse_test_start(std::string_view line);
/// The name before the last "_perf" that is a program of nccl-tests in a command line, an echo, a title.
[[nodiscard]] std::optional<std::string_view> program_named_in(std::string_view line);

/// Part of the summary behind a table.
[[nodiscard]] bool is_test_footer(std::string_view line);

/// Whether NCCL wrote the line, or began to write in the middle of it.
[[nodiscard]] bool has_nccl_log(std::string_view line);

/// "2.29.2" of 22902, "2.4.8" of 2408; empty for 0.
[[nodiscard]] std::string version_of_code(std::int64_t code);

}  // namespace collsim
