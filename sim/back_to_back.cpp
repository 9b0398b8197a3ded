// Calls back to back, as nccl-tests times them: the calls that show whether they repeat each other, and
// the time per iteration that follows.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sim/collective_calls.hpp"
#include "topology/error.hpp"

namespace collsim {

using detail::last_end;
using detail::OneCall;
using detail::Programs;
using detail::result_of;
using detail::run_once;
using detail::set_groups;
using detail::slowest_of;
using detail::workload_of;

namespace {

/// Dividend / divisor to the nearest integer, halves up. Requires: dividend >= 0.
Duration rounded(U128 dividend, std::uint64_t divisor) {
  return Duration(static_cast<std::int64_t>((dividend + divisor / 2) / divisor));
}

/// How far the ranks of an operation end behind the first of them; and when that is.
struct Offsets {
  Duration first{};
  std::vector<Duration> of_rank;
};

Offsets offsets_of(const OperationResult& operation) {
  Offsets offsets;
  offsets.first = *std::ranges::min_element(operation.time_of_rank);
  for (const Duration end : operation.time_of_rank) {
    offsets.of_rank.push_back(end - offsets.first);
  }
  return offsets;
}

/// Calls that show whether they repeat each other.
constexpr std::uint32_t few_calls = 5;

/// The period of calls that have come to repeat each other, seen in a run of a few; absent if they do
/// not. What a call does follows from when its ranks start, from what is left of the call before and
/// from the start of the one after it. So three calls that end alike, and are over before the one after
/// the next begins anywhere, are followed by none that ends otherwise but the last one, which no other
/// follows.
std::optional<Duration> period_of(const RunResult& run, std::size_t groups) {
  const std::size_t calls = run.operations.size() / groups;
  std::optional<Duration> period;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto call = [&](std::size_t from_end) -> const OperationResult& {
      return run.operations[(calls - from_end) * groups + group];
    };
    const Offsets first = offsets_of(call(4));
    const Offsets second = offsets_of(call(3));
    const Offsets third = offsets_of(call(2));
    const Duration step = third.first - second.first;
    const bool repeats = first.of_rank == second.of_rank && second.of_rank == third.of_rank &&
                         step == second.first - first.first;
    const bool over = last_end(call(2)) <= offsets_of(call(1)).first;
    if (!repeats || !over || (period && *period != step)) {
      return std::nullopt;
    }
    period = step;
  }
  return period;
}

struct GroupTimes {
  std::vector<Duration> of_rank;
  Duration mean{};
};

/// When the ranks of a group end a call. Beyond the calls that were run, all but the last one repeat the
/// last but one, a period each.
std::vector<Duration> ends_of(const RunResult& run, std::size_t groups, std::size_t group,
                              std::uint32_t call, std::uint32_t calls, Duration period) {
  const auto have = static_cast<std::uint32_t>(run.operations.size() / groups);
  std::uint32_t like = call;
  if (call + 1 == calls) {
    like = have - 1;
  } else if (call + 1 >= have) {
    like = have - 2;
  }
  std::vector<Duration> ends = run.operations[like * groups + group].time_of_rank;
  for (Duration& end : ends) {
    end += (call - like) * period;
  }
  return ends;
}

/// By group: what a timed iteration takes.
std::vector<GroupTimes> times_per_iteration(const RunResult& run, std::size_t groups,
                                            Iterations iterations, Duration period) {
  std::vector<GroupTimes> result(groups);
  const std::uint32_t calls = iterations.warmup + iterations.timed;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::vector<Duration> ends = ends_of(run, groups, group, calls - 1, calls, period);
    std::vector<Duration> before(ends.size());
    if (iterations.warmup != 0) {
      before = ends_of(run, groups, group, iterations.warmup - 1, calls, period);
    }
    U128 sum = 0;
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
      const auto span = static_cast<U128>((ends[rank] - before[rank]).count());
      sum += span;
      result[group].of_rank.push_back(rounded(span, iterations.timed));
    }
    result[group].mean = rounded(sum, std::uint64_t{iterations.timed} * ends.size());
  }
  return result;
}

/// Calls back to back: all of them, or a few that repeat each other with a period.
struct ManyCalls {
  RunResult run;
  Duration period{};
};

ManyCalls run_calls(const Cluster& cluster, const CollectiveJob& job, const Programs& programs,
                    std::uint32_t calls, const RunOptions& options) {
  if (calls > few_calls && options.observer == nullptr) {
    RunResult few = run_workload(cluster, workload_of(job, programs, few_calls), options);
    if (const std::optional<Duration> period = period_of(few, programs.size())) {
      return {std::move(few), *period};
    }
  }
  return {run_workload(cluster, workload_of(job, programs, calls), options), Duration{}};
}

