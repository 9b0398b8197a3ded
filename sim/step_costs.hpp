#pragma once

// Which step pays which cost: from what a program says about a lane and a step to times and rates.
// Forms (all numbers are CostParameters):
//   Simple  a slice holds its lane for slice_copy or slice_reduce, then its bytes flow at no more than
//           channel_rate; the peer sees it a handoff after the wire. A primitive without a send takes
//           its bytes at local_rate, some blocks more slowly and others more quickly than the mean, by
//           turns (unevenness): channels do not stay in step, so that some send while others do not.
//           One block of the fewest threads saves narrow_saving of synchronisation and hand-off inside a
//           node, and blocks less the wider they are and the more: a barrier has fewer warps, a fence
//           fewer writes of other blocks before it. From 16 blocks on nothing is saved.
//   LL      a step whose block has more than the fewest threads, or one of several blocks, costs up to
//           wide_copy or wide_reduce more; its bytes take a pass of 8 bytes a thread, the first one
//           free. The peer sees the first of them a hop after they are sent, each line by itself, so
//           that the hop and the wire overlap.
//   LL128   bytes flow at gpu_rate over all channels; a hop as above.
//   Between nodes, with any protocol: the proxy works `message` on each message; one of more bytes than `eager` is
//           a rendezvous later. LL's lines arrive in host memory, which the block reads at network_rate. Messages are
//           late by chance, exponentially with the mean `lateness`; the call goes on with the last of those of the k
//           GPUs of a node that take part, which is 1/2 + 1/3 + … + 1/k of that later than a single one.
//   Reductions by the fabric's switches: no block works on them; the total is `reduction` later than the wire, its
//           latency and the hand-off.
//   Sends and receives: bytes at channel_rate, receives at receive_rate; in LL bytes at ll_rate.
//   Symmetric memory  a block loads and stores at block_rate, and through the switch at multicast_rate, its own
//           part's bytes; a barrier's flags, and stored bytes, are seen `barrier` later. In LL what peers push is
//           taken at ll_rate, each line a hop later.
//   Copy engines  a copy costs `copy` to start; flags as with symmetric memory.
//   NVLS    a stage costs `stage` for a loop; copies run at copy_rate. What one primitive does in several
//           steps (through the switch and over the network) is copied once: between them it is in
//           registers.
// A lane's rates are those of its threads: in proportion to a whole block's.
// Where a lane has only a part of its GPU's memory (memory_parts.hpp), the bytes of its step also take what
// memory_bytes() come to in it: the longer of both times counts, and names its parameter.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/program.hpp"
#include "sim/costs.hpp"
#include "topology/graph.hpp"
#include "topology/routing.hpp"

namespace collsim {

/// What a message mainly goes over.
enum class PathKind : std::uint8_t {
  Nvlink,
  Pcie,  ///< from GPU to GPU
  Host,  ///< over PCIe into the memory of the host, where the receiver's GPU reads it (NCCL's SHM)
  Network,
};
/// Of a route alone: Pcie where it may also be Host.
[[nodiscard]] PathKind kind_of(const Graph& graph, const Route& route);

struct CostPart {
  CostItem item{};
  Duration time{};
};

/// What all steps of a lane have in common.
struct LaneWork {
  WireProtocol protocol = WireProtocol::None;
  Kernel kernel = Kernel::Collective;
  std::uint32_t threads = 0;
  std::uint32_t channel = 0;
  std::uint32_t channels = 1;  ///< of the program
  std::uint32_t proxies = 1;   ///< GPUs of a node by which channels leave it
  bool narrow = false;         ///< elements of one byte
  Bandwidth memory{};          ///< the lane's part of its GPU's memory; zero: no limit
};

struct StepCost {
  CostPart held;  ///< before the first byte moves
  CostPart work;  ///< that the threads need for the bytes, at least, while they flow
};

/// What costs depend on of a step. `bytes` of a message, or of a local copy.
struct StepWork {
  Primitive primitive = Primitive::Nothing;
  Movement movement = Movement::Route;
  bool continues = false;
  std::uint32_t received = 0;    ///< messages
  bool to_scratch = false;       ///< what it writes locally goes to scratch memory
  std::uint32_t own_reads = 0;   ///< spans of the own memory that it reads: none, one or two
  std::uint32_t own_writes = 0;  ///< the same of those that it writes: none or one
  std::uint64_t index = 0;
  Bytes bytes;
};

/// Requires: work.protocol is not None.
[[nodiscard]] StepCost step_cost(const CostParameters& costs, const LaneWork& work,
                                 const StepWork& step);

/// Whether such costs of a lane depend on its channel's number and on those of its steps.
[[nodiscard]] bool is_uneven(const CostParameters& costs, WireProtocol protocol, Kernel kernel);

/// What a step reads and writes in the memory of its GPU, and what peers meanwhile write there for it:
///   rings, trees, sends and receives   own spans; of each message received that it was written to the
///              FIFO and is read there, as it came over the wire (with LL twice the data);
///   symmetric memory, copy engines     own spans, which is where peers store; in LL a FIFO's, too;
///   NVLS       a copy of scatter or gather: read, written, and read or written by the switch;
///   what the fabric's switches do      nothing.
/// Requires: work.protocol is not None.
[[nodiscard]] Bytes memory_bytes(const LaneWork& work, const StepWork& step);

/// What a message costs after its last byte has left, beside the wire's latency.
[[nodiscard]] CostPart message_cost(const CostParameters& costs, const LaneWork& work,
                                    PathKind path);

/// By how much a message between nodes is later than its wire, its latency and message_cost.
struct NetworkDelay {
  Duration rendezvous{};
  Duration lateness{};
  Duration lines{};  ///< of LL
  [[nodiscard]] Duration sum() const { return rendezvous + lateness + lines; }
};
[[nodiscard]] NetworkDelay network_delay(const CostParameters& costs, const LaneWork& work,
                                         Bytes on_wire);

/// What the bytes of a message come to on the wire: 2 / 1 for LL, 16 / 15 for LL128.
struct WireFactor {
  std::uint32_t numerator = 1;
  std::uint32_t denominator = 1;
};
[[nodiscard]] WireFactor wire_factor(WireProtocol protocol);
[[nodiscard]] Bytes on_wire(WireProtocol protocol, Bytes data);

/// Whether the call follows others on its stream, as nccl-tests times it, or is alone.
enum class CallIs : std::uint8_t { BackToBack, Isolated };
enum class LaunchFrom : std::uint8_t { Stream, CudaGraph };

/// What a GPU pays before its lanes start. Nothing for programs without a protocol.
[[nodiscard]] std::vector<CostPart> launch_costs(const CostParameters& costs,
                                                 const Program& program, Rank rank, CallIs call,
                                                 LaunchFrom launch);

/// What a process takes to launch a call on so many GPUs; nothing for one, which is part of the launch.
[[nodiscard]] Duration host_per_call(const CostParameters& costs, std::int64_t gpus);

/// As what a kernel uses links: sends to a single other GPU as rings do, and not as those that write to several at once.
[[nodiscard]] Kernel wire_kernel(Kernel kernel, const Program& program);

/// What of a link's nominal rate the lanes of a kernel can have, in millionths.
[[nodiscard]] std::int64_t share_of(const CostParameters& costs, LinkKind kind, Kernel kernel);

}  // namespace collsim
