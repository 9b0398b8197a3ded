#pragma once

// The lanes of the operations that run: takes each through its steps (waits, receives, sends) as
// messages leave and arrive, and says which ranks have come to the end. Holds all attribution on
// the way: a lane's vector is always the one of the predecessor that came last. Internal to the
// executor.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/attribution.hpp"
#include "sim/critical_path.hpp"
#include "sim/event_queue.hpp"
#include "sim/executor.hpp"
#include "sim/flow_network.hpp"
#include "sim/fold.hpp"
#include "sim/lane_state.hpp"
#include "sim/messages.hpp"
#include "sim/network.hpp"
#include "sim/open_routes.hpp"
#include "sim/state_record.hpp"

namespace collsim::detail {

/// Where some chain of work stands: what a rank starts from, and what it ends with.
struct Progress {
  const std::int64_t* vector = nullptr;  ///< attribution, sums to the time since the run's start
  std::uint32_t stretch = no_index;      ///< of the critical path
};

/// A rank that has completed all its steps of an operation.
struct EndedRank {
  OperationId operation;
  Rank rank;
};

/// Until the peer sees a message, after its last byte: what is left of it, and what went by while bytes were on
/// the wire.
struct HandOff {
  CostItem item{};
  Duration shown{};
  Duration hidden{};
};

/// "rank 3 lane 0 step 7": where a lane stands.
[[nodiscard]] std::string place_of(const OperationState& operation, std::uint32_t lane);

class LaneEngine {
 public:
  /// Requires: everything outlives the engine.
  /// `plan`: null where every lane is executed. `traced`: vectors of attribution carry, behind their parts,
  /// where they come from (see mark_origins).
  LaneEngine(const Cluster& cluster, const Workload& workload, const RunOptions& options,
             const FoldPlan* plan, EventQueue& queue, Network& network,
             CriticalPaths& critical_paths, bool traced = false);

  /// Sets up the lanes of all ranks.
  void activate(OperationId operation, const Collective& collective);
  /// Frees them. Requires: all ranks have ended, all messages were received.
  void deactivate(OperationId operation);
  [[nodiscard]] bool active(OperationId operation) const {
    return operations_[operation.index()] != nullptr;
  }
  /// Requires: active.
  [[nodiscard]] const OperationState& state(OperationId operation) const {
    return *operations_[operation.index()];
  }

  /// A rank starts now. Requires: active, not started.
  void start(OperationId operation, Rank rank, Progress progress);
  /// Handle events. Each leaves no lane that could go on.
  void departed(const Departure& departure);
  void arrived(std::uint32_t message);
  void worked(OperationId operation, std::uint32_t lane);
  void staged(std::uint32_t message);

  /// Ranks that have ended; the caller clears it.
  [[nodiscard]] std::vector<EndedRank>& ended() { return ended_; }
  /// The lane that made a rank end. Absent (null) where it has no lanes.
  [[nodiscard]] Progress progress_of(OperationId operation, Rank rank);

  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }
  [[nodiscard]] const MessagePool& messages() const { return messages_; }
  [[nodiscard]] const AttributionLayout& layout() const { return layout_; }
  /// Of vectors of attribution.
  [[nodiscard]] std::size_t width() const { return width_; }

  // lane_periods.cpp: what repeats, for steady_state.hpp. Of the first operation, and of no other.
  /// The first lane that does something. Absent: not all lanes repeat.
  [[nodiscard]] std::optional<std::uint32_t> prepare_periods();
  /// Requires: prepare_periods() has found one.
  [[nodiscard]] const StepPeriod& period(std::uint32_t lane) const { return periods_[lane]; }
  [[nodiscard]] bool has_reached(std::uint32_t lane, std::uint64_t step) const {
    return operations_.front() != nullptr && operations_.front()->lanes[lane].step >= step;
  }
  /// Writes down how all stands, relative to now and to so many periods of each lane, and puts messages in
  /// an order. False: some lane does not repeat now. Requires: the instant is over.
  [[nodiscard]] bool append_state(std::uint64_t periods, const FlowNetwork& network,
                                  StateRecord& record);
  /// The vectors of all lanes, then of the messages in order. Requires: append_state() at this instant, as
  /// for mark_origins().
  [[nodiscard]] std::vector<std::int64_t> rows();
  /// Each of these vectors comes from itself from now on: has its number behind its parts.
  void mark_origins();
  /// Periods that all lanes can be counted on by and still repeat.
  [[nodiscard]] std::uint64_t periods_left() const;
  /// Counts all lanes on, as if they had done so many periods.
  void skip(std::uint64_t periods);
  /// Throws: InternalError if bytes on a link are not those sent, or something is still under way.
  void check_finished();

 private:
  // lanes.cpp: steps, receives
  void drain();
  void advance(OperationState& operation, std::uint32_t lane);
  void enter_step(OperationState& operation, std::uint32_t lane);
  void begin_receives(LaneState& lane);
  void look_at_messages(OperationState& operation, std::uint32_t lane);
  void consume_messages(OperationState& operation, std::uint32_t lane);
  void check_message(const OperationState& operation, std::uint32_t lane,
                     const Message& message) const;
  void complete_step(OperationState& operation, std::uint32_t lane);
  void end_lane(OperationState& operation, std::uint32_t lane);
  void follow(OperationState& operation, std::uint32_t lane, const std::int64_t* vector);

  // lane_waits.cpp: steps that wait for other lanes of the rank
  void wait_for_dependencies(OperationState& operation, std::uint32_t lane, const Step& step);
  void release_dependents(OperationState& operation, std::uint32_t lane);
  void release_joiners(OperationState& operation, PhaseGroup& group);
  void meet_dependency(OperationState& operation, std::uint32_t waiter, std::uint32_t lane);

