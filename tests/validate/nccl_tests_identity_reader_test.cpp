// Which collective a table is of, and on how many ranks, where its text does not say.

#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/validate/nccl_tests_texts.hpp"
#include "validate/io/nccl_tests.hpp"
#include "validate/io/nccl_tests_evidence.hpp"

using namespace collsim;
using test::call;
using test::devices;
using test::half;
using test::parameters;
using test::table_header;

namespace {

struct Told {
  std::string collective;
  std::uint32_t ranks = 0;
  std::string notes;
};

Told told(const std::string& text, const MeasurementHints& hints = {},
          const std::string& file = "run.log") {
  Told result;
  try {
    const Measurements found = parse_nccl_tests(text, file, hints);
    result.collective = name_of(found.runs.front().collective);
    result.ranks = found.runs.front().ranks;
    for (const MeasurementNote& note : found.notes) {
      if (!note.text.starts_with("not told")) {
        result.notes += note.text + "; ";
      }
    }
  } catch (const InputError& error) {
    result.notes = error.render();
  }
  return result;
}

/// Rows of 1 MiB and 1 GiB as the tests print them, for so many blocks and a factor of busbw.
std::string rows(int blocks, double factor, const std::string& redop, const std::string& root,
                 const std::string& in_place = "0") {
  std::string text = table_header;
  for (const auto& [size, us] :
       {std::pair(std::int64_t{1} << 20, 21.37), std::pair(std::int64_t{1} << 30, 2345.67)}) {
    text += call(size, size / 4 / blocks, "float", redop, root) + half(size, us, factor) +
            half(size, us * 1.01, factor, in_place) + "\n";
  }
  return text;
}

MeasurementHints with_ranks(std::uint32_t ranks) {
  MeasurementHints hints;
  hints.ranks = ranks;
  return hints;
}

}  // namespace

TEST_CASE("the factor of busbw is nccl-tests'") {
  CHECK(bus_factor(CollectiveKind::AllReduce, 8) == Approx(1.75));
  CHECK(bus_factor(CollectiveKind::AllToAll, 8) == Approx(0.875));
  CHECK(bus_factor(CollectiveKind::Reduce, 8) == Approx(1));
}

TEST_CASE("bandwidths tell an all_reduce and its ranks") {
  for (const int n : {3, 4, 7, 8, 16, 72, 128}) {
    const Told found = told(rows(1, 2.0 * (n - 1) / n, "sum", "-1"));
    CHECK(found.collective == "all_reduce");
    CHECK(found.ranks == static_cast<std::uint32_t>(n));
    CHECK(found.notes == "all_reduce: told by its columns and bandwidths; " + std::to_string(n) +
                             " ranks: told by busbw and algbw; ");
  }
}

TEST_CASE("ranks that the digits do not tell are asked for, within what fits") {
  // 1 GiB in 2345.67 us are 457.76 GB/s by the printed digits, to 1 part in 90,000; busbw of 2,048 ranks, 915.07, fits
  // 2 (n − 1) / n from n = 2 / (2 − 915.065 / 457.765) = 1917 to 2 / (2 − 915.075 / 457.757) = 2175 at least.
  const Told found = told(rows(1, 2.0 * 2047 / 2048, "sum", "-1"));
  CHECK(found.notes.starts_with(
      "run.log:2:1: error: --ranks: the table does not tell on how many ranks it ran: from "));
  CHECK(found.notes.ends_with(" fit busbw and algbw\nhint: say it with --ranks N"));
  CHECK(told(rows(1, 2.0 * 2047 / 2048, "sum", "-1"), with_ranks(2048)).ranks == 2048);
  // A broadcast tells nothing of them.
  CHECK(told(rows(1, 1, "none", "0")).notes ==
        "run.log:2:1: error: --ranks: the table does not tell on how many ranks it ran\nhint: say "
        "it with --ranks N");
  CHECK(told(rows(1, 1, "none", "0"), with_ranks(6)).ranks == 6);
}

TEST_CASE("counts tell the ranks of what has a block for each") {
  const Told scattered = told(rows(8, 0.875, "sum", "-1"));
  CHECK(scattered.collective == "reduce_scatter");
  CHECK(scattered.ranks == 8);
  CHECK(scattered.notes ==
        "reduce_scatter: told by its columns and bandwidths; 8 ranks: told by size and count; ");
}

