#pragma once

// What a machine did: tables of nccl-tests or rccl-tests, whatever file they came in, as `validate` compares them with
// predictions and `calibrate` fits parameters to them.
//
// Times are the tables' own: of one call among many back to back. What a file says of the machine is kept as text: which
// description of ours it is, the user says.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/collective.hpp"
#include "topology/error.hpp"
#include "topology/units.hpp"

namespace collsim {

/// Who launches the kernels, which decides times of small sizes (docs/nccl.md).
enum class LaunchMode : std::uint8_t {
  Unknown,
  ProcessPerGpu,
  ProcessForSeveral,  ///< a process launches for several GPUs (`-g 8`, or threads)
  CudaGraph,
};
[[nodiscard]] std::string_view name_of(LaunchMode mode);

struct MeasuredLaunch {
  LaunchMode mode = LaunchMode::Unknown;
  std::uint32_t gpus_per_process = 1;  ///< of ProcessForSeveral, and of CudaGraph
};

/// From what tables say of it: "one process per GPU", "single process -g 8", "process-per-gpu". `ranks` on `nodes` is
/// what one process a node has where no `-g` is named. nccl-tests in "one process per node" without `-g` counts as a process
/// per GPU: tables that say so show no host that is late.
[[nodiscard]] MeasuredLaunch parse_launch(std::string_view text, std::uint32_t ranks,
                                          std::uint32_t nodes);

/// What the benchmark had done with its buffers (nccl-tests' -R).
enum class BuffersWere : std::uint8_t {
  Plain,
  Registered,  ///< with ncclCommRegister
  Symmetric,   ///< as symmetric windows
};

struct MeasuredRow {
  Bytes bytes;  ///< nccl-tests' size column
  Duration time{};
  std::optional<InPlace> in_place;  ///< absent: the table does not tell
  bool suspect = false;             ///< a stall, by the table's own mark
};

struct MeasuredSoftware {
  std::string nccl;  ///< "2.29.2"; empty: unknown
  std::string cuda;
  std::string launch;  ///< as the table says it
  MeasuredLaunch mode;
  BuffersWere buffers = BuffersWere::Plain;
  std::vector<std::pair<std::string, std::string>> environment;  ///< in the order of the file
  // Of programs that an executor of ours ran; empty: NCCL, or unknown.
  std::string backend;         ///< "host", "tcp"
  std::string algorithm;       ///< "ring"
  std::uint32_t channels = 1;  ///< of that algorithm's programs
  std::uint32_t chunks = 1;
  std::string kernel;  ///< of the operating system
  std::string compiler;
};

/// One table: one collective on so many ranks.
struct MeasuredRun {
  CollectiveKind collective = CollectiveKind::AllReduce;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;  ///< 0: unknown
  DataType type = DataType::Float32;
  std::optional<ReductionOp> redop;
  MeasuredSoftware software;
  std::string source;
  std::string date;
  std::string quality;  ///< "A", "B", "C" or empty
  std::string notes;
  std::vector<MeasuredRow> rows;
};

/// What a file says of the machine: empty where it does not.
struct MeasuredHardware {
  std::string gpu;
  std::string cpu;  ///< model and how many cores
  std::uint32_t gpus_per_node = 0;
  std::string intra_node;
  std::uint32_t nics_per_node = 0;
  std::string nic;
  std::string fabric;
};

/// A line of a file, and what was done about it.
struct MeasurementNote {
  SourceLocation place;
  std::string text;
};

struct Measurements {
  std::string machine;  ///< a name; of files that have none, the file's
  std::string file;
  MeasuredHardware hardware;
  std::string cause;  ///< of a degraded machine: why it is slow
  std::vector<MeasuredRun> runs;
  std::vector<MeasurementNote> dropped;  ///< rows that cannot be trusted, and why
  std::vector<MeasurementNote> notes;    ///< what was assumed, or is odd
  bool truncated = false;                ///< the file ends in the middle
};

}  // namespace collsim
