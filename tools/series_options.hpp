#pragma once

// The options of nccl-tests (v2.19.6) that say which calls make up its table, for the commands that print one.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/collective.hpp"
#include "tools/cli_names.hpp"

namespace collsim {

struct SeriesOptions {
  std::string min_bytes = "32M";
  std::string max_bytes = "32M";
  std::string step_bytes = "1M";
  std::uint32_t step_factor = 1;
  std::uint32_t iterations = 20;
  std::uint32_t warmup = 1;
  std::uint32_t check = 1;
  std::string datatype = "float";
  std::string redop = "sum";
  std::string root = "0";
};

/// Adds -b, -e, -i, -f; -n, -w; -d, -o, -r. (-c is each command's own.)
void add_size_options(CLI::App& app, SeriesOptions& options);
void add_iteration_options(CLI::App& app, SeriesOptions& options);
void add_kind_options(CLI::App& app, SeriesOptions& options);

/// Each throws InputError naming the option.
[[nodiscard]] std::vector<DataType> types_of(const std::string& text);
[[nodiscard]] std::vector<ReductionOp> ops_of(const std::string& text, CollectiveKind kind);
/// -1: the collective has none.
[[nodiscard]] std::vector<std::int64_t> roots_of(const std::string& text, CollectiveKind kind,
                                                 std::uint32_t ranks);
[[nodiscard]] std::vector<Bytes> sizes_of(const SeriesOptions& options);
void refuse_long_table(std::size_t rows);

}  // namespace collsim
