#pragma once

// The interpreter of a rank's steps on real memory: the same for every wire.
//
// It never blocks: advance() takes every lane as far as it can go and returns; who calls it waits for the wire where
// nothing moved. So one thread progresses all lanes of a rank. A step is executed when all its messages are there and
// every send has a free slot: it reads messages and writes the next ones in place. A lane whose messages are there while
// a send lacks a slot keeps both ends waiting: before its rank sleeps, take_messages() moves them aside, as the
// data checker and the simulator let a step take its messages first. So what they say cannot deadlock does not.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/copy_reduce.hpp"
#include "validate/execution/rank_memory.hpp"
#include "validate/execution/script.hpp"
#include "validate/execution/wire.hpp"

namespace collsim {

namespace detail {

/// Where a step reads or writes next: a span's runs, one after the other.
template <class Byte>
struct RunCursor {
  Byte* at = nullptr;
  std::size_t left_in_run = 0;
  std::size_t run = 0;
  std::size_t gap = 0;  ///< between the end of a run and the start of the next one

  void advance(std::size_t bytes) {
    at += bytes;
    left_in_run -= bytes;
    if (left_in_run == 0) {
      at += gap;
      left_in_run = run;
    }
  }
};

}  // namespace detail

class RankRun {
 public:
  /// Requires: all outlive it.
  RankRun(const Program& program, const RankScript& script, RankMemory& memory, Wire& wire);

  /// Begins the program anew. Requires: finished(), or never begun.
  void restart();
  /// Whether every lane has run all its steps.
  [[nodiscard]] bool finished() const { return running_.empty(); }
  /// Executes what can be executed; false: nothing could.
  /// Throws: ExecutionError where a message has another size than the step that takes it.
  bool advance();
  /// Takes messages out of the wire whose steps lack a slot for sending; false: there were none.
  bool take_messages();
  /// Of an average: divides what was summed. To be called once a call, at its end.
  void finish_output();

  /// Grows with every step, and several times in a long one; may be read by other threads.
  [[nodiscard]] std::uint64_t work_done() const {
    return work_done_.load(std::memory_order_relaxed);
  }
  /// "rank 1, lane 0, step 3, waits for a message from rank 0, lane 0", for each lane that has not ended.
  [[nodiscard]] std::vector<std::string> waits() const;

 private:
  struct LaneState {
    std::uint64_t next = 0;  ///< the step to run
    bool taken = false;      ///< its messages are in `aside`
    std::vector<ByteBuffer> aside;
    SlotRange leaving;  ///< out ports of the step before, which may still be sending
  };
  enum class Obstacle : std::uint8_t { None, Leaving, Step, Join, Message, Credit };
  struct Blockage {
    Obstacle obstacle = Obstacle::None;
    std::uint32_t port = 0;  ///< that lacks a message or a slot
  };

  [[nodiscard]] const Step& next_step(std::uint32_t lane) const {
    return script_.steps[script_.lanes[lane].first_step + lanes_[lane].next];
  }
  [[nodiscard]] Blockage blockage(std::uint32_t lane) const;
  [[nodiscard]] std::uint64_t lowest_phase(std::uint32_t group) const;
  void execute(std::uint32_t lane);
  void move_bytes(std::size_t bytes);
  void add_span(const Span& span);
  [[nodiscard]] std::string wait_of(std::uint32_t lane) const;
  void complete(std::uint32_t lane);
  void note_work() { work_done_.fetch_add(1, std::memory_order_relaxed); }
  void check_size(std::uint32_t lane, std::uint32_t port, std::size_t found) const;

  const RankScript& script_;
  RankMemory& memory_;
  Wire& wire_;
  kernels::CopyReduce copy_reduce_;
  std::uint32_t divisor_ = 1;  ///< of an average
  kernels::DivideLoop divide_;
  std::vector<LaneState> lanes_;
  std::vector<std::uint32_t> running_;  ///< lanes that have not ended, in order
  /// By group: lanes that have not ended by the phase they are in.
  std::vector<std::map<std::uint64_t, std::uint32_t>> phases_;
  std::atomic<std::uint64_t> work_done_ = 0;

  // Of the step at hand.
  std::vector<detail::RunCursor<const std::byte>> inputs_;
  std::vector<detail::RunCursor<std::byte>> outputs_;
  std::vector<const std::byte*> input_starts_;
  std::vector<std::byte*> output_starts_;
};

}  // namespace collsim
