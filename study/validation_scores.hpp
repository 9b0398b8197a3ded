#pragma once

// What a validation says as a whole: errors of the simulation and of its rivals, over all rows, by size and by
// collective. Which rows count says study/validation.hpp.

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "study/validation.hpp"

namespace collsim {

/// A row of a validation.
struct RowPlace {
  std::size_t run = 0;
  std::size_t row = 0;
};

/// One error of a row.
struct ScoredRow {
  RowPlace place;
  double error = 0;
};

struct Score {
  ErrorSummary errors;
  std::optional<ScoredRow> worst;  ///< absent without points
};

struct Scores {
  Score all;
  std::array<Score, size_bands.size()> by_band;
  std::vector<std::pair<CollectiveKind, Score>>
      by_collective;  ///< those that there are, in the order of kinds
};

struct ValidationScores {
  Scores summary;
  std::array<Scores, rivals.size()> rival;  ///< by Rival, of the rows of the summary
  Scores apart;                             ///< of the rows that stand apart
  Score
      outside_fit;  ///< of the rows of the summary that are outside of what the parameters were fitted to
  std::vector<Score> runs;  ///< by run: those of its rows that count, or of all if none does
  std::vector<std::array<Score, rivals.size()>> run_rivals;
  std::size_t suspect = 0;  ///< rows that stand apart, by reason
  std::size_t launch_unknown = 0;
};

[[nodiscard]] ValidationScores score(const Validation& validation);

}  // namespace collsim
