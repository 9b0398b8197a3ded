#pragma once
// What a log of a real NCCL run (NCCL_DEBUG=INFO) tells, as plain structs: for each communicator its
// ranks, graphs, channels, rings, trees, tuning table and the choices of calls. What the log does not
// say is absent; nothing is filled in.
//
// Source of the lines: NCCL 2.16 to 2.29, src/init.cc, src/graph/{topo,paths,search,connect,tuning}.cc,
// src/enqueue.cc.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/nccl/choice.hpp"
#include "algorithms/nccl/graph.hpp"
#include "algorithms/nccl/system.hpp"
#include "algorithms/nccl/vocabulary.hpp"

namespace collsim::nccl {

/// A part of the system tree. Parts stand in the order of the log: each behind the one above it.
struct LoggedPart {
  PartKind kind{PartKind::Pci};
  std::string id{};           ///< "81000", "0-26000": as the log names it
  std::optional<int> rank{};  ///< of a GPU
  // Of a CPU: NCCL's numbers.
  std::optional<int> cpu_architecture{};
  std::optional<int> cpu_vendor{};
  std::optional<int> cpu_model{};
  float network{0};                    ///< of a network device: GB/s
  std::optional<std::size_t> above{};  ///< the part it hangs below; a CPU has none
  float bandwidth{0};                  ///< GB/s of the link to the part above
};

/// A link that is no branch of the tree: NVLink, C2C, between CPUs.
struct LoggedLink {
  std::size_t from{0};  ///< position in `parts`
  PartLinkKind kind{PartLinkKind::Local};
  std::string to{};  ///< "GPU/44000", "NVS/0"
  float bandwidth{0};
};

struct LoggedSystem {
  float most_bandwidth{0};   ///< maxBw
  float total_bandwidth{0};  ///< totalBw
  std::vector<LoggedPart> parts{};
  std::vector<LoggedLink> links{};
  bool complete{false};  ///< its last line is there
};

/// An entry of the table of paths.
struct LoggedPath {
  std::string from{};
  std::string to{};
  int hops{0};
  float bandwidth{0};
  PathType type{PathType::Dis};
};

struct LoggedGraph {
  /// `channels` has the orders that are in the log, with GPUs as ranks within the node; none if the
  /// log does not tell which GPU is which rank.
  Graph graph{};
  std::size_t stated_channels{0};
};

/// The order of a ring from rank 0 on. NCCL cuts long lines: then it holds the first ranks only.
struct LoggedRing {
  int channel{0};
  std::vector<int> ranks{};
};

/// A rank's neighbours in the ring of a channel.
struct LoggedNeighbours {
  int channel{0};
  int rank{0};
  int previous{0};
  int next{0};
};

/// A rank's place in the tree of a channel.
struct LoggedTree {
  int channel{0};
  int rank{0};
  std::optional<int> up{};
  std::vector<int> down{};
};

struct LoggedEntry {
  float latency{0};    ///< us
  float bandwidth{0};  ///< GB/s; 0: excluded
};
using LoggedTable = ByFunction<ByAlgorithm<ByProtocol<std::optional<LoggedEntry>>>>;

/// What was chosen for a call; equal ones are counted.
struct LoggedChoice {
  std::optional<Function> function{};  ///< versions up to 2.22 name it in another line only
  std::uint64_t bytes{0};              ///< as printed
  /// `bytes` are count times element size: of AllGather and ReduceScatter one rank's part.
  /// Else the larger of what a rank sends and receives.
  bool of_one_rank{false};
  Algorithm algorithm{};
  Protocol protocol{};
  std::optional<int> channels{};
  /// Of the call's own line, where that is in the log.
  std::optional<DataType> type{};
  std::optional<ReductionOp> op{};
  std::size_t times{1};
};

/// Channels and geometry, one set a communicator.
struct LoggedChannels {
  std::optional<int> collective{};
  std::optional<int> nvls{};
  std::optional<int> p2p{};
  std::optional<int> per_peer{};
  std::optional<std::int64_t> p2p_chunk{};
  /// Tree LL, LL128, Simple, Ring LL, LL128, Simple, CollNetDirect, CollNetChain (both Simple).
  std::optional<std::array<std::int64_t, 8>> thread_thresholds{};
};

struct LoggedCommunicator {
  std::optional<int> ranks{};
  std::optional<int> nodes{};
  std::optional<int> local_ranks{};  ///< of the node of the lowest rank in the log
  std::vector<int> ranks_seen{};     ///< ascending
  LoggedChannels channels{};
  std::optional<bool> nvls_available{};
  // Every rank prints those; they are the lowest rank's.
  std::vector<LoggedGraph> graphs{};
  std::optional<LoggedSystem> system{};
  std::vector<LoggedPath> paths{};
  std::vector<LoggedRing> rings{};
  std::vector<LoggedNeighbours> neighbours{};
  std::vector<LoggedTree> trees{};
  LoggedTable table{};
  bool has_table{false};
  std::vector<LoggedChoice> choices{};
  std::size_t unfinished{0};  ///< ranks whose set-up began and did not end
};

/// A variable that the log says was set.
struct LoggedVariable {
  std::string name{};
  std::string value{};
};

struct NcclLog {
  std::string version{};  ///< "2.28.9"; empty: not in the log
  std::string cuda{};     ///< "12.4"
  bool rccl{false};       ///< of AMD's RCCL
  std::vector<LoggedVariable> environment{};
  std::vector<LoggedCommunicator> communicators{};
  std::size_t lines{0};     ///< of NCCL
  std::size_t garbled{0};   ///< of those: cut or mixed with another, and dropped
  std::size_t unplaced{0};  ///< choices that belong to no one communicator
  bool several_versions{false};
  bool truncated{false};  ///< the last line has no end, or a rank's set-up no end
};

}  // namespace collsim::nccl
