#include "tools/series_options.hpp"

#include <CLI/CLI.hpp>
#include <limits>

#include "tools/job_options.hpp"
#include "tools/nccl_tests_table.hpp"
#include "tools/option_values.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::size_t most_rows = 100'000;
constexpr const char* group = "nccl-tests";

}  // namespace

void add_size_options(CLI::App& app, SeriesOptions& options) {
  add_text(app, "-b,--minbytes", options.min_bytes, "SIZE", "smallest size")->group(group);
  add_text(app, "-e,--maxbytes", options.max_bytes, "SIZE", "largest size")->group(group);
  add_text(app, "-i,--stepbytes", options.step_bytes, "SIZE", "step between sizes")->group(group);
  add_number(app, "-f,--stepfactor", options.step_factor, {1, 1'000'000},
             "factor between sizes; above 1 it takes the place of -i")
      ->group(group);
}

void add_iteration_options(CLI::App& app, SeriesOptions& options) {
  add_number(app, "-n,--iters", options.iterations, {1, 1'000'000},
             "timed iterations, back to back")
      ->group(group);
  add_number(app, "-w,--warmup_iters", options.warmup, {0, 1'000'000}, "iterations before them")
      ->group(group);
}

void add_kind_options(CLI::App& app, SeriesOptions& options) {
  add_text(app, "-d,--datatype", options.datatype, "TYPE", "type, or all")->group(group);
  add_text(app, "-o,--op", options.redop, "OP", "reduction, or all")->group(group);
  add_text(app, "-r,--root", options.root, "RANK", "root; -1 or all: every rank in turn")
      ->group(group);
}

void refuse_long_table(std::size_t rows) {
  if (rows > most_rows) {
    throw InputError("the table would have " + std::to_string(rows) + " rows, more than 100,000",
                     "-i", "a larger step, or -f 2");
  }
}

std::vector<DataType> types_of(const std::string& text) {
  std::vector<DataType> types;
  if (text != "all") {
    return {data_type_of(text, "-d")};
  }
  for (const std::string& name : data_type_names()) {
    types.push_back(data_type_of(name, "-d"));
  }
  return types;
}

std::vector<ReductionOp> ops_of(const std::string& text, CollectiveKind kind) {
  if (!shows_op(kind)) {
    if (text != "all") {
      static_cast<void>(reduction_of(text, "-o"));  // a bad word is an error all the same
    }
    return {ReductionOp::Sum};
  }
  if (text != "all") {
    return {reduction_of(text, "-o")};
  }
  std::vector<ReductionOp> ops;
  for (const std::string& name : reduction_names()) {
    ops.push_back(reduction_of(name, "-o"));
  }
  return ops;
}

std::vector<std::int64_t> roots_of(const std::string& text, CollectiveKind kind,
                                   std::uint32_t ranks) {
  std::vector<std::int64_t> roots;
  if (text == "-1" || text == "all") {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      roots.push_back(rank);
    }
  } else {
    const bool digits = !text.empty() && text.size() <= 9 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      throw InputError("expected a rank, or -1 for every rank in turn; found " + in_quotes(text),
                       "-r");
    }
    roots.push_back(root_of(static_cast<std::uint32_t>(std::stoul(text)), ranks, "-r").value());
  }
  if (!has_root(kind)) {
    return {-1};
  }
  return roots;
}

std::vector<Bytes> sizes_of(const SeriesOptions& options) {
  const Bytes min = size_of_option(options.min_bytes, "-b");
  const Bytes max = size_of_option(options.max_bytes, "-e");
  const Bytes step = size_of_option(options.step_bytes, "-i");
  if (min > max) {
    throw InputError("the smallest size, " + options.min_bytes + ", is larger than the largest, " +
                         options.max_bytes,
                     "-b", "give both -b and -e");
  }
  if (options.step_factor == 1 && step <= Bytes(0) && min < max) {
    throw InputError("must be positive", "-i");
  }
  if (options.step_factor > 1 && min == Bytes(0) && max > Bytes(0)) {
    throw InputError("0 times any factor stays 0: start above 0", "-b");
  }
  std::vector<Bytes> sizes;
  for (Bytes size = min; size <= max;) {
    sizes.push_back(size);
    if (sizes.size() > most_rows) {
      throw InputError("more than 100,000 sizes between -b and -e", "-i", "a larger step, or -f 2");
    }
    if (min == max || size.count() > std::numeric_limits<std::int64_t>::max() / 2) {
      break;
    }
    if (options.step_factor > 1 &&
        size.count() > std::numeric_limits<std::int64_t>::max() / options.step_factor) {
      break;
    }
    size = options.step_factor > 1 ? size * options.step_factor : size + step;
  }
  return sizes;
}

}  // namespace collsim
