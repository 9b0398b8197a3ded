#include "sim/slots_alike.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/connection_route.hpp"
#include "sim/lane_shape.hpp"

namespace collsim::detail {

namespace {

/// Of a row; a step counts them in 16 bits.
constexpr std::uint32_t most_alike = std::numeric_limits<std::uint16_t>::max();

enum class Side : std::uint8_t { Sends, Receives };
enum class Use : std::uint8_t { Together, InTurn };

SlotRange slots_of(const Step& step, Side side) {
  return side == Side::Sends ? step.sends : step.receives;
}

bool overlap(SlotRange a, SlotRange b) {
  return a.count != 0 && b.count != 0 && a.first < b.first + b.count && b.first < a.first + a.count;
}

/// A row of slots of a lane of the folded program.
struct Row {
  Rank rank;
  std::uint32_t lane = 0;
  Side side = Side::Sends;
  SlotRange slots;
};

/// Whether two steps of a primitive are the same work, the second one after the first.
bool go_on(const Step& first, const Step& next) {
  const auto scratch = [](const Step& step) {
    return step.destination && step.destination->buffer == Buffer::Scratch;
  };
  return next.continues && !next.after && !next.join && next.phase == first.phase &&
         next.bytes == first.bytes && next.movement == first.movement &&
         next.primitive() == first.primitive() && scratch(next) == scratch(first) &&
         next.source.has_value() == first.source.has_value() &&
         next.operand.has_value() == first.operand.has_value() &&
         next.destination.has_value() == first.destination.has_value();
}

class SlotSearch {
 public:
  SlotSearch(const Cluster& cluster, FoldedProgram& program)
      : cluster_(&cluster), program_(&program), legs_(cluster.graph().gpus().size()) {}

  void find();

 private:
  struct Pair {
    Row sends;
    Row receives;
  };
  using LaneKey = std::pair<Rank, std::uint32_t>;

  [[nodiscard]] bool is_covered(Rank rank, std::uint32_t lane) const;
  void look_at(Rank rank, std::uint32_t lane);
  [[nodiscard]] std::vector<std::uint32_t> send_slots(Rank rank, std::uint32_t lane) const;
  /// What the messages of a slot have in common with those of others that are alike.
  using Way = std::tuple<Rank, std::uint32_t, PathKind, std::vector<Duration>>;
  [[nodiscard]] Way way(Rank rank, std::uint32_t lane, std::uint32_t slot);
  [[nodiscard]] std::optional<Row> other_end(const Row& row) const;
  [[nodiscard]] bool is_in_turn(const Row& row, std::uint64_t index) const;
  [[nodiscard]] std::optional<Use> use_of(const Row& row) const;
  void look_for_waiters(Rank rank, std::uint32_t lane);
  void tell(const Pair& pair, bool alike);
  [[nodiscard]] bool is_within(Rank rank, StepRef ref) const;

