#include "sim/steady_state.hpp"

#include <numeric>
#include <utility>
#include <variant>

#include "topology/error.hpp"

namespace collsim::detail {

namespace {

/// Looking takes about as long as simulating a tenth of a period.
constexpr std::uint64_t periods_between_looks = 4;

}  // namespace

bool SteadyState::may_come(const Workload& workload, const RunOptions& options) {
  if (options.fold == FoldMode::Off || options.observer != nullptr || options.critical_path ||
      options.network != NetworkModel::Flow || workload.operations.size() != 1 ||
      !workload.capacity_changes.empty()) {
    return false;
  }
  const auto* collective = std::get_if<Collective>(&workload.operations.front());
  if (collective == nullptr || collective->program == nullptr ||
      collective->communicator == nullptr) {
    return false;
  }
  const Program& program = *collective->program;
  for (std::uint32_t rank = 0; rank < program.call().ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < program.lane_count(Rank(rank)); ++lane) {
      if (program.step_count(Rank(rank), lane) != 0) {
        return program.period(Rank(rank), lane).has_value();
      }
    }
  }
  return false;
}

bool SteadyState::begin() {
  const std::optional<std::uint32_t> marker = lanes_->prepare_periods();
  if (!marker) {
    return false;
  }
  begun_ = true;
  marker_ = *marker;
  const StepPeriod& period = lanes_->period(marker_);
  next_marker_ = period.first + periods_between_looks * period.length;
  return true;
}

void SteadyState::look_closely(Time now) {
  if (!lanes_->active(OperationId(0))) {
    return;
  }
  if (!begun_) {
    if (!begin()) {
      give_up();
    }
    return;
  }
  while (lanes_->has_reached(marker_, next_marker_)) {
    next_marker_ += periods_between_looks * lanes_->period(marker_).length;
    periods_ += periods_between_looks;
  }
  if (next_marker_ >= lanes_->period(marker_).end) {
    give_up();
    return;
  }
  if (first_) {
    if (periods_ >= first_->periods + periods_of_round_) {
      end_round(now);
    }
    return;
  }
  StateRecord state(now);
  if (!lanes_->append_state(periods_, *network_, state)) {
    return;
  }
  const auto [known, is_new] = seen_.try_emplace(state.hash(), periods_);
  if (!is_new) {
    periods_of_round_ = periods_ - known->second;
    first_ = snapshot(now, std::move(state));
    lanes_->mark_origins();
  }
}

SteadyState::Snapshot SteadyState::snapshot(Time now, StateRecord&& state) const {
  Snapshot result{std::move(state), lanes_->rows(), {}, lanes_->transfers(), periods_};
  result.links = network_->link_use_until(now);
  return result;
}

/// If the round has led back to where it began, as many as fit are skipped.
void SteadyState::end_round(Time now) {
  const Snapshot before = *std::exchange(first_, std::nullopt);
  StateRecord state(now);
  const bool same = periods_ == before.periods + periods_of_round_ &&
                    lanes_->append_state(periods_, *network_, state) &&
                    state.numbers() == before.state.numbers();
  if (!same) {
    seen_.clear();
    return;
  }
  const std::uint64_t rounds = lanes_->periods_left() / periods_of_round_;
  if (rounds == 0) {
    give_up();
    return;
  }
  Snapshot after = snapshot(now, std::move(state));
  rounds_ = rounds;
  round_ = now - before.state.now();
  width_ = lanes_->layout().size();
  transfers_ = after.transfers - before.transfers;
  for (std::size_t link = 0; link < after.links.size(); ++link) {
    LinkUse use;
    use.fine_bytes = after.links[link].fine_bytes - before.links[link].fine_bytes;
    use.busy = after.links[link].busy - before.links[link].busy;
    link_use_.push_back(use);
  }
  const std::size_t count = after.rows.size() / (width_ + 1);
  for (std::size_t row = 0; row < count; ++row) {
    const std::int64_t* const its = after.rows.data() + row * (width_ + 1);
    const auto origin = static_cast<std::uint64_t>(its[width_]);
    // Vectors of messages that have not left yet are nobody's.
    origin_.push_back(origin < count ? static_cast<std::uint32_t>(origin) : 0);
    const std::int64_t* const from = before.rows.data() + origin_.back() * (width_ + 1);
    for (std::size_t i = 0; i < width_; ++i) {
      added_.push_back(its[i] - from[i]);
    }
  }
  rows_ = std::move(after.rows);
  lanes_->mark_origins();
  lanes_->skip(rounds * periods_of_round_);
  give_up();
}

void SteadyState::complete_attribution(std::vector<std::int64_t>& vector) const {
  if (rounds_ == 0) {
    return;
  }
  // After the last round it stands where the vector `row` stood after the first one, with all that the
  // rounds added on the way from there; what is known is where it would stand without them.
  const auto last = static_cast<std::size_t>(vector[width_]);
  COLLSIM_ENSURE(last < origin_.size(), "a vector of attribution that comes from nowhere");
  const auto sum = [&] {
    return std::accumulate(vector.begin(), vector.begin() + static_cast<std::ptrdiff_t>(width_),
                           std::int64_t{0});
  };
  const std::int64_t without = sum();
  std::size_t row = last;
  for (std::uint64_t round = 0; round < rounds_; ++round) {
    for (std::size_t i = 0; i < width_; ++i) {
      vector[i] += added_[row * width_ + i];
    }
    row = origin_[row];
  }
  for (std::size_t i = 0; i < width_; ++i) {
    vector[i] += rows_[row * (width_ + 1) + i] - rows_[last * (width_ + 1) + i];
  }
  COLLSIM_ENSURE(sum() - without == (static_cast<std::int64_t>(rounds_) * round_).count(),
                 "what is attributed to skipped rounds does not sum to their time");
}

void SteadyState::complete(RunResult& result) const {
  if (rounds_ == 0) {
    return;
  }
  const auto rounds = static_cast<std::int64_t>(rounds_);
  const Duration skipped = rounds * round_;
  OperationResult& operation = result.operations.front();
  operation.end = checked_add(operation.end, skipped);
  for (Duration& time : operation.time_of_rank) {
    time = checked_add(time, skipped);
  }
  result.time = checked_add(result.time, skipped);
  result.transfers += rounds_ * transfers_;
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    result.links[link].fine_bytes += link_use_[link].fine_bytes * rounds_;
    result.links[link].busy = checked_add(result.links[link].busy, rounds * link_use_[link].busy);
  }
}

}  // namespace collsim::detail
