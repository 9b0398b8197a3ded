#include "validate/io/nccl_tests_identity.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "validate/io/measurement_notes.hpp"

namespace collsim {

namespace {

constexpr std::uint32_t most_ranks = 1U << 20U;

std::string list_of(const std::vector<CollectiveKind>& kinds) {
  std::vector<std::string> names;
  names.reserve(kinds.size());
  for (const CollectiveKind kind : kinds) {
    names.emplace_back(name_of(kind));
  }
  return one_of(names);
}

std::optional<CollectiveKind> echoed_collective(const NcclTest& test, const RunContext& context,
                                                const std::vector<CollectiveKind>& fitting) {
  const auto program = echoed_program(test, context);
  const auto kind = program ? parse_collective(*program) : std::nullopt;
  return kind && std::ranges::find(fitting, *kind) != fitting.end() ? kind : std::nullopt;
}

/// The collective whose name is the longest part of the file's ("reduce" is part of "all_reduce").
std::optional<CollectiveKind> collective_of_file(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  std::ranges::replace(name, '-', '_');
  std::optional<CollectiveKind> best;
  std::size_t length = 0;
  for (const std::string& collective : collective_names()) {
    std::string together = collective;
    std::erase(together, '_');
    for (const std::string& spelling : {collective, together}) {
      if (spelling.size() > length && name.find(spelling) != std::string::npos) {
        best = parse_collective(collective);
        length = spelling.size();
      }
    }
  }
  return best;
}

/// What all tables of the file with these columns are of whose collective is certain.
std::optional<CollectiveKind> kind_of_others(const NcclTest& test, const RunContext& context) {
  std::optional<CollectiveKind> kind;
  for (const ToldKind& other : context.told) {
    if (other.columns != test.columns->columns) {
      continue;
    }
    if (kind && *kind != other.kind) {
      return std::nullopt;
    }
    kind = other.kind;
  }
  return kind;
}

/// The collectives that fit the table, on the ranks that are known.
std::vector<CollectiveKind> fitting_kinds(const NcclTest& test, const RunContext& context,
                                          const TableEvidence& evidence) {
  const std::uint32_t listed = test.placement.ranks;
  if (listed != 0) {
    std::vector<CollectiveKind> fitting = evidence.kinds(listed);
    // Lines of devices may be missing: then the rows are dropped, since they contradict the ranks.
    return fitting.empty() ? evidence.kinds(std::nullopt) : fitting;
  }
  std::vector<CollectiveKind> fitting = evidence.kinds(std::nullopt);
  return fitting.size() > 1 && context.hints->ranks ? evidence.kinds(context.hints->ranks)
                                                    : fitting;
}

CollectiveKind collective_of(const NcclTest& test, const RunContext& context,
                             const TableEvidence& evidence, Measurements& result) {
  const auto chosen = [&](CollectiveKind kind, const char* why) {
    if (why != nullptr) {
      add_note(result, test.table_line, std::string(name_of(kind)) + ": " + why);
    }
    if (context.hints->collective.value_or(kind) != kind) {
      add_note(result, test.table_line, "--collective is not used: the file tells it");
    }
    return kind;
  };
  if (const auto announced = parse_collective(test.program)) {
    return chosen(*announced, nullptr);
  }
  const std::vector<CollectiveKind> fitting = fitting_kinds(test, context, evidence);
  if (const auto kind = echoed_collective(test, context, fitting)) {
    return chosen(*kind, nullptr);
  }
  if (fitting.size() == 1) {
    return chosen(fitting.front(), "told by its columns and bandwidths");
  }
  const auto fits = [&fitting](CollectiveKind kind) {
    return fitting.empty() || std::ranges::find(fitting, kind) != fitting.end();
  };
  if (const auto hint = context.hints->collective; hint && fits(*hint)) {
    return *hint;
  }
  if (const auto told = kind_of_others(test, context); told && fits(*told)) {
    return chosen(*told, "as the other tables of the file with these columns");
  }
  if (const auto named = collective_of_file(result.file); named && fits(*named)) {
    return chosen(*named, "guessed from the name of the file");
  }
  const std::string which = fitting.empty() ? "" : ": it may be " + list_of(fitting);
  throw InputError("the table does not tell which collective it is of" + which, "--collective",
                   "say it with --collective NAME", place_in(result, test.table_line));
}

std::uint32_t ranks_of(const NcclTest& test, const RunContext& context,
                       const TableEvidence& evidence, CollectiveKind kind, Measurements& result) {
  if (test.placement.ranks != 0) {
    return test.placement.ranks;
  }
  const RankRange range = evidence.ranks(kind);
  if (!range.empty() && range.unique() && range.least < most_ranks) {
    add_note(result, test.table_line,
             std::to_string(range.least) + " ranks: told by " +
                 (evidence.counts_blocks() ? "size and count" : "busbw and algbw"));
    if (context.hints->ranks && *context.hints->ranks != range.least) {
      add_note(result, test.table_line, "--ranks is not used: the table tells its ranks");
    }
    return range.least;
  }
  if (context.hints->ranks) {
    return *context.hints->ranks;
  }
  std::string bounds;
  if (!range.empty() && range.most < most_ranks) {
    bounds = ": from " + std::to_string(range.least) + " to " + std::to_string(range.most) +
             " fit busbw and algbw";
  }
  throw InputError("the table does not tell on how many ranks it ran" + bounds, "--ranks",
                   "say it with --ranks N", place_in(result, test.table_line));
}

}  // namespace

std::optional<std::string> echoed_program(const NcclTest& test, const RunContext& context) {
  const auto& programs = context.facts->programs;
  const auto behind =
      std::ranges::upper_bound(programs, test.table_line, {}, &AtLine<std::string>::line);
  if (behind == programs.begin() || std::prev(behind)->line < context.first_line) {
    return std::nullopt;
  }
  return std::prev(behind)->fact;
}

std::optional<CollectiveKind> told_kind(const NcclTest& test) {
  if (!test.program.empty()) {
    return parse_collective(test.program);
  }
  const TableEvidence evidence(*test.columns, test.rows);
  const std::vector<CollectiveKind> fitting = evidence.kinds(
      test.placement.ranks != 0 ? std::optional(test.placement.ranks) : std::nullopt);
  return fitting.size() == 1 ? std::optional(fitting.front()) : std::nullopt;
}

TableIdentity identify_table(const NcclTest& test, const RunContext& context,
                             Measurements& result) {
  const TableEvidence evidence(*test.columns, test.rows);
  TableIdentity identity;
  identity.kind = collective_of(test, context, evidence, result);
  identity.ranks = ranks_of(test, context, evidence, identity.kind, result);
  return identity;
}

}  // namespace collsim
