#pragma once

// Where a process of a group runs the lanes of its rank: a GPU whose memory the other processes map (ipc_machine.hpp), or threads of
// the host on shared memory in its place (host_lane_machine.hpp), so that all but the mapping is tested without a GPU.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/lane_tables.hpp"
#include "topology/units.hpp"
#include "validate/cuda/lane_program.hpp"

namespace collsim {

/// Blocks that run at once, on what several processes may share: those of all must not be more, or they might wait for each other
/// for ever.
struct BlockRoom {
  std::string device;  ///< the same text for all processes that share it
  std::uint64_t blocks = 0;
};

/// Of one program: makes its memory, runs it, and gives all back when it goes.
class LaneMachine {
 public:
  virtual ~LaneMachine() = default;

  /// Memory of the own rank, all zeros. Once. Throws: InputError where there is not enough.
  virtual std::byte* make_arena(std::size_t bytes) = 0;
  /// What another process opens that memory with.
  [[nodiscard]] virtual std::string arena_handle() const = 0;
  /// The memory of another rank, as this machine addresses it. Throws: ExecutionError, CudaError where it cannot be mapped.
  virtual std::byte* open_arena(const std::string& handle, std::size_t bytes) = 0;
  /// Gives back the others' memory, before they may free it.
  virtual void close_arenas() = 0;

  virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void read(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void fill(std::span<std::byte> memory, std::byte pattern) = 0;

  [[nodiscard]] virtual BlockRoom room(DataType type) const = 0;
  /// To the devices of the other ranks, as their machines call them.
  [[nodiscard]] virtual WideLines wide_lines_to(const std::vector<std::string>& devices) const = 0;
  /// What is to run. Once. Requires: the program outlives this.
  virtual void load(const LaneProgram& program, const std::vector<kernels::BlockTable>& blocks,
                    std::chrono::milliseconds patience) = 0;
  /// Runs so many calls back to back; returns the time of all. `watch` is called now and then; where it throws, waits end, and so
  /// does this. Throws: ExecutionError where a wait took too long.
  virtual Duration run(std::uint32_t calls, const std::function<void()>& watch) = 0;
  /// The same for calls that are timed, launched as the machine was told to.
  virtual Duration run_timed(std::uint32_t calls, const std::function<void()>& watch) {
    return run(calls, watch);
  }

 protected:
  LaneMachine() = default;
  LaneMachine(const LaneMachine&) = default;
  LaneMachine& operator=(const LaneMachine&) = default;
};

}  // namespace collsim
