#include "tools/render_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/format_text.hpp"
#include "tools/render_table.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

constexpr std::size_t bar_width = 24;

using Outcomes = std::vector<const ComparedAlgorithm*>;

Outcomes simulated(const std::vector<ComparedAlgorithm>& outcomes) {
  Outcomes chosen;
  for (const ComparedAlgorithm& outcome : outcomes) {
    if (outcome.result) {
      chosen.push_back(&outcome);
    }
  }
  return chosen;
}

Duration time_of(const ComparedAlgorithm& outcome) { return outcome.result->time; }

Duration latency_of(const CollectiveResult& result) {
  Duration latency{};
  for (const AttributedTime& part : result.attribution) {
    if (part.cause == Cause::Latency) {
      latency += part.time;
    }
  }
  return latency;
}

std::string comparison_table(const CollectiveCall& call, const Outcomes& outcomes) {
  TextTable table;
  table.add_column("algorithm", Align::Left);
  table.add_column("time");
  table.add_column("times best");
  table.add_column("busbw GB/s");
  table.add_column("of bound");
  table.add_column("latency");
  table.add_column("transfers");
  table.add_column("", Align::Left);
  const Duration best = time_of(*outcomes.front());
  const Duration worst = time_of(*outcomes.back());
  for (const ComparedAlgorithm* outcome : outcomes) {
    const CollectiveResult& result = *outcome->result;
    const auto bound = efficiency(result);
    const double busbw = bus_bandwidth_GBps(call.kind, call.ranks, call.size(), result.time);
    table.add_row({outcome->algorithm, human_time(result.time),
                   best == Duration::zero() ? "" : fmt::format("{:.2f}", share(result.time, best)),
                   fmt::format("{:.2f}", busbw), bound ? human_percent(*bound) : "",
                   human_percent(share(latency_of(result), result.time)), grouped(result.transfers),
                   bar(share(result.time, worst), bar_width)});
  }
  return table.render("  ");
}

/// "85.7 % sharing on link, 14.3 % wire on link", the largest first; what rounds to nothing is left out.
std::string composition(const Graph& graph, const CollectiveResult& result) {
  std::vector<AttributedTime> parts = result.attribution;
  std::ranges::stable_sort(
      parts, [](const AttributedTime& a, const AttributedTime& b) { return a.time > b.time; });
  std::string text;
  for (const AttributedTime& part : parts) {
    const double fraction = share(part.time, result.time);
    if (fraction < 0.0005) {
      continue;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", human_percent(fraction),
                        name_of(part.cause));
    if (part.level) {
      text += " on " + graph.levels()[part.level->index()];
    }
  }
  return text;
}

/// Against whom the best is measured last: naive, or else the slowest.
const ComparedAlgorithm& yardstick(const Outcomes& outcomes) {
  const auto naive = std::ranges::find(outcomes, "naive", &ComparedAlgorithm::algorithm);
  return naive == outcomes.end() ? *outcomes.back() : **naive;
}

std::string verdict(const Graph& graph, const Outcomes& outcomes) {
  const ComparedAlgorithm& best = *outcomes.front();
  const Duration time = time_of(best);
  if (time == Duration::zero()) {
    return "Nothing has to be sent: it takes no time.\n";
  }
  std::string text = fmt::format("{} takes {}", best.algorithm, human_time(time));
  if (outcomes.size() == 1) {
    text += "; nothing else was simulated";
  } else {
    const ComparedAlgorithm& next = *outcomes[1];
    const ComparedAlgorithm& last = yardstick(outcomes);
    text = fmt::format("{} is best: {}, {} {}", best.algorithm, human_time(time),
                       margin_text(time, time_of(next)), next.algorithm);
    if (&last != &next && &last != &best) {
      text += fmt::format(" and {} {}", margin_text(time, time_of(last)), last.algorithm);
    }
  }
  text += fmt::format(".\nIts time: {}.\n", composition(graph, *best.result));
  const std::vector<Bound>& bounds = best.result->bounds;
  if (bounds.empty()) {
    return text;
  }
  const bool ignored = best.result->contention_ignored;
  return text +
         fmt::format("{} can take less than {} here ({}{}){}.\n",
                     ignored ? "With links shared as they are, no algorithm" : "No algorithm",
                     human_time(bounds.front().time), bounds.front().name,
                     bounds.front().where.empty() ? "" : " at " + bounds.front().where,
                     ignored ? "; this run ignores it" : "");
}

/// What `run` would say of the outcomes, each once, with the algorithms where it does not hold for all.
std::string outcome_notes(const Outcomes& outcomes) {
  std::vector<std::string> seen;
  std::string text;
  for (const ComparedAlgorithm* outcome : outcomes) {
    for (const std::string& warning : outcome->result->warnings) {
      if (std::ranges::find(seen, warning) != seen.end()) {
        continue;
      }
      seen.push_back(warning);
      std::vector<std::string> names;
      for (const ComparedAlgorithm* other : outcomes) {
        const std::vector<std::string>& warnings = other->result->warnings;
        if (std::ranges::find(warnings, warning) != warnings.end()) {
          names.push_back(other->algorithm);
        }
      }
      const bool all = names.size() == outcomes.size();
      text +=
          "  note: " + (all ? "" : fmt::format("{}: ", fmt::join(names, ", "))) + warning + "\n";
    }
  }
  return text;
}

std::string verification(const Outcomes& outcomes) {
  std::string failures;
  bool verified = false;
  for (const ComparedAlgorithm* outcome : outcomes) {
    if (!outcome->check) {
      continue;
    }
    verified = true;
    if (!outcome->check->ok()) {
      failures += "\n" + outcome->algorithm + check_text(*outcome->check);
    }
  }
  if (!verified) {
    return "";
  }
  return failures.empty() ? "\nVerified: all of them give the right data.\n" : failures;
}

}  // namespace

std::string render_comparison(const Cluster& cluster, const ResultRow& common,
                              const std::vector<ComparedAlgorithm>& outcomes) {
  const Outcomes compared = simulated(outcomes);
  std::string text =
      job_line(cluster, common) + warning_lines(common) + outcome_notes(compared) + "\n";
  if (!compared.empty()) {
    text += comparison_table(common.job.call, compared) + "\n" + verdict(cluster.graph(), compared);
  }
  std::string others;
  for (const ComparedAlgorithm& outcome : outcomes) {
    if (!outcome.result) {
      others += fmt::format("  {}: {}\n", outcome.algorithm, outcome.obstacle);
    }
  }
  if (!others.empty()) {
    text += "\nNot simulated\n" + others;
  }
  return text + verification(compared);
}

}  // namespace collsim