TEST_CASE("what the test does not check tells all_to_all from all_gather") {
  CHECK(told(rows(8, 0.875, "none", "-1", "0")).collective == "all_gather");
  CHECK(told(rows(8, 0.875, "none", "-1", "N/A")).collective == "all_to_all");
  const std::string unchecked = [] {
    std::string text = rows(8, 0.875, "none", "-1", "N/A");
    for (std::size_t at = text.find("       0"); at != std::string::npos;
         at = text.find("       0", at)) {
      text.replace(at, 8, "     N/A");
    }
    return text;
  }();
  CHECK(told(unchecked).notes ==
        "run.log:2:1: error: --collective: the table does not tell which collective it is of: it "
        "may be all_gather or "
        "all_to_all\nhint: say it with --collective NAME");
  MeasurementHints hints;
  hints.collective = CollectiveKind::AllGather;
  CHECK(told(unchecked, hints).collective == "all_gather");
  CHECK(told(unchecked, {}, "logs/all-to-all.out")
            .notes.starts_with("all_to_all: guessed from the name of the file; "));
  CHECK(told(unchecked, {}, "alltoall_8.out").collective == "all_to_all");
  // What does not fit is not guessed.
  CHECK(told(unchecked, {}, "all_reduce.out").notes.find("--collective") != std::string::npos);
}

TEST_CASE("roots and reductions tell the others") {
  CHECK(told(rows(1, 1, "sum", "0"), with_ranks(4)).collective == "reduce");
  CHECK(told(rows(1, 1, "none", "0"), with_ranks(4)).collective == "broadcast");
  CHECK(told(rows(1, 1, "sum", "-1", "N/A"), with_ranks(4)).collective == "send_recv");
  // Two ranks: the factor of all_reduce is 1, too; it checks what it does in place.
  CHECK(told(rows(1, 1, "sum", "-1", "0"), with_ranks(2)).collective == "all_reduce");
  CHECK(told(rows(4, 0.75, "none", "0")).notes.find("it may be gather or scatter") !=
        std::string::npos);
}

TEST_CASE("a command line that was echoed tells the collective, if it fits") {
  CHECK(told("$ ./gather_perf -b 1M\n" + rows(4, 0.75, "none", "0")).collective == "gather");
  CHECK(told("$ ./alltoallv_perf -b 1M\n" + rows(4, 0.75, "none", "-1", "N/A")).notes ==
        "run.log:3:1: error: no measurement: alltoallv is not among the collectives that are "
        "modelled (2 rows)");
  CHECK(told("$ ./all_reduce_perf -b 1M\n" + rows(4, 0.75, "sum", "-1")).collective ==
        "reduce_scatter");
}

TEST_CASE("tables too small to tell are as the others of the file") {
  const std::string small = parameters(1, 8) + devices(1, 8, 8) + table_header + call(64, 16) +
                            "   50.00    0.00    0.00     N/A\n# Avg bus bandwidth : 1\n";
  CHECK(told(small).notes.find("it may be all_reduce or send_recv") != std::string::npos);
  const std::string large = parameters(1, 8) + devices(1, 8, 8) + rows(1, 1.75, "sum", "-1", "0");
  CHECK(told(small + large).collective == "all_reduce");
  CHECK(told(small + large)
            .notes.starts_with("all_reduce: as the other tables of the file with these columns; "));
}

TEST_CASE("hints do not override what a file says, but for the launch") {
  MeasurementHints hints;
  hints.ranks = 4;
  hints.nodes = 3;
  hints.nccl = "2.20.1";
  hints.launch = "process-per-gpu";
  hints.collective = CollectiveKind::Reduce;
  hints.datatype = DataType::Half;
  const Measurements found = parse_nccl_tests(test::whole_test(), "run.log", hints);
  const MeasuredRun& run = found.runs.front();
  CHECK(run.ranks == 8);
  CHECK(run.nodes == 1);
  CHECK(run.software.nccl == "2.29.2");
  CHECK(run.collective == CollectiveKind::AllReduce);
  CHECK(run.type == DataType::Float32);
  CHECK(run.software.mode.mode == LaunchMode::ProcessPerGpu);
  REQUIRE(found.notes.size() == 3);
  CHECK(found.notes[0].text == "--ranks is not used: the file lists 8");
  CHECK(found.notes[1].text == "--nodes is not used: the file lists 1");
  CHECK(found.notes[2].text == "--collective is not used: the file tells it");

  const std::string csv =
      "size_bytes,time_us,algbw_GBs,busbw_GBs\r\n1073741824,4511.11,238.02,357.03\r\n";
  hints.ranks = 8;
  const Measurements filled = parse_nccl_tests(csv, "a.csv", hints);
  CHECK(filled.runs.front().ranks == 4);  // 357.03 / 238.02 is 1.5
  CHECK(filled.runs.front().nodes == 3);
  CHECK(filled.runs.front().type == DataType::Half);
  CHECK(filled.runs.front().software.nccl == "2.20.1");
}
