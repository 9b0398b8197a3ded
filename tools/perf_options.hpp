#pragma once

// nccl-tests' options (v2.19.6, doc: -b -e -i -f -g -t -n -w -c -G -C -a -d -o -r) and what they mean here. An
// option without effect in the model is refused by name.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective_run.hpp"
#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_run.hpp"
#include "tools/nccl_tests_table.hpp"
#include "tools/output.hpp"
#include "tools/series_options.hpp"

namespace collsim {

/// How times are averaged over ranks (-a).
enum class Averaging : std::uint8_t { Rank0, Mean, Min, Max };

struct PerfCommand : SeriesOptions {
  ClusterOptions cluster;
  NcclRunOptions nccl;
  JobOptions job;
  OutputOptions output;
  std::string algorithm = "auto";
  std::string groups;
  std::uint32_t gpus = 1;
  std::uint32_t threads = 1;
  std::optional<std::uint32_t> average;
  std::uint32_t graph_launches = 0;  ///< -G: calls are captured in a CUDA graph
  bool columns = false;
  bool isolated = false;
  bool timing = false;
};

void add_perf_options(CLI::App& app, PerfCommand& command);

/// What is to be simulated: types × ops × roots × sizes.
struct PerfPlan {
  CollectiveKind kind = CollectiveKind::AllReduce;
  NetworkModel network = NetworkModel::Flow;
  Communicator gpus;                 ///< all
  std::vector<Communicator> groups;  ///< those that run at once
  std::vector<DataType> types;
  std::vector<ReductionOp> ops;
  std::vector<std::int64_t> roots;  ///< -1: the collective has none
  std::vector<Bytes> sizes;
  Iterations iterations;
  Averaging averaging = Averaging::Mean;

  [[nodiscard]] std::size_t row_count() const {
    return types.size() * ops.size() * roots.size() * sizes.size();
  }
};

/// Throws: InputError naming the option.
[[nodiscard]] PerfPlan plan_of(const PerfCommand& command, const Cluster& cluster);
[[nodiscard]] PerfHeader header_of(const PerfCommand& command, const PerfPlan& plan);
/// The time that -a asks for; means are rounded down.
[[nodiscard]] Duration averaged(const CollectiveResult& result, Averaging averaging);

}  // namespace collsim
