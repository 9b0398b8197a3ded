#pragma once

// The text output of nccl-tests 2.19.6, to the letter, so that scripts that read it read ours.
// Source: nccl-tests src/util.cu (writeDeviceReport, writeResultHeader, writeBenchmarkLine*, getFloatStr).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/collective.hpp"
#include "topology/graph.hpp"
#include "topology/units.hpp"

namespace collsim {

/// One measured half of a row: out of place or in place.
struct PerfTime {
  Duration time{};
  double algbw_GBps = 0;
  double busbw_GBps = 0;
  std::optional<std::uint64_t> wrong;  ///< absent: N/A
};

struct PerfRow {
  Bytes size;
  std::int64_t count = 0;
  DataType type = DataType::Float32;
  std::string redop;  ///< "none" where nothing is reduced
  std::int64_t root = -1;
  PerfTime out_of_place;
  PerfTime in_place;
  std::vector<std::string>
      extra;  ///< algorithm, protocol, channels; shown where the header says so
};

/// What the header shows.
struct PerfHeader {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::uint32_t threads = 1;
  std::uint32_t gpus = 1;  ///< per thread
  Bytes min;
  Bytes max;
  std::int64_t step = 0;
  bool step_is_factor = false;
  std::uint32_t warmup = 1;
  std::uint32_t iterations = 20;
  std::uint32_t check = 1;
  std::uint32_t graph = 0;              ///< launches of a CUDA graph; 0: none
  bool extra_columns = false;           ///< PerfRow::extra behind nccl-tests' own
  std::vector<std::string> notes;       ///< what nccl-tests does not know: a comment line each
  std::vector<std::uint32_t> group_of;  ///< by rank; empty: all are in group 0
};

/// A line of "Using devices".
struct PerfDevice {
  std::uint32_t rank = 0;
  std::uint32_t group = 0;
  std::uint32_t process = 0;
  std::string host;
  std::uint32_t device = 0;  ///< of the host
  std::string bus;           ///< PCI address, "0000:1b:00"; empty: made of `device`
  std::string name;
};
[[nodiscard]] std::string nccl_tests_device(const PerfDevice& line);

/// "all_reduce_perf", "alltoall_perf".
[[nodiscard]] std::string perf_program_name(CollectiveKind kind);

/// Whether the redop column shows -o: for collectives that reduce and, in nccl-tests' way, sendrecv.
[[nodiscard]] bool shows_op(CollectiveKind kind);

/// A number in `width` columns: two decimals if they fit, else one, else none, else an exponent.
[[nodiscard]] std::string nccl_tests_number(double value, int width);

/// Everything before the rows. Rank r runs on gpus[r] of the graph; a process has threads × gpus ranks.
[[nodiscard]] std::string nccl_tests_header(const PerfHeader& header, const Graph& graph,
                                            const std::vector<DeviceId>& gpus,
                                            const std::string& cluster);
/// The same of ranks that are no GPUs of a graph: `how` is "simulated" or "measured", `devices` their lines.
[[nodiscard]] std::string nccl_tests_header(const PerfHeader& header, const std::string& how,
                                            const std::string& devices);
[[nodiscard]] std::string nccl_tests_row(const PerfHeader& header, const PerfRow& row);
/// Everything after the rows.
[[nodiscard]] std::string nccl_tests_footer(const PerfHeader& header,
                                            const std::vector<PerfRow>& rows);

}  // namespace collsim
