#pragma once

// Steady states: of a run that repeats itself, periods are skipped.
//
// Programs say of which steps of a lane each does what the one a period before it did (Program::period).
// Whenever a certain lane has done a few periods more, all that the rest of the run follows from is written
// down, relative to the instant and to the number of periods done: where each lane stands and what it
// waits for; each message under way; what each transfer has left, and at which rate since when
// (StateRecord). Nothing else matters: the order of events within an instant does not (network.hpp), and
// events that are to come follow from lanes, messages and transfers.
//
// Where two of these records have the same hash, the second one is kept and compared, number by number,
// with that of the instant as many periods later. If they are the same, then what happened between the two happens
// again and again, as long as all lanes have steps that repeat. So the lanes' steps are counted on by as
// many rounds as fit, as if they had been done; times are left as they are, and what is skipped is added
// to the result: to the end of each rank; to bytes and busy times of links what one round added to them;
// to transfers. What the time is attributed to: each vector of attribution (of a lane, of a message)
// carries the number of the vector at the beginning of the round that it comes from. The last rank's
// vector is led back through as many rounds as were skipped, adding what each adds.
//
// The result is that of the whole run, to the picosecond.
//
// Covered: one collective on the `flow` model, whose lanes all repeat, without observer and critical
// path, without changes of capacity; no cost that depends on a step's number (CostItem::SimpleUnevenness). NVLS's
// programs say what repeats. Internal to the executor.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/executor.hpp"
#include "sim/flow_network.hpp"
#include "sim/lanes.hpp"
#include "sim/state_record.hpp"

namespace collsim::detail {

class SteadyState {
 public:
  /// Whether it is worth while to look.
  [[nodiscard]] static bool may_come(const Workload& workload, const RunOptions& options);

  /// Requires: may_come(); both outlive it; the lanes' vectors have a place for their origin.
  SteadyState(const FlowNetwork& network, LaneEngine& lanes) : network_(&network), lanes_(&lanes) {}

  /// To be called after each instant.
  void look(Time now) {
    if (!over_ && (!begun_ || lanes_->has_reached(marker_, next_marker_))) {
      look_closely(now);
    }
  }

  /// Adds what was skipped to an attribution, the one of the rank that ended last.
  void complete_attribution(std::vector<std::int64_t>& vector) const;
  /// Adds it to all else. Requires: the run is over.
  void complete(RunResult& result) const;
  [[nodiscard]] std::uint64_t rounds_skipped() const { return rounds_; }
  /// How long each of them takes.
  [[nodiscard]] Duration round() const { return round_; }

 private:
  /// What is compared at the beginning and the end of a round.
  struct Snapshot {
    StateRecord state;
    std::vector<std::int64_t> rows;  ///< of all lanes, then of the messages in order
    std::vector<LinkUse> links;
    std::uint64_t transfers = 0;
    std::uint64_t periods = 0;
  };

  void look_closely(Time now);
  [[nodiscard]] bool begin();
  void end_round(Time now);
  [[nodiscard]] Snapshot snapshot(Time now, StateRecord&& state) const;
  void give_up() {
    over_ = true;
    first_.reset();
    seen_.clear();
  }

  const FlowNetwork* network_;
  LaneEngine* lanes_;
  bool begun_ = false;
  bool over_ = false;
  std::uint32_t marker_ = 0;                               ///< the lane whose periods are counted
  std::uint64_t next_marker_ = 0;                          ///< its step that ends the present one
  std::uint64_t periods_ = 0;                              ///< that it has done
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;  ///< by hash: periods done then
  std::optional<Snapshot> first_;                          ///< the beginning of a round
  std::uint64_t periods_of_round_ = 0;

  // Once rounds were skipped:
  std::uint64_t rounds_ = 0;
  Duration round_{};
  std::size_t width_ = 0;
  std::vector<std::uint32_t>
      origin_;  ///< by vector at the end of the round: which one at its beginning
  std::vector<std::int64_t> rows_;   ///< the vectors at its end
  std::vector<std::int64_t> added_;  ///< by vector: what the round added
  std::vector<LinkUse> link_use_;    ///< in a round
  std::uint64_t transfers_ = 0;      ///< in a round
};

}  // namespace collsim::detail