  const Cluster* cluster_;
  FoldedProgram* program_;
  LegMemory legs_;
  std::vector<Pair> found_;
  std::set<LaneKey> awaited_within_;  ///< lanes of which one waits for a step among those in turn
};

bool SlotSearch::is_covered(Rank rank, std::uint32_t lane) const {
  const Lane its = program_->lane(rank, lane);
  return its.kernel == Kernel::Multicast && its.protocol == WireProtocol::Simple;
}

SlotSearch::Way SlotSearch::way(Rank rank, std::uint32_t lane, std::uint32_t slot) {
  const LaneClass& alike = program_->lane_class(rank, lane);
  const LaneOnGpus at{cluster_,   &program_->whole(), &program_->communicator(),
                      alike.rank, alike.lane,         &legs_};
  ConnectionRoute route = connection_route(at, slot, WireProtocol::Simple);
  const Connection to = program_->send_to(rank, lane, slot);
  return {to.peer, to.lane, route.kind, std::move(route.latency_by_level)};
}

/// In ascending order.
std::vector<std::uint32_t> SlotSearch::send_slots(Rank rank, std::uint32_t lane) const {
  std::set<std::uint32_t> slots;
  for (WalkedSteps steps(*program_, rank, lane); !steps.done(); steps.next()) {
    const SlotRange sends = program_->step(rank, lane, steps.index()).sends;
    for (std::uint32_t number = 0; number < sends.count; ++number) {
      slots.insert(sends.first + number);
    }
  }
  return {slots.begin(), slots.end()};
}

/// The slots at the other end, where these are in a row, too.
std::optional<Row> SlotSearch::other_end(const Row& row) const {
  std::vector<std::uint32_t> slots;
  Connection to;
  for (std::uint32_t number = 0; number < row.slots.count; ++number) {
    to = program_->send_to(row.rank, row.lane, row.slots.first + number);
    slots.push_back(to.slot);
  }
  std::ranges::sort(slots);
  const bool in_a_row = std::ranges::adjacent_find(slots) == slots.end() &&
                        slots.back() - slots.front() + 1 == row.slots.count;
  if (!in_a_row) {
    return std::nullopt;
  }
  return Row{to.peer, to.lane, Side::Receives, {slots.front(), row.slots.count}};
}

/// Whether the step and those behind it use the row's slots in turn.
bool SlotSearch::is_in_turn(const Row& row, std::uint64_t index) const {
  const std::uint32_t count = row.slots.count;
  if (index + count > program_->step_count(row.rank, row.lane)) {
    return false;
  }
  const Step first = program_->step(row.rank, row.lane, index);
  for (std::uint32_t number = 0; number < count; ++number) {
    const Step step = program_->step(row.rank, row.lane, index + number);
    const bool fits = slots_of(step, row.side) == SlotRange{row.slots.first + number, 1} &&
                      step.sends.count + step.receives.count == 1 &&
                      (number == 0 || go_on(first, step));
    // In staging buffers each lies by itself; elsewhere one copy is for all (step_costs.hpp).
    const bool copied = step.destination && step.destination->buffer == Buffer::Scratch;
    const bool posted = row.side == Side::Receives || (copied && step.movement == Movement::Post &&
                                                       (step.posts_later || number + 1 == count));
    if (!fits || !posted) {
      return false;
    }
  }
  return true;
}

/// Absent: the lane's steps use the slots in another way, or by turns in both.
std::optional<Use> SlotSearch::use_of(const Row& row) const {
  std::optional<Use> use;
  for (WalkedSteps steps(*program_, row.rank, row.lane); !steps.done(); steps.next()) {
    const Step step = program_->step(row.rank, row.lane, steps.index());
    const SlotRange slots = slots_of(step, row.side);
    if (!overlap(slots, row.slots)) {
      continue;
    }
    const bool together = slots == row.slots && step.movement != Movement::Route;
    if (!together && !is_in_turn(row, steps.index())) {
      return std::nullopt;
    }
    const Use its = together ? Use::Together : Use::InTurn;
    if (use.value_or(its) != its) {
      return std::nullopt;
    }
    use = its;
    if (its == Use::InTurn) {
      steps.skip(row.slots.count - 1);
    }
  }
  return use;
}

/// The first slots in a row that are alike.
void SlotSearch::look_at(Rank rank, std::uint32_t lane) {
  const std::vector<std::uint32_t> slots = send_slots(rank, lane);
  for (std::size_t begin = 0; begin < slots.size();) {
    const Way first = way(rank, lane, slots[begin]);
    std::size_t end = begin + 1;
    while (end < slots.size() && slots[end] == slots[end - 1] + 1 &&
           way(rank, lane, slots[end]) == first) {
      ++end;
    }
    const auto count = static_cast<std::uint32_t>(end - begin);
    const Row sends{rank, lane, Side::Sends, {slots[begin], count}};
    begin = end;
    const bool leaves_node = std::get<PathKind>(first) == PathKind::Network;
    if (count < 2 || count > most_alike || leaves_node ||
        !is_covered(std::get<0>(first), std::get<1>(first))) {
      continue;
    }
    const std::optional<Row> receives = other_end(sends);
    if (!receives ||
        program_->lane_class(receives->rank, receives->lane).receives_alike.count > 0) {
      continue;
    }
    const std::optional<Use> sent = use_of(sends);
    const std::optional<Use> received = use_of(*receives);
    if (sent && received && (*sent == Use::Together || *received == Use::Together)) {
      found_.push_back({sends, *receives});
      tell(found_.back(), true);
      return;
    }
  }
}

/// Whether a step is one of those in turn, and not the last of them.
bool SlotSearch::is_within(Rank rank, StepRef ref) const {
  const LaneClass& its = program_->lane_class(rank, ref.lane);
  const Step step = program_->step(rank, ref.lane, ref.index);
  const auto within = [](SlotRange slots, SlotRange row) {
    return slots.count == 1 && overlap(slots, row) && slots.first + 1 != row.first + row.count;
  };
  return within(step.sends, its.sends_alike) || within(step.receives, its.receives_alike);
}

void SlotSearch::look_for_waiters(Rank rank, std::uint32_t lane) {
  for (WalkedSteps steps(*program_, rank, lane); !steps.done(); steps.next()) {
    const std::optional<StepRef> after = program_->step(rank, lane, steps.index()).after;
    if (after && is_within(rank, *after)) {
      awaited_within_.emplace(rank, after->lane);
    }
  }
}

void SlotSearch::tell(const Pair& pair, bool alike) {
  const auto slots = [alike](const Row& row) { return alike ? row.slots : SlotRange{}; };
  program_->lane_class(pair.sends.rank, pair.sends.lane).sends_alike = slots(pair.sends);
  program_->lane_class(pair.receives.rank, pair.receives.lane).receives_alike =
      slots(pair.receives);
}

void SlotSearch::find() {
  for (std::uint32_t rank = 0; rank < program_->call().ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < program_->lane_count(Rank(rank)); ++lane) {
      if (is_covered(Rank(rank), lane)) {
        look_at(Rank(rank), lane);
      }
    }
  }
  if (found_.empty()) {
    return;
  }
  for (std::uint32_t rank = 0; rank < program_->call().ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < program_->lane_count(Rank(rank)); ++lane) {
      look_for_waiters(Rank(rank), lane);
    }
  }
  for (const Pair& pair : found_) {
    if (awaited_within_.contains({pair.sends.rank, pair.sends.lane}) ||
        awaited_within_.contains({pair.receives.rank, pair.receives.lane})) {
      tell(pair, false);
    }
  }
}

}  // namespace

void find_slots_alike(const Cluster& cluster, FoldedProgram& program) {
  SlotSearch(cluster, program).find();
}

}  // namespace collsim::detail
