#include "tools/render_validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "tools/format_text.hpp"
#include "tools/render_validation_rows.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

constexpr std::string_view nothing = "-";

/// The median and the 90th percentile: "3.1 / 9.8 %".
std::string both(const Score& score) {
  if (score.errors.points == 0) {
    return std::string(nothing);
  }
  return fmt::format("{:.1f} / {:.1f} %", 100 * score.errors.median_abs,
                     100 * score.errors.p90_abs);
}

std::string median(const Score& score) {
  return score.errors.points == 0 ? std::string(nothing) : human_percent(score.errors.median_abs);
}

/// "8 KiB of all_gather on 8 ranks, half".
std::string place_text(const ValidationView& view, const RowPlace& place) {
  const ValidatedRun& run = view.validation.runs[place.run];
  std::string text = human_bytes(run.rows[place.row].row->bytes) + " of " +
                     what_ran(*run.table->run) + ", " + std::string(name_of(run.table->run->type));
  if (view.machines.size() > 1) {
    text += " (" + run.table->machine + ")";
  }
  return text;
}

bool of_nccl_alone(const ValidationView& view) {
  return std::ranges::none_of(view.validation.runs,
                              [](const ValidatedRun& run) { return run.table->is_of_our_program; });
}

std::string head(const ValidationView& view) {
  std::string text;
  for (const ValidatedMachine& machine : view.machines) {
    std::size_t tables = 0;
    std::size_t rows = 0;
    for (const ValidatedRun& run : view.validation.runs) {
      if (run.table->machine == machine.name) {
        ++tables;
        rows += run.rows.size();
      }
    }
    text += fmt::format("{} on {}: {} row{} of {} table{}, parameters {} ({})\n", machine.name,
                        machine.cluster, grouped(rows), rows == 1 ? "" : "s", tables,
                        tables == 1 ? "" : "s", machine.parameters.name,
                        machine.parameters.tier ? name_of(*machine.parameters.tier)
                                                : std::string_view(machine.parameters.provenance));
  }
  for (const LaunchOffset& offset : view.validation.offsets) {
    const bool is_known = offset.launch != LaunchMode::Unknown;
    text += fmt::format("  launch offset fitted to {} row{} of {}{}: {:+.2f} us\n", offset.points,
                        offset.points == 1 ? "" : "s", offset.machine,
                        is_known ? fmt::format(" ({})", name_of(offset.launch)) : "",
                        static_cast<double>(offset.more.count()) / 1e6);
  }
  return text;
}

void add_score(TextTable& table, const ValidationView& view, std::string name, const Score& score) {
  if (!score.worst) {
    table.add_row({std::move(name), "0"});
    return;
  }
  table.add_row({std::move(name), grouped(score.errors.points),
                 human_percent(score.errors.median_abs), human_percent(score.errors.p90_abs),
                 signed_percent(score.errors.bias), signed_percent(score.worst->error),
                 place_text(view, score.worst->place)});
}

TextTable score_table() {
  TextTable table;
  table.add_column("", Align::Left);
  table.add_column("rows");
  table.add_column("median");
  table.add_column("90 %");
  table.add_column("bias");
  table.add_column("worst");
  table.add_column("at", Align::Left);
  return table;
}

const Score& rival_score(const ValidationView& view, Rival rival) {
  return view.scores.rival.at(static_cast<std::size_t>(rival)).all;
}

/// Rows on which the parameters say more than they were fitted to, and in what.
std::string outside_fit_text(const ValidationView& view) {
  const Score& score = view.scores.outside_fit;
  if (score.errors.points == 0) {
    return {};
  }
  std::vector<std::string> texts;
  for (const ValidatedRun& run : view.validation.runs) {
    for (const ValidatedRow& row : run.rows) {
      for (const OutsideFit& outside : row.outside) {
        const std::string text = fmt::format("{} (fitted: {})", outside.what, outside.fitted);
        if (row.apart == Apart::No && std::ranges::find(texts, text) == texts.end()) {
          texts.push_back(text);
        }
      }
    }
  }
  return fmt::format("  {} of the rows {} outside of what the parameters were fitted to, {}: {}.\n",
                     grouped(score.errors.points), score.errors.points == 1 ? "is" : "are",
                     both(score), fmt::join(texts, ", "));
}

