#pragma once

// Several algorithms on one job: each is simulated, and the quickest is the best. There is no
// heuristic: what "best" says is what the simulation of each candidate gave.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/check.hpp"
#include "sim/collective_run.hpp"
#include "study/limits.hpp"

namespace collsim {

/// One algorithm's outcome.
struct ComparedAlgorithm {
  std::string algorithm;
  std::optional<CollectiveResult> result;  ///< absent: see `obstacle`
  std::string obstacle;                    ///< why it was not simulated
  /// How many transfers it would have, where that is the obstacle.
  std::optional<std::uint64_t> too_many_transfers;
  /// How much memory it would need, where that is the obstacle.
  std::optional<Bytes> too_much_memory;
  /// Where a number on the way to the result does not fit: the place in the description, if it is known,
  /// and what to do.
  std::string range_path;
  std::optional<std::string> range_hint;
  std::optional<CheckReport> check;  ///< where verification was asked for
};

/// Checks the programs of a job, one group's after the other: the first report that is not good, else the
/// first. Throws: as programs_of.
[[nodiscard]] CheckReport check_job(const Cluster& cluster, const CollectiveJob& job);

enum class Verify : std::uint8_t { No, Yes };

struct CompareOptions {
  RunOptions run;
  Verify verify = Verify::No;
  /// A program beyond them is not simulated and says so.
  RunLimits limits;
  /// Called before each algorithm.
  std::function<void(std::size_t done, std::size_t all, const std::string& next)> progress;
};

/// The named algorithms on a job (its `algorithm` is ignored); no names: all that implement the
/// collective. Simulated ones first, by time, then by their order in the table; then the others.
/// Throws: InputError for an unknown name, or a named one that does not implement the collective.
[[nodiscard]] std::vector<ComparedAlgorithm> compare_algorithms(
    const Cluster& cluster, const CollectiveJob& job, const std::vector<std::string>& names,
    const CompareOptions& options);

/// Throws: InputError if nothing was simulated, naming the option to change: --max-transfers,
/// --max-memory, or `option`, which chose the algorithms; RangeError if numbers do not fit.
void require_some_simulated(const std::vector<ComparedAlgorithm>& outcomes,
                            const std::string& option);

/// Called where an InputError is caught: passes it on and, if it is one of --fold, says which of several runs it is
/// about: "ring: nothing can be folded: …".
[[noreturn]] void rethrow_about(const InputError& error, const std::string& subject);

/// How much quicker one time is than another, to be followed by a name: "1.23 times as fast as"; below
/// a tenth "3.4 % quicker than", in percent of the slower time.
/// Requires: 0 < quicker <= slower.
[[nodiscard]] std::string margin_text(Duration quicker, Duration slower);

/// The best algorithm for a job, and why.
struct BestAlgorithm {
  CollectiveResult result;
  std::string reason;  ///< "best of 7 simulated, 1.23 times as fast as the next, direct"
};

/// Throws: InputError if no algorithm can be simulated within the limit.
[[nodiscard]] BestAlgorithm best_algorithm(const Cluster& cluster, const CollectiveJob& job,
                                           const CompareOptions& options);

}  // namespace collsim
