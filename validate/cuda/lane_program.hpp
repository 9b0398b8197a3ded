#pragma once

// A program laid out for the interpreter of kernels/interpreter.hpp: what lies where in each rank's memory, and the tables.
//
// Each rank has one piece of memory, its arena: buffers first; then what must begin as zeros (FIFO slots of its receive ports,
// counters); then its tables. The same layout serves a GPU and the threads of the host; only addresses differ.
// What each message carries is settled here: the two ends of a connection must agree message by message.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/program.hpp"
#include "kernels/lane_tables.hpp"
#include "validate/cuda/lane_wire.hpp"
#include "validate/execution/outcome.hpp"
#include "validate/execution/rank_memory.hpp"
#include "validate/execution/script.hpp"

namespace collsim {

class LaneProgram {
 public:
  /// Throws: as script_of and port_pairs; SimulationError where a step receives another size than was sent; InputError for a
  /// step with more messages than a block of threads keeps.
  LaneProgram(const Program& program, const LaneWireChoice& wire);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(plans_.size()); }
  [[nodiscard]] DataType type() const { return call_.type; }
  [[nodiscard]] const CollectiveCall& call() const { return call_; }
  [[nodiscard]] const LaneWireChoice& wire() const { return wire_; }
  /// Steps of a call that NVLink's switch would take.
  [[nodiscard]] std::uint64_t emulated_steps() const;

  // Of a rank's arena, in bytes from its start, which must be aligned to `alignment`.
  static constexpr std::size_t alignment = 128;
  [[nodiscard]] std::size_t arena_bytes(Rank rank) const { return plan(rank).bytes; }
  /// Buffers: to be poisoned before a call that is checked.
  [[nodiscard]] std::size_t memory_bytes(Rank rank) const { return plan(rank).zeros_at; }
  [[nodiscard]] std::size_t input_at(Rank rank) const {
    return plan(rank).buffer_at(Buffer::Input);
  }
  [[nodiscard]] std::size_t input_bytes(Rank rank) const { return plan(rank).memory.input_bytes; }
  [[nodiscard]] std::size_t output_at(Rank rank) const {
    return plan(rank).buffer_at(Buffer::Output);
  }
  [[nodiscard]] std::size_t output_bytes(Rank rank) const { return plan(rank).memory.output_bytes; }
  /// What begins as zeros ends where the tables begin.
  [[nodiscard]] std::size_t zeros_at(Rank rank) const { return plan(rank).zeros_at; }
  [[nodiscard]] std::size_t tables_at(Rank rank) const { return plan(rank).tables_at; }
  /// The tables for arenas at those addresses, one a rank, as the machine sees them that runs the program.
  [[nodiscard]] std::vector<std::byte> tables(Rank rank, std::span<std::byte* const> arenas) const;

  /// The blocks of a rank: a lane each, without those that have no steps.
  [[nodiscard]] std::vector<kernels::BlockTable> blocks(Rank rank, std::byte* arena) const;
  /// What a launch of such blocks is told.
  [[nodiscard]] kernels::LaunchTable launch(kernels::BlockTable* blocks, kernels::Failure* failure,
                                            const std::uint64_t* abort,
                                            std::chrono::nanoseconds patience) const;

  /// "rank 1, lane 0, step 3, waits for a message from rank 0, lane 0".
  [[nodiscard]] std::string text_of(const kernels::Failure& failure) const;

 private:
  struct WaitRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// Where things lie, in bytes from the arena's start.
  struct Plan {
    Plan(const Program& program, Rank rank);

    [[nodiscard]] std::size_t buffer_at(Buffer buffer) const {
      const MemoryLayout::Start& start = memory.starts[static_cast<std::size_t>(buffer)];
      return memory_at[start.memory] + start.offset;
    }
    void list_waits();
    void place(kernels::WireKind wire);

    RankScript script;
    MemoryLayout memory;
    std::array<std::size_t, 3> memory_at{};
    std::vector<std::size_t> slots_at;    ///< by in port
    std::vector<std::size_t> slot_bytes;  ///< by in port
    std::vector<std::size_t> sent_at;     ///< by in port
    std::vector<std::size_t> taken_at;    ///< by out port
    std::vector<std::size_t> done_at;     ///< by lane
    std::size_t zeros_at = 0;
    std::size_t tables_at = 0;
    std::size_t lanes_at = 0;
    std::size_t steps_at = 0;
    std::size_t waits_at = 0;
    std::size_t in_at = 0;
    std::size_t out_at = 0;
    std::size_t bytes = 0;
    std::vector<kernels::WaitTable> waits;
    std::vector<WaitRange> step_waits;  ///< by step
  };

  [[nodiscard]] const Plan& plan(Rank rank) const { return plans_[rank.index()]; }
  void check_messages() const;
  [[nodiscard]] kernels::StepTable step_table(const Plan& plan, std::size_t step,
                                              std::byte* arena) const;
  [[nodiscard]] kernels::PortTable in_table(const Plan& plan, std::size_t port,
                                            std::span<std::byte* const> arenas) const;
  [[nodiscard]] kernels::PortTable out_table(const Plan& plan, std::size_t port,
                                             std::span<std::byte* const> arenas) const;

  CollectiveCall call_;
  LaneWireChoice wire_;
  std::vector<Plan> plans_;
  std::vector<std::vector<std::uint32_t>> in_of_out_;  ///< by rank and out port
  std::vector<std::vector<std::uint32_t>> out_of_in_;  ///< by rank and in port
};

/// What a run of the program has to say of how it was run.
void describe_lanes(const LaneProgram& program, ExecutionOutcome& outcome);

}  // namespace collsim
