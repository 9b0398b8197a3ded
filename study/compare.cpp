#include "study/compare.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <utility>

#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

std::vector<const Algorithm*> candidates(CollectiveKind kind,
                                         const std::vector<std::string>& names) {
  std::vector<const Algorithm*> chosen;
  if (names.empty()) {
    for (const Algorithm& algorithm : algorithms()) {
      if (implements(algorithm, kind)) {
        chosen.push_back(&algorithm);
      }
    }
    return chosen;
  }
  for (const std::string& name : names) {
    const Algorithm* algorithm = &find_algorithm(name);
    if (std::ranges::find(chosen, algorithm) == chosen.end()) {
      chosen.push_back(algorithm);
    }
  }
  return chosen;
}

/// Whether a run of that size is within the limits; if not, the outcome says so.
bool is_admitted(const RunSize& size, const RunLimits& limits, ComparedAlgorithm& outcome) {
  switch (check_limits(size, limits)) {
    case WithinLimits::TooManyTransfers:
      outcome.obstacle = "needs " + std::to_string(size.transfers) +
                         " transfers, more than --max-transfers allows";
      outcome.too_many_transfers = size.transfers;
      return false;
    case WithinLimits::TooMuchMemory:
      outcome.obstacle =
          "needs about " + to_text(size.memory) + " of memory, more than --max-memory allows";
      outcome.too_much_memory = size.memory;
      return false;
    case WithinLimits::Yes:
      break;
  }
  return true;
}

/// Thrown where a run turns out to be too large.
struct NotAdmitted {};

/// Runs the job unless that would be too much.
void simulate(const Cluster& cluster, const CollectiveJob& job, const CompareOptions& options,
              ComparedAlgorithm& outcome) {
  const std::unique_ptr<Program> program = program_of(cluster, job);
  const RunSize size = size_of_run(cluster, job, *program, 1);
  RunOptions run = options.run;
  run.admit = [&](const Folding& folding) {
    if (!is_admitted(folded_size(size, folding), options.limits, outcome)) {
      throw NotAdmitted{};
    }
  };
  const bool whole = run.fold == FoldMode::Off || options.verify == Verify::Yes;
  if (whole && !is_admitted(size, options.limits, outcome)) {
    return;
  }
  if (options.verify == Verify::Yes) {
    outcome.check = check_job(cluster, job);
  }
  try {
    outcome.result = run_collective(cluster, job, run);
  } catch (const NotAdmitted&) {
    outcome.check.reset();
  }
}

ComparedAlgorithm run_one(const Cluster& cluster, CollectiveJob job, const Algorithm& algorithm,
                          const CompareOptions& options) {
  ComparedAlgorithm outcome;
  outcome.algorithm = std::string(algorithm.name);
  job.algorithm = outcome.algorithm;
  CollectiveJob group = job;
  for (std::size_t i = 0; i < job.groups(); ++i) {
    group.gpus = job.group(i);
    if (const auto obstacle = algorithm.obstacle(request_of(cluster, group))) {
      outcome.obstacle = *obstacle;
      return outcome;
    }
  }
  try {
    simulate(cluster, job, options, outcome);
  } catch (const RangeError& error) {
    outcome.obstacle = error.message();
    outcome.range_path = error.path();
    outcome.range_hint = error.hint();
    outcome.check.reset();
  } catch (const InputError& error) {
    rethrow_about(error, outcome.algorithm);
  }
  return outcome;
}

