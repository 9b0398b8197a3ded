#pragma once

// A collective algorithm as a program: for every rank, lanes of primitive steps. One program runs
// on every executor: virtual time (sim), the data checker (check.hpp), real machines.
//
// Steps are generated, never stored: a ring over 16,384 ranks has half a billion. step() is a pure
// function of (rank, lane, index); a program keeps no iterator state and at most O(ranks) of
// tables.
//
// A step does, in this order:
//   1. waits: its lane's earlier steps, `after`, `join`;
//   2. receives one message of `bytes` from each receive slot;
//   3. computes a value: the reduction of everything received and of `source` and `operand`, where
//      given (one input alone: a copy);
//   4. writes the value to `destination`, where given, and sends it to each send slot, all at once.
// NCCL's primitives are the combinations: send, recv, copy, recvReduceSend, recvCopySend, ….
//
// Messages of a connection arrive in the order sent; the k-th one sent is the k-th one received.
//
// What a step costs is the executor's to know; a program only says what kind of work it is: the
// protocol and the threads of a lane, and how the bytes of a step move (Movement). Programs without
// a protocol cost nothing but the time on the wire.
// Sources: NCCL src/device/primitives.h; MSCCL (Cowan et al., ASPLOS 2023).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/collective.hpp"
#include "topology/ids.hpp"
#include "topology/units.hpp"

namespace collsim {

enum class Buffer : std::uint8_t { Input, Output, Scratch };

/// A regular set of bytes in a buffer: runs of `run` bytes, `stride` apart, `total` bytes in all
/// (the last run may be shorter). Contiguous: run == total. In order, they are the bytes of a
/// message.
struct Span {
  Buffer buffer = Buffer::Input;
  Bytes offset;
  Bytes total;
  Bytes run;
  Bytes stride;

  [[nodiscard]] static constexpr Span contiguous(Buffer buffer, Bytes offset, Bytes bytes) {
    return Span{buffer, offset, bytes, bytes, bytes};
  }
  constexpr bool operator==(const Span&) const = default;
};

/// Slots [first, first + count) of a lane. Receive slots and send slots are numbered apart.
struct SlotRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  constexpr bool operator==(const SlotRange&) const = default;
};

/// A step of some lane of the same rank.
struct StepRef {
  std::uint32_t lane = 0;
  std::uint64_t index = 0;
  constexpr bool operator==(const StepRef&) const = default;
};

/// What a step does, as NCCL names it. Derived from the step's fields, see Step::primitive().
enum class Primitive : std::uint8_t {
  Nothing,  ///< only waits
  Send,
  Receive,
  Copy,
  Reduce,
  CopySend,
  ReduceSend,
  ReceiveSend,  ///< forwards, keeps nothing
  ReceiveCopySend,
  ReceiveReduceSend,
  ReceiveReduceCopy,
  ReceiveReduceCopySend,
};
[[nodiscard]] std::string_view name_of(Primitive primitive);

/// How the bytes of a step's messages move.
enum class Movement : std::uint8_t {
  Route,  ///< each message along the route to its peer
  /// The step has left them in memory that the peer reads: only the flag travels. Between nodes they are
  /// handed to the network, and the peer's Multimem step moves them.
  Post,
  /// Through the switch that joins the rank with its peers, which reduces what it reads from all of
  /// them (the posted messages of the receive slots, and the own `source` or `operand`) and writes to
  /// all of them at once (the send slots, and the own `destination`): NVLink SHARP, one flow over a
  /// tree of links. Between nodes the switches of the fabric do so for all peers alike, which it both
  /// reads from and writes to (SHARP).
  Multimem,
};

