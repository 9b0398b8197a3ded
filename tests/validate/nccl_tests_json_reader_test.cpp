#include <string>

#include "tests/catch.hpp"
#include "validate/io/nccl_tests_json.hpp"
#include "validate/io/read_measurements.hpp"

using namespace collsim;

namespace {

std::string measured(double time, double algbw, double busbw,
                     const std::string& wrong = "0.000000") {
  return R"({"time":)" + std::to_string(time) + R"(,"alg_bw":)" + std::to_string(algbw) +
         R"(,"bus_bw":)" + std::to_string(busbw) + R"(,"nwrong":)" + wrong + "}";
}

/// 1 MiB on 4 ranks: 26.2144 GB/s in 40 us, times 1.5 is 39.3216.
std::string result(const std::string& out, const std::string& in,
                   const std::string& type = "float") {
  return R"({"size":1048576,"count":262144,"type":")" + type +
         R"(","redop":"sum","root":"    -1","out_of_place":)" + out + R"(,"in_place":)" + in +
         R"(,"actual_iterations":20,"experiment_name":"all_reduce_perf"})";
}

const std::string good = measured(40, 26.2144, 39.3216);

std::string document(const std::string& results, const std::string& graph = "0") {
  std::string devices;
  for (int rank = 0; rank < 4; ++rank) {
    devices += std::string(rank == 0 ? "" : ",") + R"({"rank":)" + std::to_string(rank) +
               R"(,"group":0,"pid":)" + std::to_string(100 + rank) +
               R"(,"hostname":"secret","device":0,"device_info":"NVIDIA H100"})";
  }
  return R"({"version":3,"start_time":"2026-01-05 10:00:00","args":["./build/all_reduce_perf"],)"
         R"("env":["HOME=/home/secret","NCCL_ALGO=Ring","NCCL_COMM_ID=10.0.0.1:1"],"nccl_version":22902,)"
         R"("config":{"nthreads":1,"ngpus":1,"aggregated_iterations":1,"graph":)" +
         graph + R"(,"blocking_collectives":"false","devices":[)" + devices + R"(]},"results":[)" +
         results +
         R"(],"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":1.0,"okay":"unchecked"},)"
         R"("errors":[],"end_time":"2026-01-05 10:01:10"})";
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_measurements(text, "out.json"));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the JSON of nccl-tests is read") {
  const Measurements found = parse_measurements(document(result(good, good)), "out.json");
  REQUIRE(found.runs.size() == 1);
  const MeasuredRun& run = found.runs.front();
  CHECK(run.collective == CollectiveKind::AllReduce);
  CHECK(run.ranks == 4);
  CHECK(run.nodes == 1);
  CHECK(run.date == "2026-01-05");
  CHECK(run.source == "nccl-tests JSON");
  CHECK(run.software.nccl == "2.29.2");
  CHECK(run.software.launch == "one process per GPU");
  REQUIRE(run.software.environment.size() == 1);
  CHECK(run.software.environment.front() ==
        std::pair<std::string, std::string>{"NCCL_ALGO", "Ring"});
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].time == Duration(40'000'000));
  CHECK(run.rows[1].in_place == InPlace::Yes);
  CHECK(found.hardware.gpu == "NVIDIA H100");
  CHECK_FALSE(found.truncated);
  CHECK(parse_measurements(document(result(good, "null")), "o").runs.front().rows.size() == 1);
  CHECK(
      parse_measurements(document(result(good, good), "5"), "o").runs.front().software.mode.mode ==
      LaunchMode::CudaGraph);
}

TEST_CASE("what is whole of a cut file is read") {
  const std::string text = document(result(good, good) + "," + result(good, good));
  const std::size_t second = text.find("\"size\"", text.find("\"size\"") + 1);
  for (const std::size_t end : {second, second + 150, text.find(R"(],"out_of_bounds")")}) {
    const Measurements found = parse_measurements(text.substr(0, end), "out.json");
    CHECK(found.truncated);
    CHECK(found.runs.front().rows.size() == (end > second + 150 ? 4 : 2));
    CHECK(found.notes.front().text == "cut: the results that are whole are read");
  }
  CHECK(refusal(text.substr(0, text.find("\"size\""))) ==
        "out.json: error: no measurement: the JSON of nccl-tests ends, or is broken, before the "
        "first result");
}

TEST_CASE("results that cannot be trusted are dropped with their index") {
  const std::string bad = measured(41, 26.2144, 39.3216);
  const Measurements found = parse_measurements(
      document(result(good, good) + "," + result(bad, measured(40, 26.2144, 39.3216, "7.000000")) +
               "," + result(good, good, "quad") + "," +
               result(R"({"cpu_time":40.0,"alg_bw":26.2,"bus_bw":39.3,"nwrong":0})", good)),
      "out.json");
  CHECK(found.runs.front().rows.size() == 2);
  REQUIRE(found.dropped.size() == 4);
  CHECK(found.dropped[0].text == "results[2]: a data type that is not known");
  CHECK(found.dropped[1].text ==
        "results[3]: a time of the CPU (-C 1): how long the host was busy");
  CHECK(found.dropped[2].text == "out of place: algbw contradicts size and time");
  CHECK(found.dropped[3].text == "in place: 7 elements are wrong");
  CHECK(refusal(document(result(R"({"time":"nan"})", "null"))) ==
        "out.json:1:1: error: no measurement: results[0]: no time");
}

TEST_CASE("JSON of another kind is told from measurements") {
  CHECK(refusal("{\"traceEvents\": []}") ==
        "out.json: error: JSON, but neither of measurements/1, nor of nccl-tests (-J), nor of "
        "NCCL's inspector");
  CHECK(refusal("{\"schema\": \"collsim/results/1\"}") ==
        "out.json: error: schema: expected \"measurements/1\", got \"collsim/results/1\"");
  CHECK(refusal("{\"schema\": " + std::string(100'000, '[')) ==
        "out.json: error: nested too deeply");
  CHECK(refusal("{\"nccl_version\": 1, \"config\": " + std::string(100'000, '{')) ==
        "out.json: error: nested too deeply");
}
