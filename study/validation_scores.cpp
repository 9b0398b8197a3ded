#include "study/validation_scores.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace collsim {

namespace {

Score score_of(const std::vector<ScoredRow>& rows) {
  std::vector<double> errors;
  errors.reserve(rows.size());
  for (const ScoredRow& row : rows) {
    errors.push_back(row.error);
  }
  Score score;
  score.errors = summarize(errors);
  if (!rows.empty()) {
    score.worst = rows[score.errors.worst];
  }
  return score;
}

Scores scores_of(const Validation& validation, const std::vector<ScoredRow>& rows) {
  std::array<std::vector<ScoredRow>, size_bands.size()> bands;
  std::map<CollectiveKind, std::vector<ScoredRow>> collectives;
  for (const ScoredRow& row : rows) {
    const ValidatedRun& run = validation.runs[row.place.run];
    bands.at(static_cast<std::size_t>(band_of(run.rows[row.place.row].row->bytes))).push_back(row);
    collectives[run.table->run->collective].push_back(row);
  }
  Scores scores;
  scores.all = score_of(rows);
  std::ranges::transform(bands, scores.by_band.begin(), score_of);
  for (const auto& [kind, of_kind] : collectives) {
    scores.by_collective.emplace_back(kind, score_of(of_kind));
  }
  return scores;
}

/// The error of a row that is asked for; absent: the row has none.
using ErrorOf = std::function<std::optional<double>(const ValidatedRow&)>;

std::vector<ScoredRow> rows_of(const ValidatedRun& run, std::size_t index,
                               const ErrorOf& error_of) {
  std::vector<ScoredRow> rows;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    if (const std::optional<double> error = error_of(run.rows[i])) {
      rows.push_back({{index, i}, *error});
    }
  }
  return rows;
}

std::vector<ScoredRow> rows_of(const Validation& validation, const ErrorOf& error_of) {
  std::vector<ScoredRow> rows;
  for (std::size_t i = 0; i < validation.runs.size(); ++i) {
    const std::vector<ScoredRow> more = rows_of(validation.runs[i], i, error_of);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

std::optional<double> counted(const ValidatedRow& row) {
  return row.apart == Apart::No ? std::optional(row.error) : std::nullopt;
}

std::optional<double> apart(const ValidatedRow& row) {
  return row.apart != Apart::No ? std::optional(row.error) : std::nullopt;
}

std::optional<double> outside_fit(const ValidatedRow& row) {
  return row.outside.empty() ? std::nullopt : counted(row);
}

ErrorOf of_rival(std::size_t rival) {
  return [rival](const ValidatedRow& row) -> std::optional<double> {
    const std::optional<Duration>& time = row.rival_times.at(rival);
    return row.apart == Apart::No && time ? std::optional(relative_error(*time, row.row->time))
                                          : std::nullopt;
  };
}

}  // namespace

ValidationScores score(const Validation& validation) {
  ValidationScores scores;
  scores.summary = scores_of(validation, rows_of(validation, counted));
  scores.apart = scores_of(validation, rows_of(validation, apart));
  scores.outside_fit = score_of(rows_of(validation, outside_fit));
  for (std::size_t rival = 0; rival < rivals.size(); ++rival) {
    scores.rival.at(rival) = scores_of(validation, rows_of(validation, of_rival(rival)));
  }
  for (std::size_t i = 0; i < validation.runs.size(); ++i) {
    const ValidatedRun& run = validation.runs[i];
    std::vector<ScoredRow> rows = rows_of(run, i, counted);
    if (rows.empty()) {
      rows = rows_of(run, i, apart);
    }
    scores.runs.push_back(score_of(rows));
    auto& of_rivals = scores.run_rivals.emplace_back();
    for (std::size_t rival = 0; rival < rivals.size(); ++rival) {
      of_rivals.at(rival) = score_of(rows_of(run, i, of_rival(rival)));
    }
    for (const ValidatedRow& row : run.rows) {
      scores.suspect += row.apart == Apart::Suspect ? 1 : 0;
      scores.launch_unknown += row.apart == Apart::LaunchUnknown ? 1 : 0;
    }
  }
  return scores;
}

}  // namespace collsim