struct Step {
  Bytes bytes;  ///< of each message and of each span
  SlotRange receives;
  SlotRange sends;
  std::optional<Span> source;   ///< a local input of the value
  std::optional<Span> operand;  ///< a second local input
  std::optional<Span> destination;
  /// Steps of a lane have phases that never fall. See `join`.
  std::uint64_t phase = 0;
  /// The step starts when every lane of this group of its rank has completed all its steps of
  /// phases below `phase`. (A lane belongs to one group: Lane::group.)
  std::optional<std::uint32_t> join;
  /// The step starts when that step is complete.
  std::optional<StepRef> after;
  Movement movement = Movement::Route;
  /// The step is one peer more of the primitive that the lane's step before it began: it costs no
  /// synchronisation of its own.
  bool continues = false;
  /// Of Movement::Post: the primitive goes on with the lane's next step, and peers are told when it has come to its
  /// end.
  bool posts_later = false;

  [[nodiscard]] Primitive primitive() const;
};

/// How data and the flags that say they are there travel (NCCL's protocols).
enum class WireProtocol : std::uint8_t {
  None,    ///< no cost but the wire's
  Simple,  ///< data, then a fence and a flag
  LL,      ///< 4 bytes of flag beside 4 bytes of data
  LL128,   ///< 8 bytes of flag behind 120 bytes of data
};
[[nodiscard]] std::string_view name_of(WireProtocol protocol);

/// The kind of kernel a lane belongs to: each has costs of its own.
enum class Kernel : std::uint8_t {
  Collective,          ///< rings and trees: a peer a primitive
  SendRecv,            ///< grouped sends and receives
  Multicast,           ///< NVLink SHARP
  Symmetric,           ///< blocks that read and write the memory of other GPUs
  SymmetricMulticast,  ///< the same through NVLink SHARP
  CopyEngine,          ///< no blocks: copy engines
};

[[nodiscard]] constexpr bool is_symmetric(Kernel kernel) {
  return kernel == Kernel::Symmetric || kernel == Kernel::SymmetricMulticast;
}

/// Channels whose numbers leave the same remainder are alike to an executor; others of a program need
/// not be: their blocks run a little differently.
inline constexpr std::uint32_t channel_sorts = 4;

/// What all steps of a lane have in common.
struct Lane {
  std::uint32_t channel = 0;
  std::uint32_t group = 0;  ///< for Step::join
  /// Messages a connection of this lane may have under way or arrived and not yet received
  /// (NCCL's FIFO slots); absent: unlimited.
  std::optional<std::uint32_t> fifo_depth;
  WireProtocol protocol = WireProtocol::None;
  Kernel kernel = Kernel::Collective;
  std::uint32_t threads = 0;  ///< that work its steps; read where there is a protocol
  /// Equal lanes that this one stands for, itself among them: channels that do the same on the same
  /// ranks. The data checker takes programs in which all are 1.
  std::uint32_t multiplicity = 1;
};

/// The other end of a slot: a send slot's peer lane and receive slot there, or the reverse.
struct Connection {
  Rank peer;
  std::uint32_t lane = 0;
  std::uint32_t slot = 0;
  constexpr bool operator==(const Connection&) const = default;
};

/// What the messages of a send slot go through on their way. In this order: `through`, the sender's
/// host, `nic_out`, `nic_in`, the receiver's host. Nothing of all that: as routed (see
/// topology/routing.hpp).
struct Waypoints {
  /// The rank whose GPU takes the bytes and sends them on (NCCL's PXN).
  std::optional<Rank> through;
  /// Positions among the NICs of the sender's node, and of the receiver's: both or none.
  std::optional<std::uint32_t> nic_out;
  std::optional<std::uint32_t> nic_in;
  /// Through the memory of the CPU next to the GPU: of the one that sends last, of the receiver.
  bool host_out = false;
  bool host_in = false;
  constexpr bool operator==(const Waypoints&) const = default;
};

/// What a lane does, without its steps one by one: for those who compare lanes. See Program::schedule.
struct LaneSchedule {
  /// Lanes of a program with the same number do the same: as many steps, and step by step the same but for
  /// where in memory bytes lie and whose they are. They use the same slots, wait for no other lane, and
  /// move nothing through a switch.
  std::uint64_t shape = 0;
  std::uint32_t send_slots = 0;  ///< 0 … send_slots - 1 are used, and no others
};