std::string summary_text(const ValidationView& view) {
  TextTable table = score_table();
  add_score(table, view, "collsim", view.scores.summary.all);
  for (const Rival rival : rivals) {
    add_score(table, view, std::string(name_of(rival)), rival_score(view, rival));
  }
  std::string text =
      "\nHow far from what was measured: |predicted / measured - 1|\n" + table.render("  ");
  const std::size_t rows = view.scores.summary.all.errors.points;
  if (rival_score(view, Rival::NcclFormula).errors.points < rows) {
    const bool all_nccl = of_nccl_alone(view);
    text += all_nccl
                ? "  NCCL's formula says nothing of sends and receives.\n"
                : "  NCCL's formula says nothing of sends and receives, and of other programs.\n";
  }
  if (rival_score(view, Rival::BestLine).errors.points < rows) {
    text += "  A straight line needs two sizes of a table.\n";
  }
  return text + outside_fit_text(view);
}

/// collsim and its rivals side by side.
class SideBySide {
 public:
  explicit SideBySide(std::string what) {
    table_.add_column(std::move(what), Align::Left);
    table_.add_column("rows");
    table_.add_column("collsim");
    for (const Rival rival : rivals) {
      table_.add_column(std::string(name_of(rival)));
    }
  }
  void add(std::string name, const Score& ours,
           const std::array<const Score*, rivals.size()>& theirs) {
    std::vector<std::string> cells{std::move(name), grouped(ours.errors.points), both(ours)};
    for (const Score* const score : theirs) {
      cells.push_back(score == nullptr ? std::string(nothing) : both(*score));
    }
    table_.add_row(std::move(cells));
  }
  [[nodiscard]] std::string render() const { return table_.render("  "); }

 private:
  TextTable table_;
};

std::string bands_text(const ValidationView& view) {
  SideBySide table("size");
  for (const SizeBand band : size_bands) {
    const auto index = static_cast<std::size_t>(band);
    const Score& ours = view.scores.summary.by_band.at(index);
    std::array<const Score*, rivals.size()> theirs{};
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      theirs.at(i) = &view.scores.rival.at(i).by_band.at(index);
    }
    if (ours.errors.points > 0) {
      table.add(std::string(name_of(band)), ours, theirs);
    }
  }
  return "\nBy size: median / 90th percentile\n" + table.render();
}

std::string collectives_text(const ValidationView& view) {
  SideBySide table("collective");
  for (const auto& [kind, ours] : view.scores.summary.by_collective) {
    std::array<const Score*, rivals.size()> theirs{};
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      for (const auto& [other, score] : view.scores.rival.at(i).by_collective) {
        theirs.at(i) = other == kind ? &score : theirs.at(i);
      }
    }
    table.add(std::string(name_of(kind)), ours, theirs);
  }
  return "\nBy collective: median / 90th percentile\n" + table.render();
}

std::string apart_text(const ValidationView& view) {
  const ValidationScores& scores = view.scores;
  if (scores.apart.all.errors.points == 0) {
    return {};
  }
  TextTable table = score_table();
  add_score(table, view, "collsim", scores.apart.all);
  std::string text = "\nApart, not in the figures above\n" + table.render("  ");
  if (scores.suspect > 0) {
    text += fmt::format("  {} by the tables' own mark: suspect.\n", grouped(scores.suspect));
  }
  if (scores.launch_unknown > 0) {
    text += fmt::format(
        "  {} of up to 1 MiB in tables that do not say how they were launched: --launch MODE says "
        "it, --fit-launch fits an offset.\n",
        grouped(scores.launch_unknown));
  }
  return text;
}

/// "21", "15 + 6 apart", "21 apart".
std::string rows_text(const ValidatedRun& run) {
  const auto counted =
      static_cast<std::size_t>(std::ranges::count(run.rows, Apart::No, &ValidatedRow::apart));
  const std::size_t apart = run.rows.size() - counted;
  if (apart == 0) {
    return std::to_string(counted);
  }
  return (counted > 0 ? std::to_string(counted) + " + " : "") + std::to_string(apart) + " apart";
}

std::string choices_text(const ValidatedRun& run) {
  std::string text;
  for (const RunChoice& choice : choices_of(run)) {
    text += text.empty() ? "" : ", from " + human_bytes(choice.from) + " ";
    text += choice.algorithm + " " + choice.protocol;
  }
  return text;
}

/// What tells runs apart. One that is the same in all of them is said once, above the table.
struct RunFact {
  std::string heading;
  Align align;
  std::function<std::string(const ValidatedRun&)> text;
  bool above = false;  ///< whether it is said there
};