std::string digits(double value, std::chars_format format, int precision) {
  std::string text(32, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

std::string reason_for(const std::vector<ComparedAlgorithm>& outcomes, std::size_t simulated) {
  if (simulated == 1) {
    return "the only algorithm that can be simulated";
  }
  const Duration best = outcomes[0].result->time;
  const ComparedAlgorithm& next = outcomes[1];
  const std::string of = "best of " + std::to_string(simulated) + " simulated";
  if (best == Duration::zero()) {
    return "nothing has to be sent: any algorithm will do";
  }
  if (next.result->time == best) {
    return of + "; " + next.algorithm + " is as quick and comes later in the list";
  }
  return of + ", " + margin_text(best, next.result->time) + " the next, " + next.algorithm;
}

}  // namespace

CheckReport check_job(const Cluster& cluster, const CollectiveJob& job) {
  std::optional<CheckReport> first;
  std::set<const Program*> checked;
  for (const std::shared_ptr<const Program>& program : programs_of(cluster, job)) {
    if (!checked.insert(program.get()).second) {
      continue;
    }
    CheckReport report = check_program(*program);
    if (!report.ok()) {
      return report;
    }
    if (!first) {
      first = std::move(report);
    }
  }
  return *first;
}

std::vector<ComparedAlgorithm> compare_algorithms(const Cluster& cluster, const CollectiveJob& job,
                                                  const std::vector<std::string>& names,
                                                  const CompareOptions& options) {
  std::vector<ComparedAlgorithm> outcomes;
  const std::vector<const Algorithm*> chosen = candidates(job.call.kind, names);
  for (const Algorithm* algorithm : chosen) {
    if (options.progress) {
      options.progress(outcomes.size(), chosen.size(), std::string(algorithm->name));
    }
    outcomes.push_back(run_one(cluster, job, *algorithm, options));
  }
  std::ranges::stable_sort(outcomes, [](const ComparedAlgorithm& a, const ComparedAlgorithm& b) {
    if (!a.result || !b.result) {
      return a.result.has_value() && !b.result.has_value();
    }
    return a.result->time < b.result->time;
  });
  return outcomes;
}

void require_some_simulated(const std::vector<ComparedAlgorithm>& outcomes,
                            const std::string& option) {
  const ComparedAlgorithm* shortest = nullptr;
  const ComparedAlgorithm* smallest = nullptr;
  const ComparedAlgorithm* beyond = nullptr;
  std::string obstacles;
  for (const ComparedAlgorithm& outcome : outcomes) {
    if (outcome.result) {
      return;
    }
    if (outcome.too_many_transfers &&
        (shortest == nullptr || *outcome.too_many_transfers < *shortest->too_many_transfers)) {
      shortest = &outcome;
    }
    if (outcome.too_much_memory &&
        (smallest == nullptr || *outcome.too_much_memory < *smallest->too_much_memory)) {
      smallest = &outcome;
    }
    if (outcome.range_hint && beyond == nullptr) {
      beyond = &outcome;
    }
    obstacles += (obstacles.empty() ? "" : "; ") + outcome.algorithm + ": " + outcome.obstacle;
  }
  if (shortest != nullptr) {
    throw InputError(
        "no algorithm needs so few transfers; the one with the fewest, " + shortest->algorithm +
            ", needs " + std::to_string(*shortest->too_many_transfers),
        "--max-transfers",
        "fewer --channels or --chunks, a subset of the GPUs with --ranks, or a higher limit");
  }
  if (smallest != nullptr) {
    throw InputError(
        "no algorithm needs so little memory; the one with the least, " + smallest->algorithm +
            ", needs about " + to_text(*smallest->too_much_memory),
        "--max-memory", "fewer --channels, a subset of the GPUs with --ranks, or a higher limit");
  }
  if (beyond != nullptr) {
    throw RangeError(beyond->obstacle, beyond->range_path, *beyond->range_hint);
  }
  throw InputError("no algorithm can be simulated (" + obstacles + ")", option);
}

void rethrow_about(const InputError& error, const std::string& subject) {
  if (error.path() != "--fold") {
    throw;
  }
  throw InputError(subject + ": " + error.message(), error.path(), error.hint(), error.location());
}

std::string margin_text(Duration quicker, Duration slower) {
  COLLSIM_ENSURE(quicker > Duration::zero() && quicker <= slower, "not the quicker time");
  if (quicker == slower) {
    return "exactly as quick as";
  }
  const auto fast = static_cast<double>(quicker.count());
  const auto slow = static_cast<double>(slower.count());
  if (10 * slow >= 11 * fast) {
    return digits(slow / fast, std::chars_format::fixed, 2) + " times as fast as";
  }
  const double percent = 100.0 * (slow - fast) / slow;
  if (percent < 0.001) {
    return "barely quicker than";
  }
  return digits(percent, std::chars_format::general, 2) + " % quicker than";
}

BestAlgorithm best_algorithm(const Cluster& cluster, const CollectiveJob& job,
                             const CompareOptions& options) {
  std::vector<ComparedAlgorithm> outcomes = compare_algorithms(cluster, job, {}, options);
  const auto simulated = static_cast<std::size_t>(std::ranges::count_if(
      outcomes, [](const ComparedAlgorithm& outcome) { return outcome.result.has_value(); }));
  require_some_simulated(outcomes, "--algorithm");
  BestAlgorithm best;
  best.reason = reason_for(outcomes, simulated);
  best.result = std::move(*outcomes.front().result);
  return best;
}

}  // namespace collsim
