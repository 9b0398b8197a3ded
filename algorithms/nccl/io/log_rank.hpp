#pragma once
// What one rank of one communicator wrote while it was set up, as it is gathered line by line.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/nccl/nccl_log.hpp"

namespace collsim::nccl {

/// A graph as it is printed: GPUs and NICs by the log's names, resolved when all lines are known.
struct PrintedGraph {
  LoggedGraph logged{};
  std::vector<std::vector<std::string>> channels{};  ///< "NET/0", "GPU/0-26000", …
};

struct RankLog {
  std::string address{};  ///< of the communicator in the process: "0x565354cd9090"
  std::string id{};       ///< the same on all ranks; empty in old versions
  std::optional<int> rank{};
  std::optional<int> ranks{};
  std::optional<int> nodes{};
  std::optional<int> local_ranks{};
  std::string bus{};  ///< of the GPU: "81000"
  bool begun{false};
  bool complete{false};

  LoggedChannels channels{};
  std::optional<bool> nvls_available{};
  std::vector<PrintedGraph> graphs{};
  std::optional<LoggedSystem> system{};
  std::vector<LoggedPath> paths{};
  std::vector<LoggedRing> rings{};
  std::vector<LoggedNeighbours> neighbours{};
  std::vector<LoggedTree> trees{};
  LoggedTable table{};
  bool has_table{false};

  /// Where the next lines of a tree, a graph or a table go on.
  std::vector<std::pair<std::size_t, std::size_t>> open_parts{};  ///< column, position in parts
  bool in_system{false};
  std::vector<Algorithm> table_columns{};
  int table_blocks{0};
};

/// Keeps as many as a rank can have, and no more.
template <class Value>
void keep(std::vector<Value>& all, Value value, std::size_t most) {
  if (all.size() < most) {
    all.push_back(std::move(value));
  }
}

/// What a line was.
enum class LineRead : std::uint8_t { Other, Read, Garbled };

/// "comm 0x… rank 0 nranks 2 …" with an end; which of them the caller needs to know.
struct InitLine {
  enum class Event : std::uint8_t { Start, Complete, Layout };
  Event event{Event::Start};
  std::string address{};
  std::string id{};
  std::string bus{};
  int rank{0};
  int ranks{1};
  std::optional<int> nodes{};
  std::optional<int> local_ranks{};
};
/// Nothing if the text is no such line.
[[nodiscard]] std::optional<InitLine> read_init_line(std::string_view text);

/// Channels, thresholds, rings, trees.
LineRead read_channel_line(std::string_view text, RankLog& rank);
/// System tree, paths, graphs.
LineRead read_topology_line(std::string_view text, RankLog& rank);
/// The tuning table.
LineRead read_table_line(std::string_view text, RankLog& rank);

/// "AllReduce: 1024 Bytes -> Algo …"; nothing if it is no such line.
[[nodiscard]] std::optional<LoggedChoice> read_choice(std::string_view text);

/// A call: "AllReduce: opCount 0 sendbuff … count 64 datatype 7 op 0 root 0 comm 0x… …".
struct CallLine {
  Function function{};
  std::uint64_t count{0};
  std::optional<DataType> type{};
  std::optional<ReductionOp> op{};
  std::string address{};  ///< of the communicator
};
[[nodiscard]] std::optional<CallLine> read_call_line(std::string_view text);

}  // namespace collsim::nccl