std::vector<RunFact> run_facts() {
  using Run = const ValidatedRun&;
  return {
      {"machine", Align::Left, [](Run run) { return run.table->machine; }},
      {"collective", Align::Left,
       [](Run run) { return std::string(name_of(run.table->run->collective)); }},
      {"ranks", Align::Right, [](Run run) { return std::to_string(run.table->run->ranks); }},
      {"nodes", Align::Right, [](Run run) { return std::to_string(run.table->nodes); }, true},
      {"type", Align::Left, [](Run run) { return std::string(name_of(run.table->run->type)); }},
      {"NCCL", Align::Left, [](Run run) { return run.table->nccl; }, true},
      {"launch", Align::Left, [](Run run) { return std::string(name_of(run.table->launch.mode)); },
       true},
      {"variables", Align::Left, [](Run run) { return variables_text(*run.table->run); }, true},
  };
}

/// Takes out the facts that are the same in all runs, of those that can be said above.
std::string take_common(std::vector<RunFact>& facts, const ValidationView& view) {
  const std::vector<ValidatedRun>& runs = view.validation.runs;
  std::string text;
  std::erase_if(facts, [&](const RunFact& fact) {
    if (!fact.above) {
      return fact.heading == "machine" && view.machines.size() == 1;
    }
    const std::string first = fact.text(runs.front());
    const bool same =
        std::ranges::all_of(runs, [&](const ValidatedRun& run) { return fact.text(run) == first; });
    if (same && !first.empty()) {
      text += (text.empty() ? "" : ", ") + fact.heading + " " + first;
    }
    return same;
  });
  return text;
}

std::string runs_text(const ValidationView& view) {
  constexpr std::size_t most_width = 60;
  std::vector<RunFact> facts = run_facts();
  const std::string common = take_common(facts, view);
  TextTable table;
  for (const RunFact& fact : facts) {
    table.add_column(fact.heading, fact.align, most_width);
  }
  for (const char* const heading :
       {"rows", "median", "90 %", "bias", "worst", "at", "line", "formula", "busbw"}) {
    table.add_column(heading);
  }
  table.add_column(of_nccl_alone(view) ? "NCCL runs" : "program", Align::Left, most_width);
  for (std::size_t i = 0; i < view.validation.runs.size(); ++i) {
    const ValidatedRun& run = view.validation.runs[i];
    const Score& score = view.scores.runs[i];
    std::vector<std::string> cells;
    cells.reserve(facts.size());
    for (const RunFact& fact : facts) {
      cells.push_back(fact.text(run));
    }
    cells.insert(cells.end(),
                 {rows_text(run), human_percent(score.errors.median_abs),
                  human_percent(score.errors.p90_abs), signed_percent(score.errors.bias),
                  signed_percent(score.worst->error),
                  human_bytes(run.rows[score.worst->place.row].row->bytes)});
    for (const Score& rival : view.scores.run_rivals[i]) {
      cells.push_back(median(rival));
    }
    cells.push_back(choices_text(run));
    table.add_row(std::move(cells));
  }
  return "\nTables" + (common.empty() ? "" : " (" + common + ")") +
         ", with the medians of the rivals\n" + table.render("  ");
}

}  // namespace

std::string what_ran(const MeasuredRun& run) {
  std::string text = std::string(name_of(run.collective)) + " on " + std::to_string(run.ranks) +
                     (run.ranks == 1 ? " rank" : " ranks");
  if (run.nodes > 1) {
    text += " of " + std::to_string(run.nodes) + " nodes";
  }
  return text;
}

std::string signed_percent(double fraction) {
  std::string text = fmt::format("{:+.1f} %", 100 * fraction);
  return text == "-0.0 %" ? "+0.0 %" : text;
}

std::vector<RunChoice> choices_of(const ValidatedRun& run) {
  std::vector<const ValidatedRow*> rows;
  rows.reserve(run.rows.size());
  for (const ValidatedRow& row : run.rows) {
    rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, {}, [](const ValidatedRow* row) { return row->row->bytes; });
  std::vector<RunChoice> choices;
  for (const ValidatedRow* const row : rows) {
    if (choices.empty() || choices.back().algorithm != row->algorithm ||
        choices.back().protocol != row->protocol) {
      choices.push_back({row->row->bytes, row->algorithm, row->protocol});
    }
  }
  return choices;
}

std::string variables_text(const MeasuredRun& run) {
  std::string text;
  for (const auto& [name, value] : run.software.environment) {
    text += text.empty() ? "" : " ";
    text += printable(name);
    text += '=';
    text += printable(value);
  }
  return text;
}

std::string render_validation_table(const ValidationView& view) {
  std::string text = head(view);
  if (view.scores.summary.all.errors.points > 0) {
    text += summary_text(view) + bands_text(view) + collectives_text(view);
  }
  text += apart_text(view) + runs_text(view);
  if (view.rows) {
    text += validation_rows_text(view);
  }
  return text;
}

}  // namespace collsim