/// Steps of a lane that repeat: for all i >= first with i + length < end, step i + length does what step i
/// does. It may differ in where in memory bytes lie; its phase is `phases` higher, and where it waits for a
/// step of another lane, then for one that lies a period of that lane later. Lanes of a rank that wait for each
/// other repeat together.
struct StepPeriod {
  std::uint64_t first = 0;
  std::uint64_t length = 0;
  std::uint64_t end = 0;
  std::uint64_t phases = 0;
  constexpr bool operator==(const StepPeriod&) const = default;
};

class Program {
 public:
  virtual ~Program() = default;

  [[nodiscard]] virtual const CollectiveCall& call() const = 0;
  /// The algorithm's name in the table ("ring").
  [[nodiscard]] virtual std::string_view algorithm() const = 0;

  [[nodiscard]] virtual std::uint32_t lane_count(Rank rank) const = 0;
  [[nodiscard]] virtual Lane lane(Rank rank, std::uint32_t lane) const = 0;
  [[nodiscard]] virtual std::uint64_t step_count(Rank rank, std::uint32_t lane) const = 0;
  [[nodiscard]] virtual Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const = 0;
  /// Both are consistent: if send_to(r, l, s) = {p, m, t} then receive_from(p, m, t) = {r, l, s}.
  [[nodiscard]] virtual Connection send_to(Rank rank, std::uint32_t lane,
                                           std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Connection receive_from(Rank rank, std::uint32_t lane,
                                                std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Bytes scratch_bytes(Rank rank) const = 0;
  /// Of a send slot.
  [[nodiscard]] virtual Waypoints waypoints(Rank, std::uint32_t /*lane*/,
                                            std::uint32_t /*slot*/) const {
    return {};
  }

  /// Absent: whoever wants to know what the lane does walks its steps.
  [[nodiscard]] virtual std::optional<LaneSchedule> schedule(Rank, std::uint32_t /*lane*/) const {
    return std::nullopt;
  }

  /// Absent: nothing is known to repeat.
  [[nodiscard]] virtual std::optional<StepPeriod> period(Rank, std::uint32_t /*lane*/) const {
    return std::nullopt;
  }

  /// Whether switches reduce what ranks send, so that less of it arrives.
  [[nodiscard]] virtual bool reduces_in_network() const { return false; }
  /// Peers, itself among them, that this rank serves by sends and receives of their own: each of them
  /// is work for the launch. 1 for what is one piece of work.
  [[nodiscard]] virtual std::uint32_t peers(Rank) const { return 1; }
  /// Channels and chunks in use (at most what was asked: no part of the data is empty).
  [[nodiscard]] virtual std::uint32_t channels() const = 0;
  [[nodiscard]] virtual std::uint32_t chunks() const = 0;
  /// Messages that all ranks send together, or the largest number where they are more; for the
  /// --max-transfers guard.
  [[nodiscard]] virtual std::uint64_t transfer_count() const = 0;

 protected:
  Program() = default;
  Program(const Program&) = default;
  Program& operator=(const Program&) = default;
};

/// Where a buffer lies in memory: (memory, offset). Out of place, input and output are two
/// memories; in place, one is a part of the other (all_gather's input is the rank's own block of
/// its output, reduce_scatter's output its own block of its input, and so on as in nccl-tests).
struct MemoryPlace {
  enum class Memory : std::uint8_t { Input, Output, Scratch };
  Memory memory = Memory::Input;
  Bytes offset;
};
[[nodiscard]] MemoryPlace place_of(const CollectiveCall& call, Rank rank, Buffer buffer);

/// Where a rank's block begins in the input or output: 0 in a buffer that holds no more than one block, or is
/// not cut into blocks.
[[nodiscard]] Bytes block_offset(const CollectiveCall& call, Buffer buffer, Rank owner);

}  // namespace collsim
