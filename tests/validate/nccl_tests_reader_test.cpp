#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/validate/nccl_tests_texts.hpp"
#include "validate/io/nccl_tests.hpp"

using namespace collsim;
using test::call;
using test::devices;
using test::footer;
using test::half;
using test::parameters;
using test::row;
using test::table_header;
using test::whole_test;

namespace {

Measurements read(const std::string& text, const MeasurementHints& hints = {},
                  const std::string& file = "run.log") {
  return parse_nccl_tests(text, file, hints);
}

std::string refusal(const std::string& text, const MeasurementHints& hints = {}) {
  try {
    static_cast<void>(read(text, hints));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

using Said = std::vector<std::pair<std::uint32_t, std::string>>;

Said said(const std::vector<MeasurementNote>& notes) {
  Said list;
  for (const MeasurementNote& note : notes) {
    list.emplace_back(note.place.line, note.text);
  }
  return list;
}

/// A header with the given rows below: line 1 parameters, 4 to 11 devices, 13 to 15 the table's header, rows from 16.
std::string table(const std::string& rows, const std::string& header = table_header) {
  return parameters(1, 8) + devices(1, 8, 8) + header + rows + footer;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// Each line behind the prefix.
std::string prefixed(const std::string& text, const std::string& prefix) {
  std::string result = prefix;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) {
      result += prefix;
    }
  }
  return result;
}

/// What all readings of whole_test() must have, whatever surrounds it.
void check_whole_test(const std::string& text) {
  const Measurements found = read(text);
  REQUIRE(found.runs.size() == 1);
  const MeasuredRun& run = found.runs.front();
  CHECK(run.collective == CollectiveKind::AllReduce);
  CHECK(run.ranks == 8);
  CHECK(run.nodes == 1);
  CHECK(run.software.nccl == "2.29.2");
  REQUIRE(run.rows.size() == 4);
  CHECK(run.rows[0].time == Duration(40'000'000));
  CHECK(run.rows[3].time == Duration(61'000'000));
  CHECK(found.dropped.empty());
  CHECK_FALSE(found.truncated);
}

}  // namespace

TEST_CASE("a whole test is read") {
  const Measurements found = read(whole_test());
  check_whole_test(whole_test());
  CHECK(found.machine == "run");
  CHECK(found.hardware.gpu == "NVIDIA H100 80GB HBM3");
  CHECK(found.hardware.gpus_per_node == 8);
  const MeasuredRun& run = found.runs.front();
  CHECK(run.type == DataType::Float32);
  CHECK(run.redop == ReductionOp::Sum);
  CHECK(run.source == "nccl-tests 2.18.3");
  CHECK(run.software.launch == "single process -g 8");
  CHECK(run.software.mode.mode == LaunchMode::ProcessForSeveral);
  CHECK(run.software.mode.gpus_per_process == 8);
  CHECK(run.rows[0].in_place == InPlace::No);
  CHECK(run.rows[1].in_place == InPlace::Yes);
  CHECK(run.rows[1].bytes == Bytes(1'048'576));
  CHECK(found.notes.empty());
}

TEST_CASE("the same test is read whatever launchers, terminals and editors made of it") {
  const std::string text = whole_test();
  check_whole_test(replaced(text, "\n", "\r\n"));
  check_whole_test(replaced(text, "\n", "\r"));
  check_whole_test("\xEF\xBB\xBF" + text);
  check_whole_test(replaced(text, "# ", "\x1b[32m#\x1b[0m "));
  check_whole_test(replaced(text, "Rank", std::string("Ra\0nk", 5)));
  check_whole_test(prefixed(text, " 0: "));
  check_whole_test(prefixed(text, "[1,0]<stdout>:"));
  check_whole_test(prefixed(text, "[prterun-secret-host-1@1,0]<stdout>: "));
  check_whole_test(prefixed(text, "2025-03-01T12:00:00.000000Z "));
  check_whole_test(prefixed(text, "12:00:00 0: "));
  check_whole_test(prefixed(text, "\t\t"));
  check_whole_test(prefixed(text, "> "));
  check_whole_test(prefixed(text, "worker-0: "));
  check_whole_test("$ ./build/all_reduce_perf -b 1M -e 2M -f 2 -g 8\n" + text + "$ exit\n");
  // A Markdown copy whose '#' became a heading's.
  check_whole_test("```\n" + replaced(replaced(text, "#  ", "   "), "# ", "") + "```\n");
}

TEST_CASE("ranks of other processes may write between the lines") {
  const std::string test = whole_test();
  std::string text;
  for (std::size_t begin = 0; begin < test.size();) {
    const std::size_t end = test.find('\n', begin);
    text += " 0: " + test.substr(begin, end - begin) + "\n" +
            " 3: secret-host0:4000:4001 [3] NCCL INFO 1 coll channels\n 5: 1024 2048\n";
    begin = end + 1;
  }
  check_whole_test(text);
}

TEST_CASE("what each process tells of where it ran decides ranks, nodes and launch") {
  const auto run = [](int threads, int gpus, const std::string& where,
                      const std::string& more = "graph: 0") {
    return read(parameters(threads, gpus, more) + where + table_header + call(1 << 20, 1 << 18) +
                half(1 << 20, 40, 2.0 * 15 / 16) + "\n" + footer)
        .runs.front();
  };
  const MeasuredRun each = run(1, 1, devices(2, 8, 1));
  CHECK(each.ranks == 16);
  CHECK(each.nodes == 2);
  CHECK(each.software.launch == "one process per GPU");
  CHECK(each.software.mode.mode == LaunchMode::ProcessPerGpu);
  const MeasuredRun node = run(1, 8, devices(2, 8, 8));
  CHECK(node.software.launch == "one process for several GPUs, -g 8");
  CHECK(node.software.mode.mode == LaunchMode::ProcessForSeveral);
  CHECK(node.software.mode.gpus_per_process == 8);
  const MeasuredRun threads = run(8, 1, devices(2, 8, 8));
  CHECK(threads.software.launch == "8 threads a process, as -g 8");
  CHECK(threads.software.mode.gpus_per_process == 8);
  const MeasuredRun graph = run(1, 1, devices(2, 8, 1), "graph: 10");
  CHECK(graph.software.launch == "CUDA graph");
  CHECK(graph.software.mode.mode == LaunchMode::CudaGraph);
  CHECK(run(1, 8, devices(2, 8, 8), "graph: 1").software.mode.gpus_per_process == 8);
  // rccl-tests.
  const std::string rccl =
      replaced(parameters(1, 1), "nThread 1 nGpus 1", "nThreads: 1 nGpus: 1 nRanks: 1");
  CHECK(read(rccl + devices(2, 8, 1) + table_header + call(1 << 20, 1 << 18) +
             half(1 << 20, 40, 2.0 * 15 / 16) + "\n" + footer)
            .runs.front()
            .software.launch == "one process per GPU");
}

TEST_CASE("names of hosts go nowhere") {
  std::string text = whole_test() + parameters(1, 8) + devices(1, 8, 8) + table_header +
                     call(1 << 20, 1 << 18) + "  12.secret-host0:1:2 [0] NCCL INFO x\n" +
                     "secret-host0: Test NCCL failure common.cu:1 'secret-host0'\n";
  const Measurements found = read(text);
  std::string all = found.machine + found.hardware.gpu;
  for (const MeasuredRun& run : found.runs) {
    all += run.source + run.notes + run.software.launch;
  }
  for (const auto& [line, note] : said(found.notes)) {
    all += note;
  }
  for (const auto& [line, note] : said(found.dropped)) {
    all += note;
  }
  CHECK(all.find("secret") == std::string::npos);
  CHECK(found.truncated);
}

TEST_CASE("rows that cannot be trusted are dropped with their line and why") {
  // 1 MiB in 40 us: 26.21 GB/s, times 1.75 is 45.88.
  const std::string good = half(1 << 20, 40, 1.75);
  const std::string head = call(1 << 20, 1 << 18);
  const auto dropped = [&](const std::string& line) {
    const Measurements found =
        read(table(row(1 << 19, 30, 31) + line + "\n" + row(1 << 21, 50, 51)));
    CHECK(found.runs.front().rows.size() >= 4);
    REQUIRE(found.dropped.size() == 1);
    CHECK(found.dropped.front().place.line == 17);  // the second row
    return found.dropped.front().text + " | " + std::to_string(found.runs.front().rows.size() - 4);
  };
  CHECK(dropped(head + half(1 << 20, 40, 1.75, "12") + good) ==
        "out of place: 12 elements are wrong | 1");
  CHECK(dropped(head + good + half(1 << 20, 40, 1.75, "1*")) == "in place: elements are wrong | 1");
  CHECK(dropped(head + "    41.00   26.21   45.88       0" + good) ==
        "out of place: algbw contradicts size and time | 1");
  CHECK(dropped(head + good + "    40.00   26.21   49.15       0") ==
        "in place: busbw contradicts size and time of all_reduce on 8 ranks | 1");
  CHECK(dropped(call(1 << 20, 1 << 17) + good + good) ==
        "count contradicts the size of all_reduce | 0");
  CHECK(dropped(head + good.substr(0, 20)) == "7 of 13 columns: the row is cut | 0");
  CHECK(dropped("   40.00   26.21   45.88       0") == "4 of 13 columns: the row is cut | 0");
  CHECK(dropped(head + good + good + "  1") == "14 of 13 columns | 0");
  CHECK(dropped(head + "    0.00   26.21   45.88       0" + good) == "no time above 0 | 0");
  CHECK(dropped(head + "    4o.0   26.21   45.88       0" + good) == "no number for time | 0");
  CHECK(dropped(call(1 << 20, 1 << 18, "quad") + good + good) ==
        "a data type that is not known | 0");
  CHECK(dropped(call(1 << 20, 1 << 18, "float", "mulsum") + good + good) ==
        "a reduction other than sum, prod, max, min and avg | 0");
  CHECK(dropped(head + good + "h1:4000:4001 [0] NCCL INFO Channel 00") ==
        "a line of NCCL begins in the middle of the row | 0");
  CHECK(dropped("     1048576h1:4000:4001 [0] NCCL WARN x") ==
        "a line of NCCL begins in the middle of the row | 0");
}

TEST_CASE("a line of NCCL glued to a row's number is seen") {
  // The root's digit and a host whose name begins with digits: nothing of it can be told apart.
  const Measurements found =
      read(table(row(1 << 19, 30, 31) + call(1 << 20, 1 << 18) +
                 "38aa-1:4000:4001 [0] NCCL INFO x\n" + row(1 << 21, 50, 51)));
  CHECK(said(found.dropped) == Said{{17, "a line of NCCL begins in the middle of the row"}});
}

TEST_CASE("rows of size 0 are skipped, and halves that are not there") {
  const std::string none =
      call(0, 0) + "    0.53    0.00    0.00       0    0.55    0.00    0.00       0\n";
  const Measurements zero = read(table(none + row(1 << 20, 40, 41)));
  CHECK(zero.runs.front().rows.size() == 2);
  CHECK(zero.dropped.empty());
  CHECK(said(zero.notes).front() == std::pair<std::uint32_t, std::string>{
                                        14, "all_reduce: told by its columns and bandwidths"});
  CHECK(said(zero.notes)[1].second == "rows of size 0 are left out");

  const std::string out = call(1 << 20, 1 << 18) + half(1 << 20, 40, 1.75);
  CHECK(read(table(out + "\n")).runs.front().rows.front().in_place == InPlace::No);
  // nccl-tests leaves the out-of-place half blank: 32 columns.
  const std::string in = call(1 << 20, 1 << 18) + std::string(32, ' ') + half(1 << 20, 40, 1.75);
  CHECK(read(table(in + "\n")).runs.front().rows.front().in_place == InPlace::Yes);
  const std::string absent = out + "     N/A     N/A     N/A     N/A\n";
  CHECK(read(table(absent)).runs.front().rows.size() == 1);
}

TEST_CASE("tables of all eras are read by their header") {
  const double f = 1.75;
  const std::string old_call = "     1048576        262144     float     sum";
  const std::string error = half(1 << 20, 40, f, "2e-07");
  const Measurements old =
      read(table(old_call + error + error + "\n" + "     2097152        524288     float     sum" +
                     half(1 << 21, 60, f, "1e-02") + half(1 << 21, 60, f, "N/A") + "\n",
                 "#       size         count      type   redop     time   algbw   busbw  error     "
                 "time   algbw   busbw  error\n"));
  CHECK(old.runs.front().rows.size() == 3);
  CHECK(old.runs.front().collective == CollectiveKind::AllReduce);
  CHECK(said(old.dropped) ==
        Said{{15, "out of place: the error is larger than nccl-tests allows"}});

  const std::string more = "    1.00     2.00     3.00     4.00";
  const Measurements iterations = read(table(
      call(1 << 20, 1 << 18) + half(1 << 20, 40, f) + more + half(1 << 20, 41, f) + more + "\n",
      "#  size  count  type  redop  root  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%  "
      "time  algbw  "
      "busbw  #wrong  i_min  i_max  i_p99  i_cv%\n"));
  REQUIRE(iterations.runs.front().rows.size() == 2);
  CHECK(iterations.runs.front().rows[1].time == Duration(41'000'000));

  const Measurements stamped = read(table(call(1 << 20, 1 << 18) + half(1 << 20, 40, f) +
                                          half(1 << 20, 41, f) + "  2025-10-20 12:00:00\n"));
  CHECK(stamped.runs.front().rows.size() == 2);
}

TEST_CASE("the style of large numbers is understood") {
  // 8 GiB in 12,000,000 us are 0.716 GB/s; 1.2e+07 us may be anything from 1.1e+07 to 1.3e+07.
  const Measurements found =
      read(table(call(1LL << 33, 1LL << 31) + "  1.2e+07    0.72    1.25     N/A   13552   "
                                              "633.85  1109.2     N/A\n"));
  REQUIRE(found.runs.front().rows.size() == 2);
  CHECK(found.runs.front().rows[0].time == Duration(12'000'000'000'000));
  CHECK(found.runs.front().rows[1].time == Duration(13'552'000'000));
}

TEST_CASE("tests that are no measurement of a collective are refused for what they are") {
  CHECK(refusal(table(row(1 << 20, 40, 41), replaced(table_header, "   time", "cputime"))) ==
        "run.log:14:1: error: no measurement: times of the CPU (-C 1): how long the host was busy, "
        "not how long a "
        "call took (1 row)");
  CHECK(refusal("#      bytes             N    type      op     time  algbw  busbw      res     "
                "time  algbw  busbw    "
                "  res\n    10000000      10000000    char     sum    1.628   6.14   6.14    0e+00 "
                "   1.932   5.18   "
                "5.18    0e+00\n") ==
        "run.log:1:1: error: no measurement: a table of the tests of NCCL 1, in milliseconds: not "
        "read (1 row)");
  CHECK(refusal(replaced(table(row(1 << 20, 40, 41)), "Rank  7 Group  0", "Rank  7 Group  1")) ==
        "run.log:14:1: error: no measurement: 2 groups of ranks ran beside each other "
        "(NCCL_TESTS_SPLIT): not the "
        "times of one (1 row)");
  CHECK(refusal(replaced(whole_test(), "all_reduce_perf", "hypercube_perf")) ==
        "run.log:16:1: error: no measurement: hypercube is not among the collectives that are "
        "modelled (2 rows)");
  CHECK(refusal(parameters(1, 1) + devices(1, 1, 1) + table_header + call(8, 2) + half(8, 5, 0) +
                "\n") ==
        "run.log:7:1: error: no measurement: a single rank: nothing is sent (1 row)");
}

TEST_CASE("a build without MPI under a launcher is told from a test") {
  const std::string why =
      "error: no measurement: each process ran a test of its own, with a Rank 0 of its own: "
      "nccl-tests was built "
      "without MPI (it takes make MPI=1)";
  const std::string one = "#  Rank  0 Pid 1320 on h1 device  0 [0x00] V100\n";
  const std::string two = "#  Rank  0 Pid 2066 on h2 device  0 [0x00] V100\n";
  const std::string rows = row(1 << 20, 40, 41);
  // Headers glued, devices glued, tables glued.
  CHECK(refusal(parameters(1, 1) + parameters(1, 1) + one + two + table_header + table_header +
                rows + rows) == "run.log:8:1: " + why + " (2 rows)");
  // One header after the other: two tables tell it.
  CHECK(refusal(parameters(1, 1) + one + parameters(1, 1) + two + table_header + table_header +
                rows + rows) == "run.log:13:1: " + why + " (2 rows)");
  // Each process a stream of its own.
  const std::string text = parameters(1, 1) + one + table_header + rows + footer;
  CHECK(refusal(prefixed(text, "0: ") + prefixed(replaced(text, one, two), "1: "))
            .starts_with("run.log:1:1: " + why));
}

TEST_CASE("a test that failed before its table does not spoil the next one") {
  const std::string failed = parameters(1, 8) + devices(1, 8, 8) +
                             "h1: Test NCCL failure common.cu:484 'remote process exited'\n";
  const Measurements found = read(failed + replaced(whole_test(), "Pid 4", "Pid 5"));
  CHECK(found.runs.size() == 1);
  CHECK(found.runs.front().rows.size() == 4);
  CHECK(refusal(failed) == "run.log: error: no measurement: a test begins, but has no table");
  CHECK(refusal("start failed on x: y\n") ==
        "run.log: error: no measurement: there is no table of nccl-tests in it");
  CHECK(refusal(whole_test().substr(0, whole_test().find("     1048576"))) ==
        "run.log:16:1: error: no measurement: a table without rows");
}

TEST_CASE("several tests of a file are a run each") {
  // reduce: busbw is algbw.
  const std::string second = parameters(1, 8) + devices(1, 8, 8) + table_header +
                             call(1 << 20, 1 << 18, "float", "sum", "0") + half(1 << 20, 40, 1) +
                             half(1 << 20, 40, 1) + "\n";
  const Measurements found =
      read(whole_test() + "# Collective test starting: reduce_perf\n" + second);
  REQUIRE(found.runs.size() == 2);
  CHECK(found.runs[0].rows.size() == 4);
  CHECK(found.runs[1].collective == CollectiveKind::Reduce);
  CHECK(found.truncated);  // the second has no summary
  // The first has 2 lines, 3 of parameters, 9 of devices, 3 of the header, 2 rows, 3 of the summary and 1: 23. The second
  // has 1, 3, 9, 3, and its row.
  CHECK(said(found.notes).back() ==
        std::pair<std::uint32_t, std::string>{40, "cut: the test has no summary"});
}

TEST_CASE("a test for each size is one run") {
  const auto one = [](std::int64_t size) {
    return parameters(1, 8) + devices(1, 8, 8) + table_header + row(size, 40, 41) + footer;
  };
  const Measurements found = read(one(1 << 20) + one(1 << 21) + one(1 << 22));
  REQUIRE(found.runs.size() == 1);
  CHECK(found.runs.front().rows.size() == 6);
  CHECK(read(one(1 << 20) + one(1 << 20)).runs.size() == 2);  // the same again
}

TEST_CASE("types, reductions and roots of one table are runs of their own") {
  const auto line = [](const std::string& type, std::int64_t element, const std::string& op) {
    return call(1 << 20, (1 << 20) / element, type, op) + half(1 << 20, 40, 1.75) + "\n";
  };
  const Measurements found = read(table(line("float", 4, "sum") + line("half", 2, "sum") +
                                        line("half", 2, "max") + line("bfloat16", 2, "avg")));
  REQUIRE(found.runs.size() == 4);
  CHECK(found.runs[1].type == DataType::Half);
  CHECK(found.runs[2].redop == ReductionOp::Max);
  const auto rooted = [](const std::string& root) {
    return call(1 << 20, 1 << 18, "float", "none", root) + half(1 << 20, 40, 1) + "\n";
  };
  const Measurements roots = read(table(rooted("0") + rooted("5")));
  REQUIRE(roots.runs.size() == 2);
  CHECK(roots.runs[0].collective == CollectiveKind::Broadcast);
  CHECK(roots.runs[0].notes.empty());
  CHECK(roots.runs[1].notes == "root 5");
}

TEST_CASE("odd tables are noted") {
  const Measurements found = read(table(row(1 << 20, 40, 60) + row(1 << 21, 30, 61)));
  CHECK(said(found.notes) ==
        Said{{14, "all_reduce: told by its columns and bandwidths"},
             {14, "in place and out of place differ by more than 20 % at 2 sizes"},
             {14, "a larger size takes 20 % less time than the one before it, 1 time"},
             {14, "not told: version of NCCL (--nccl)"}});
  const Measurements grouped =
      read(replaced(table(row(1 << 20, 40, 41)), "agg iters: 1", "agg iters: 4"));
  CHECK(said(grouped.notes).front().second == "4 calls in a group (-m): times of a call in it");
  const Measurements wrong = read(replaced(whole_test(), "0 OK", "3 FAILED"));
  CHECK(said(wrong.notes) == Said{{19, "the test found wrong values"}});
  const Measurements few = read(replaced(table(row(1 << 20, 40, 41)), "Rank  3", "Rark  3"));
  CHECK(said(few.notes).front().second == "7 of 8 devices are listed");
  const Measurements ours = read(
      replaced(whole_test(), "nccl-library=22902", "nccl-library=0 simulated by collsim 0.1.0"));
  CHECK(said(ours.notes).front().second == "simulated by collsim 0.1.0: no measurement");
  CHECK(ours.runs.front().notes == "simulated by collsim 0.1.0, not measured");
}

TEST_CASE("rows of more ranks than the devices that are listed are dropped, not believed") {
  // The last of 8 devices is missing: a busbw of 8 ranks contradicts the 7.
  const std::string text = replaced(table(row(1 << 20, 40, 41)), "#  Rank  7", "#  Rark  7");
  CHECK(refusal(text) ==
        "run.log:16:1: error: no measurement: out of place: busbw contradicts size and time of "
        "all_reduce on 7 ranks "
        "(and 1 more that cannot be trusted)");
}

TEST_CASE("hostile sizes are refused, not computed with") {
  CHECK(
      refusal(
          "# Collective test starting: all_reduce_perf\n" +
          table(
              "9223372036854775807  9223372036854775807  float  sum  -1  1.00  1.00  1.00  0\n")) ==
      "run.log:17:1: error: no measurement: out of place: algbw contradicts size and time");
  CHECK(refusal(table("99999999999999999999  1  float  sum  -1  1.00  1.00  1.00  0\n")) ==
        "run.log:16:1: error: no measurement: no whole number of bytes");
  std::string rows;
  for (int i = 0; i < 200'001; ++i) {
    rows += "8 2 float sum -1 5.00 0.00 0.00 0\n";
  }
  CHECK(refusal(table(rows)) == "run.log: error: more than 200000 rows");
  std::string roots;
  for (int i = 0; i < 4097; ++i) {
    roots += "1048576 262144 float none " + std::to_string(i) + " 40.00 26.21 26.21 0\n";
  }
  CHECK(refusal(table(roots)) == "run.log: error: more than 4096 runs");
}