  // lane_sends.cpp: connections, credits, sends
  [[nodiscard]] bool has_credit(const OperationState& operation, std::uint32_t lane) const;
  void start_sends(OperationState& operation, std::uint32_t lane);
  std::uint32_t new_message(OperationState& operation, std::uint32_t lane, std::uint32_t slot);
  [[nodiscard]] std::uint32_t wire_at(LinkId link) const;
  [[nodiscard]] std::uint32_t sharing_at(LinkId link) const;
  [[nodiscard]] SendEnd send_end(const Departure& departure) const;
  void left_directly(const Departure& departure);
  void message_left(OperationState& operation, std::uint32_t message, const SendEnd& end);
  void add_send(std::int64_t* vector, const LaneState& lane, const SendEnd& end) const;
  void set_out(OperationState& operation, std::uint32_t message, std::uint32_t slowest);
  void release_path(PathId path);
  void send_left(OperationState& operation, std::uint32_t message, const SendEnd& end);
  void finish_sends(OperationState& operation, std::uint32_t lane);
  const SendTarget& target_of(OperationState& operation, std::uint32_t lane, std::uint32_t slot);
  SendTarget& target_place(LaneState& lane, std::uint32_t slot);
  SendTarget connect(const OperationState& operation, std::uint32_t lane, std::uint32_t slot);
  [[nodiscard]] LaneOnGpus lane_on_gpus(const OperationState& operation, std::uint32_t lane) const;
  void forget_targets(LaneState& lane);
  void return_credit(OperationState& operation, const Message& message);
  void count_transfers(const OperationState& operation, std::uint32_t lane);
  void remember_sent(OperationState& operation, Message& message, bool left_last);

  // lane_costs.cpp: what steps of lanes with a protocol cost
  [[nodiscard]] Bandwidth memory_of_lane(const OperationState& operation, Rank rank) const;
  [[nodiscard]] LaneWork work_of(const OperationState& operation, std::uint32_t lane) const;
  void begin_step(OperationState& operation, std::uint32_t lane);
  void begin_costly_step(OperationState& operation, std::uint32_t lane);
  void move_bytes(OperationState& operation, std::uint32_t lane);
  void post_messages(OperationState& operation, std::uint32_t lane);
  void post(OperationState& operation, std::uint32_t message);
  void go_on(OperationState& operation, std::uint32_t lane);
  [[nodiscard]] TransferTerms terms_of(const LaneState& lane) const;
  [[nodiscard]] HandOff hand_off_of(const OperationState& operation, const Message& message) const;

  // lane_switch.cpp: transfers of several messages at once, through a switch
  void start_through_switch(OperationState& operation, std::uint32_t lane);
  [[nodiscard]] PathId path_through_switch(OperationState& operation, std::uint32_t lane);
  void left_through_switch(const Departure& departure);

  // lane_network.cpp: messages that a proxy sends
  void stage_message(OperationState& operation, std::uint32_t message);
  void give_to_proxy(OperationState& operation, std::uint32_t message);
  void proxy_done(const Departure& departure);
  void leave_proxy(OperationState& operation, std::uint32_t message);
  void queue_for_wire(OperationState& operation, std::uint32_t message);
  void start_on_wire(OperationState& operation, std::uint32_t message);
  void left_wire(const Departure& departure);
  [[nodiscard]] PathId proxy_of(const OperationState& operation, const Message& message);
  void keep_order(OperationState& operation, std::uint32_t message);
  Duration add_network_delay(const OperationState& operation, std::uint32_t message);

  // lane_periods.cpp
  [[nodiscard]] bool order_messages();
  void append_lane(const OperationState& operation, std::uint32_t lane, std::uint64_t periods,
                   StateRecord& record) const;
  void append_messages(const OperationState& operation, StateRecord& record) const;

  // lane_records.cpp: what observers and the critical path see
  void record_step(const OperationState& operation, std::uint32_t lane) const;
  void record_transfer(const OperationState& operation, const Message& message);
  void remember_step(OperationState& operation, std::uint32_t lane);
  [[nodiscard]] CriticalStep stretch_of(const OperationState& operation, std::uint32_t lane) const;

  [[nodiscard]] std::int64_t* vector_of(OperationState& operation, std::uint32_t lane) const {
    return operation.vectors.data() + lane * width_;
  }

  struct RunnableLane {
    OperationId operation;
    std::uint32_t lane = 0;
  };
  static constexpr std::uint32_t block_size = 16;
  using TargetBlock = std::array<SendTarget, block_size>;

  const RunOptions* options_;
  const FoldPlan* plan_;
  EventQueue* queue_;
  Network* network_;
  CriticalPaths* critical_paths_;
  AttributionLayout layout_;
  std::size_t width_;
  const Cluster* cluster_;
  mutable LegMemory legs_;  ///< changes no result
  OpenRoutes routes_;
  MessagePool messages_;
  std::vector<std::unique_ptr<OperationState>> operations_;  ///< by OperationId; null: not active
  std::vector<RunnableLane> runnable_;
  std::vector<EndedRank> ended_;
  std::vector<TargetBlock> target_blocks_;
  std::vector<std::uint32_t> free_blocks_;
  std::unordered_map<std::uint32_t, LinkId> proxies_;      ///< by GPU
  std::unordered_map<std::uint64_t, PathId> proxy_paths_;  ///< by GPU and crowd
  std::uint64_t transfers_ = 0;
  std::vector<StepPeriod> periods_;              ///< by lane
  std::vector<std::uint32_t> message_order_;     ///< messages under way
  std::vector<std::uint32_t> place_of_message_;  ///< in message_order_
};

}  // namespace collsim::detail
