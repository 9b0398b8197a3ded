#include "validate/io/nccl_tests_blocks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::size_t most_rows = 200'000;
constexpr std::size_t most_problems = 10'000;  // of a test; what comes later is no more believable
constexpr std::size_t most_facts = 100'000;
constexpr std::size_t most_tests = 20'000;
constexpr std::size_t most_streams = 65'536;

/// Follows the lines of one stream.
class TestReader {
 public:
  explicit TestReader(std::size_t& rows) : rows_(&rows) {}

  void take(const TextLine& line);
  [[nodiscard]] std::vector<NcclTest> finish();

 private:
  [[nodiscard]] bool head(const TextLine& line);
  [[nodiscard]] bool table_header(const TextLine& line);
  void device(const TextLine& line, const TestDevice& device);
  void columns(const TextLine& line, TableColumns table);
  void row(const TextLine& line);
  void begin(std::uint32_t line);
  void close();

  std::size_t* rows_;  ///< read so far, of all streams
  NcclTest test_;
  DeviceList devices_;
  bool begun_ = false;
  std::uint32_t heads_ = 0;  ///< lines of parameters since the last table
  std::vector<NcclTest> done_;
};

void TestReader::close() {
  if (begun_) {
    if (done_.size() == most_tests) {
      throw InputError("more than " + std::to_string(most_tests) + " tests");
    }
    done_.push_back(std::move(test_));
  }
  test_ = {};
  devices_ = {};
  begun_ = false;
  heads_ = 0;
}

/// A line of a header: of this test, or of the next one where this has its table already.
void TestReader::begin(std::uint32_t line) {
  if (test_.columns) {
    close();
  }
  if (!begun_) {
    test_.line = line;
    begun_ = true;
  }
}

void TestReader::device(const TextLine& line, const TestDevice& device) {
  begin(line.number);
  if (devices_.add(device) == DeviceList::Added::OfAnotherProcess && test_.alone == 0) {
    test_.alone = line.number;
  }
}

bool TestReader::head(const TextLine& line) {
  if (auto version = parse_test_version(line.text)) {
    if (!test_.version.nccl_tests.empty()) {
      close();
    }
    begin(line.number);
    test_.version = *std::move(version);
    return true;
  }
  if (const auto program = parse_test_start(line.text)) {
    begin(line.number);
    test_.program = *program;
    return true;
  }
  if (const auto parameters = parse_test_parameters(line.text)) {
    begin(line.number);
    test_.parameters = parameters;
    // Another process, each with a table of its own, or a test after one that failed before its table.
    if (++heads_ > 1 && test_.alone == 0) {
      devices_ = {};
    }
    return true;
  }
  if (const auto found = parse_test_device(line.text)) {
    device(line, *found);
    return true;
  }
  return false;
}

void TestReader::columns(const TextLine& line, TableColumns table) {
  if (test_.columns && heads_ > 1) {
    test_.alone = test_.alone == 0 ? line.number : test_.alone;  // a table for each of the headers
    return;
  }
  if (test_.columns) {
    // A further table of the same test, or an excerpt of another one.
    NcclTest next;
    DeviceList devices;
    if (!test_.summary) {
      next.version = test_.version;
      next.program = test_.program;
      next.parameters = test_.parameters;
      next.alone = test_.alone;
      devices = std::move(devices_);
    }
    close();
    test_ = std::move(next);
    devices_ = std::move(devices);
  }
  if (!begun_) {
    test_.line = line.number;
    begun_ = true;
  }
  test_.columns = std::move(table);
  test_.placement = devices_.placement();
  test_.table_line = line.number;
  test_.last_line = line.number;
}

bool TestReader::table_header(const TextLine& line) {
  if (auto table = parse_columns(line.text)) {
    columns(line, *std::move(table));
    return true;
  }
  if (!test_.columns || test_.summary) {
    if (auto table = columns_of_row(line.text)) {
      columns(line, *std::move(table));
    }
  }
  return false;
}

void TestReader::row(const TextLine& line) {
  if (!test_.columns || test_.summary || !looks_like_row(line.text, test_.columns->separator)) {
    return;
  }
  test_.last_line = line.number;
  ReadRow read = read_table_row(line.text, *test_.columns);
  if (!read.row) {
    if (test_.dropped.size() < most_problems) {
      test_.dropped.push_back({line.number, std::move(read.why)});
    }
    return;
  }
  if (++*rows_ > most_rows) {
    throw InputError("more than " + std::to_string(most_rows) + " rows");
  }
  read.row->line = line.number;
  test_.rows.push_back(*read.row);
}

void TestReader::take(const TextLine& line) {
  if (head(line) || table_header(line)) {
    return;
  }
  if (is_test_footer(line.text)) {
    test_.summary = test_.summary || test_.columns;
    test_.failed_check =
        test_.failed_check || (line.text.find("bounds") != std::string_view::npos &&
                               line.text.find("FAILED") != std::string_view::npos);
    return;
  }
  if (begun_ && test_.test_failure == 0 && line.text.find("Test ") != std::string_view::npos &&
      line.text.find(" failure") != std::string_view::npos) {
    test_.test_failure = line.number;
  }
  row(line);
}

std::vector<NcclTest> TestReader::finish() {
  close();
  return std::move(done_);
}

/// Several processes that all say Rank 0: each ran alone.
void mark_lonely_streams(std::vector<NcclTest>& tests, const std::vector<std::uint32_t>& streams) {
  std::set<std::uint32_t> with_first_rank;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const NcclTest& test = tests[i];
    if (test.columns && test.placement.has_first_rank) {
      with_first_rank.insert(streams[i]);
    }
  }
  if (with_first_rank.size() > 1) {
    for (NcclTest& test : tests) {
      test.alone = test.alone == 0 ? test.line : test.alone;
    }
  }
}

}  // namespace

LogFacts log_facts_of(const std::vector<TextLine>& lines) {
  LogFacts facts;
  for (const TextLine& line : lines) {
    if (facts.variables.size() < most_facts) {
      if (auto variable = parse_logged_variable(line.text)) {
        facts.variables.push_back({line.number, *std::move(variable)});
      }
    }
    if (facts.versions.size() < most_facts) {
      if (auto version = parse_library_version(line.text)) {
        facts.versions.push_back({line.number, *std::move(version)});
      }
    }
    if (facts.programs.size() < most_facts) {
      if (const auto program = program_named_in(line.text)) {
        facts.programs.push_back({line.number, std::string(*program)});
      }
    }
  }
  return facts;
}

std::vector<NcclTest> nccl_tests_of(const std::vector<TextLine>& lines) {
  std::size_t rows = 0;
  std::map<std::uint32_t, TestReader> readers;
  for (const TextLine& line : lines) {
    readers.try_emplace(line.stream, rows).first->second.take(line);
    if (readers.size() > most_streams) {
      throw InputError("lines of more than " + std::to_string(most_streams) + " processes");
    }
  }
  std::vector<NcclTest> tests;
  std::vector<std::uint32_t> streams;
  for (auto& [stream, reader] : readers) {
    for (NcclTest& test : reader.finish()) {
      tests.push_back(std::move(test));
      streams.push_back(stream);
    }
  }
  mark_lonely_streams(tests, streams);
  std::ranges::stable_sort(tests, {}, &NcclTest::line);
  return tests;
}

}  // namespace collsim