/// Scales the parts so that they sum to `total` exactly: each is rounded down, and what is missing
/// goes to the largest remainders, the first of equals.
void scale_attribution(std::vector<AttributedTime>& parts, Duration total) {
  U128 sum = 0;
  for (const AttributedTime& part : parts) {
    sum += static_cast<U128>(part.time.count());
  }
  if (sum == 0) {
    return;
  }
  std::vector<std::pair<U128, std::size_t>> remainders;
  Duration given{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const U128 scaled = static_cast<U128>(parts[i].time.count()) * static_cast<U128>(total.count());
    parts[i].time = Duration(static_cast<std::int64_t>(scaled / sum));
    given += parts[i].time;
    remainders.emplace_back(scaled % sum, i);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto missing = static_cast<std::size_t>((total - given).count());
  for (std::size_t i = 0; i < missing; ++i) {
    parts[remainders[i].second].time += Duration(1);
  }
  std::erase_if(parts, [](const AttributedTime& part) { return part.time == Duration{}; });
}

/// How long calls take that the GPUs need one of these times for and the process that launches them the
/// other one: both at once, but neither is regular, so that the shorter one shows where they are close:
/// the root of the fourth order of the sum of fourth powers. (Exponents from 3 on fit measured tables of
/// one process for 4 and 8 GPUs alike; square roots alone are the same on every machine.)
Duration of_both(Duration one, Duration other) {
  const auto longer = static_cast<double>(std::max(one, other).count());
  const double ratio = static_cast<double>(std::min(one, other).count()) / longer;
  const double squared = ratio * ratio;
  return Duration(std::llround(longer * std::sqrt(std::sqrt(1 + squared * squared))));
}

/// A process cannot launch faster than this.
void wait_for_host(CollectiveResult& result, const RunOptions& options) {
  if (options.host_per_call == Duration{} || result.time == Duration{}) {
    return;
  }
  const Duration gpus = result.time;
  const Duration all = of_both(gpus, options.host_per_call);
  if (options.attribute == AttributeTo::Limits) {
    // Each in proportion to what a change of it changes: d ln all / d ln gpus = (gpus / all)^4.
    const double part = static_cast<double>(gpus.count()) / static_cast<double>(all.count());
    retime(result,
           Duration(std::llround(static_cast<double>(all.count()) * part * part * part * part)));
  }
  result.attribution.insert(
      result.attribution.begin(),
      {Cause::Launch, std::nullopt, CostItem::LaunchProcess, all - result.time});
  for (Duration& time : result.time_of_rank) {
    time = of_both(std::max(time, Duration(1)), options.host_per_call);
  }
  result.time = all;
}

}  // namespace

CollectiveResult run_back_to_back(const Cluster& cluster, const CollectiveJob& job,
                                  Iterations iterations, const RunOptions& options) {
  if (iterations.timed == 0) {
    throw InputError("at least one iteration must be timed");
  }
  const std::uint64_t calls = std::uint64_t{iterations.warmup} + iterations.timed;
  if (calls > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(std::to_string(calls) + " iterations are more than can be counted");
  }
  const Programs programs = programs_of(cluster, job);

  // A look at a call of its own, which no observer sees before it is clear that it stands for all.
  RunOptions unseen = options;
  unseen.observer = nullptr;
  OneCall first = run_once(cluster, job, programs, calls == 1 ? options : unseen);
  if (calls == 1) {
    return first.result;
  }
  if (first.together) {
    CollectiveResult result = options.observer == nullptr
                                  ? std::move(first.result)
                                  : run_once(cluster, job, programs, options).result;
    wait_for_host(result, options);
    return result;
  }

  ManyCalls many = run_calls(cluster, job, programs, static_cast<std::uint32_t>(calls), options);
  const std::vector<GroupTimes> spans =
      times_per_iteration(many.run, programs.size(), iterations, many.period);
  std::vector<Duration> means;
  means.reserve(spans.size());
  for (const GroupTimes& times : spans) {
    means.push_back(times.mean);
  }
  const std::size_t slowest = slowest_of(means);
  CollectiveResult result = result_of(cluster, job, programs, slowest, std::move(many.run));
  result.time_of_rank = spans[slowest].of_rank;
  retime(result, means[slowest]);
  set_groups(result, std::move(means), slowest);
  wait_for_host(result, options);
  return result;
}

void retime(CollectiveResult& result, Duration time) {
  result.time = time;
  scale_attribution(result.attribution, time);
}

}  // namespace collsim
