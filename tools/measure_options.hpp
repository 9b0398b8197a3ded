#pragma once

// The options of `measure`: nccl-tests' own, what runs, and the cluster to compare with.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "tools/cluster_options.hpp"
#include "tools/job_options.hpp"
#include "tools/nccl_run.hpp"
#include "tools/output.hpp"
#include "tools/series_options.hpp"

namespace collsim {

/// Who is who, where ranks are processes.
struct TcpOptions {
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world_size;
  std::optional<std::uint32_t> spawn;
  std::string master;  ///< HOST:PORT
  std::string bind = "127.0.0.1";
  std::string secret_file;
};

/// For the backend whose ranks are on GPUs.
struct GpuOptions {
  std::string wire;  ///< "simple", "ll", "ll128"; empty: as the program says
  bool graph = false;
};

struct MeasureCommand : SeriesOptions {
  ClusterOptions cluster;  ///< empty: none to compare with
  NcclRunOptions nccl;
  JobOptions job;
  OutputOptions output;
  std::string backend = "host";
  std::string algorithm = "auto";
  std::string seed = "collsim";
  std::uint32_t timeout = 30;  ///< seconds without progress
  TcpOptions tcp;
  GpuOptions gpu;
  bool calibrate_host = false;
  std::string inputs;           ///< file with the data of one call; empty: test data
  std::set<std::string> given;  ///< options of the command line, as messages call them

  [[nodiscard]] bool is_tcp() const { return backend == "tcp"; }
  [[nodiscard]] bool is_gpu() const { return backend == "cuda" || backend == "nccl"; }
  /// A process a rank: always over TCP, on GPUs where an option says so.
  [[nodiscard]] bool in_processes() const {
    return is_tcp() ||
           (is_gpu() && (tcp.spawn || tcp.rank || tcp.world_size || !tcp.master.empty()));
  }
};

void add_measure_options(CLI::App& app, MeasureCommand& command);

/// Of the options added so, those on the command line. Requires: it has been parsed.
[[nodiscard]] std::set<std::string> given_options(const CLI::App& app);

/// Refuses options that have no effect with --calibrate-host or on the backend, and those that need a cluster where
/// there is none.
/// Throws: InputError naming the option.
void check_measure_options(const MeasureCommand& command);

/// The contents of a file that an option names. Throws: InputError(option) if it cannot be read, is no regular file, or has
/// more bytes than `most`.
[[nodiscard]] std::string contents_of(const std::string& file, const std::string& option,
                                      std::size_t most);

}  // namespace collsim
