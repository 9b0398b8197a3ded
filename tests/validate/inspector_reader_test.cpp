#include <string>

#include "tests/catch.hpp"
#include "validate/io/inspector_json.hpp"
#include "validate/io/read_measurements.hpp"

using namespace collsim;

namespace {

std::string line(int number, int rank, const std::string& collective, long bytes, long us,
                 double algbw, const std::string& source = "kernel_gpu") {
  return R"({"header":{"id":"0x14","rank":)" + std::to_string(rank) +
         R"(,"n_ranks":4,"nnodes":2},"metadata":{"hostname":"secret"},"coll_perf":{"coll":")" +
         collective + R"(","coll_sn":)" + std::to_string(number) + R"(,"coll_msg_size_bytes":)" +
         std::to_string(bytes) + R"(,"coll_exec_time_us":)" + std::to_string(us) +
         R"(,"coll_timing_source":")" + source + R"(","coll_algobw_gbs":)" + std::to_string(algbw) +
         "}}\n";
}

Measurements read(const std::string& text) { return parse_measurements(text, "rank0.log"); }

}  // namespace

TEST_CASE("lines of the inspector are rows of single calls") {
  // 1 MiB in 100 us: 10.48576 GB/s.
  const Measurements found = read(line(1, 0, "AllReduce", 1 << 20, 100, 10.48576) +
                                  line(7, 0, "AllReduce", 1 << 20, 50, 20.97152));
  REQUIRE(found.runs.size() == 1);
  const MeasuredRun& run = found.runs.front();
  CHECK(run.collective == CollectiveKind::AllReduce);
  CHECK(run.ranks == 4);
  CHECK(run.nodes == 2);
  CHECK(run.source == "NCCL inspector");
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[1].time == Duration(50'000'000));
  CHECK_FALSE(run.rows[1].in_place);
  REQUIRE(found.notes.size() == 3);
  CHECK(found.notes[0].text ==
        "one rank alone: its times, not the longest of all ranks (join the files of all ranks)");
  CHECK(found.notes[1].text == "single calls, sampled: not the mean of calls back to back");
}

TEST_CASE("the size of a call is what its bandwidth is of") {
  // 1,024 bytes of each of 4 ranks in 44 us: 4,096 bytes, 0.093 GB/s.
  const Measurements found = read(line(1, 0, "AllGather", 1024, 44, 0.093091));
  CHECK(found.runs.front().rows.front().bytes == Bytes(4096));
}

TEST_CASE("ranks of one call are one row, as long as the longest") {
  const Measurements found = read(line(1, 0, "AllReduce", 1 << 20, 100, 10.48576) +
                                  line(1, 3, "AllReduce", 1 << 20, 128, 8.192) +
                                  line(1, 2, "AllReduce", 1 << 20, 64, 16.384));
  REQUIRE(found.runs.front().rows.size() == 1);
  CHECK(found.runs.front().rows.front().time == Duration(128'000'000));
  CHECK(found.notes.front().text == "single calls, sampled: not the mean of calls back to back");
}

TEST_CASE("the first call of a communicator is suspect") {
  const Measurements found = read(line(0, 0, "AllReduce", 1 << 20, 1000, 1.048576));
  CHECK(found.runs.front().rows.front().suspect);
  CHECK(found.notes.front().text ==
        "the first call of a communicator, which sets things up: suspect");
}

TEST_CASE("lines of no use are dropped each by itself") {
  const std::string good = line(1, 0, "AllReduce", 1 << 20, 100, 10.48576);
  const Measurements found =
      read(good + "{\"header\":{broken}\n" + line(2, 0, "AllReduce", 1 << 20, 100, 5) +
           line(3, 9, "AllReduce", 1 << 20, 100, 10.48576) +
           line(4, 0, "Barrier", 1 << 20, 100, 10.48576) +
           line(5, 0, "AllReduce", 1 << 20, 100, 10.48576, "collective_cpu") +
           line(6, 0, "AllReduce", 1 << 20, 0, 10.48576) + good.substr(0, 80));
  CHECK(found.runs.front().rows.size() == 1);
  CHECK(found.truncated);
  REQUIRE(found.dropped.size() == 7);
  CHECK(found.dropped[0].text == "no whole line of JSON");
  CHECK(found.dropped[0].place.line == 2);
  CHECK(found.dropped[1].text == "the bandwidth contradicts size and time");
  CHECK(found.dropped[2].text == "no rank of a communicator of two or more");
  CHECK(found.dropped[3].text == "not a collective that is modelled");
  CHECK(found.dropped[4].text == "a time of the CPU: how long the call was known to the host");
  CHECK(found.dropped[5].text == "no size, time or bandwidth above 0");
  CHECK(found.dropped[6].text == "the file is cut here");
  CHECK(found.dropped[6].place.line == 8);
}

TEST_CASE("a file of which nothing can be used is refused") {
  CHECK_THROWS_WITH(read("{\"header\": 1, \"coll_perf\": 2}"), "no measurement");
}
