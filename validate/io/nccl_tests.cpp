#include "validate/io/nccl_tests.hpp"

#include <algorithm>
#include <utility>

#include "validate/io/measurement_notes.hpp"
#include "validate/io/nccl_tests_blocks.hpp"
#include "validate/io/nccl_tests_identity.hpp"
#include "validate/io/nccl_tests_runs.hpp"
#include "validate/io/text_lines.hpp"

namespace collsim {

namespace {

/// The error with the file's name, where it has no place yet.
/// Whether it has any of what stands before a table.
bool is_whole(const NcclTest& test) {
  return test.parameters || test.placement.ranks != 0 || !test.version.nccl_tests.empty();
}

/// Some of them are enough: files repeat one test for each size.
std::vector<ToldKind> told_kinds(const std::vector<NcclTest>& tests) {
  constexpr std::size_t most_told = 256;
  std::vector<ToldKind> told;
  for (const NcclTest& test : tests) {
    if (!test.columns || told.size() == most_told) {
      continue;
    }
    if (const auto kind = told_kind(test)) {
      told.push_back({test.columns->columns, *kind});
    }
  }
  return told;
}

bool is_cut(const NcclTest& test) { return test.parameters && !test.summary; }

}  // namespace

Measurements parse_nccl_tests(std::string_view bytes, const std::string& file,
                              const MeasurementHints& hints) {
  const std::string text = cleaned_text(bytes);
  return read_measurements(file, [&](Measurements& result) {
    const std::vector<TextLine> lines = lines_of(text);
    const LogFacts facts = log_facts_of(lines);
    const std::vector<NcclTest> tests = nccl_tests_of(lines);
    if (std::ranges::none_of(tests,
                             [](const NcclTest& test) { return test.columns.has_value(); })) {
      throw InputError(tests.empty() ? "no measurement: there is no table of nccl-tests in it"
                                     : "no measurement: a test begins, but has no table");
    }
    RunContext context;
    context.facts = &facts;
    context.hints = &hints;
    context.told = told_kinds(tests);
    for (const NcclTest& test : tests) {
      context.kind = is_whole(test) ? "nccl-tests" : "a table like that of nccl-tests";
      add_runs_of(test, context, result);
      context.first_line = std::max(context.first_line, test.last_line + 1);
      if (is_cut(test)) {
        result.truncated = true;
        add_note(result, test.last_line == 0 ? test.line : test.last_line,
                 "cut: the test has no summary");
      }
    }
    require_runs(result);
  });
}

}  // namespace collsim
