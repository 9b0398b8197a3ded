#include "validate/io/measurements_json.hpp"

#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "validate/io/read_measurements.hpp"

using namespace collsim;

namespace {

std::string document(const std::string& run) {
  return R"({"schema": "measurements/1", "machine": "m", "hardware": {"gpu": "H100", "gpus_per_node": 8}, "runs": [)" +
         run + "]}";
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_measurements_json(text, "m.json"));
  } catch (const InputError& error) {
    return error.render();
  }
  return "accepted";
}

const std::string good_run =
    R"({"collective": "all_reduce", "ranks": 8, "nodes": 1, "datatype": "float", "redop": "sum",
       "software": {"nccl": "2.26.2", "env": {"NCCL_ALGO": "Ring"}, "launch": "single process -g 8"},
       "rows": [{"bytes": 1024, "time_us": 33.25, "in_place": true, "suspect": true},
                {"bytes": 2048, "time_us": 35, "in_place": null}]})";

}  // namespace

TEST_CASE("a file of measurements is read whole") {
  const Measurements read = parse_measurements_json(document(good_run), "m.json");
  REQUIRE(read.runs.size() == 1);
  const MeasuredRun& run = read.runs.front();
  CHECK(read.machine == "m");
  CHECK(read.hardware.gpus_per_node == 8);
  CHECK(run.collective == CollectiveKind::AllReduce);
  CHECK(run.software.mode.mode == LaunchMode::ProcessForSeveral);
  CHECK(run.software.mode.gpus_per_process == 8);
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].time == Duration(33'250'000));
  CHECK(run.rows[0].suspect);
  CHECK(run.rows[0].in_place == InPlace::Yes);
  CHECK_FALSE(run.rows[1].in_place);
}

TEST_CASE("what is written is read again") {
  const Measurements once = parse_measurements_json(document(good_run), "m.json");
  const std::string text = write_measurements_json(once);
  CHECK(write_measurements_json(parse_measurements_json(text, "n.json")) == text);
}

// nccl-tests' -G is how often the graph is launched, its -R what becomes of the buffers.
TEST_CASE("graphs and registered buffers are read as nccl-tests counts them") {
  const auto software = [](const std::string& fields) {
    return parse_measurements_json(
               document(R"({"collective": "all_reduce", "ranks": 8, "software": {)" + fields +
                        R"(}, "rows": []})"),
               "m.json")
        .runs.front()
        .software;
  };
  CHECK(software(R"("cuda_graph": 0)").mode.mode == LaunchMode::Unknown);
  CHECK(software(R"("cuda_graph": false, "launch": "one process per GPU")").mode.mode ==
        LaunchMode::ProcessPerGpu);
  CHECK(software(R"("cuda_graph": 100)").mode.mode == LaunchMode::CudaGraph);
  CHECK(software(R"("cuda_graph": true)").mode.mode == LaunchMode::CudaGraph);
  CHECK(software("").buffers == BuffersWere::Plain);
  CHECK(software(R"("local_register": 0)").buffers == BuffersWere::Plain);
  CHECK(software(R"("local_register": 1)").buffers == BuffersWere::Registered);
  CHECK(software(R"("local_register": 2)").buffers == BuffersWere::Symmetric);
  CHECK(
      refusal(document(
          R"({"collective": "all_reduce", "ranks": 8, "software": {"local_register": 3}, "rows": []})")) ==
      "m.json: error: runs[0].software.local_register: expected a whole number from 0 to 2, got 3");

  Measurements measured = parse_measurements_json(document(good_run), "m.json");
  measured.runs.front().software.mode.mode = LaunchMode::CudaGraph;
  measured.runs.front().software.buffers = BuffersWere::Symmetric;
  const Measurements read = parse_measurements_json(write_measurements_json(measured), "n.json");
  CHECK(read.runs.front().software.mode.mode == LaunchMode::CudaGraph);
  CHECK(read.runs.front().software.buffers == BuffersWere::Symmetric);
}

TEST_CASE("what an executor of ours says of itself is written and read") {
  Measurements measured = parse_measurements_json(document(good_run), "m.json");
  measured.hardware.cpu = "a CPU, 2 cores";
  MeasuredSoftware& software = measured.runs.front().software;
  software.backend = "host";
  software.algorithm = "ring";
  software.channels = 2;
  software.chunks = 8;
  software.kernel = "Linux 6.1";
  software.compiler = "g++ 12.2";
  const Measurements read = parse_measurements_json(write_measurements_json(measured), "n.json");
  CHECK(read.hardware.cpu == "a CPU, 2 cores");
  CHECK(read.runs.front().software.backend == "host");
  CHECK(read.runs.front().software.algorithm == "ring");
  CHECK(read.runs.front().software.channels == 2);
  CHECK(read.runs.front().software.chunks == 8);
  CHECK(read.runs.front().software.kernel == "Linux 6.1");
  CHECK(read.runs.front().software.compiler == "g++ 12.2");
}

TEST_CASE("what is wrong in a file of measurements is told with its place") {
  CHECK(refusal("{") == "m.json:1:1: error: no JSON: a syntax error");
  CHECK(refusal(R"({"schema": 1e999})") == "m.json: error: no JSON: a number beyond 10^308");
  CHECK(refusal(R"({"schema": "measurements/2"})") ==
        "m.json: error: schema: expected \"measurements/1\", got \"measurements/2\"");
  CHECK(refusal(document(R"({"collective": "all_redcue", "ranks": 8, "rows": []})"))
            .starts_with("m.json: error: runs[0].collective: expected broadcast, "));
  CHECK(
      refusal(document(
          R"({"collective": "all_reduce", "ranks": 8, "rows": [{"bytes": 8, "time_us": -1}]})")) ==
      "m.json: error: runs[0].rows[0].time_us: expected microseconds above 0, got -1");
  CHECK(
      refusal(document(
          R"({"collective": "all_reduce", "ranks": 8, "rows": [{"bytes": 8, "time_us": 1e-9}]})")) ==
      "m.json: error: runs[0].rows[0].time_us: expected microseconds above 0, got 1e-09");
  CHECK(refusal(document(R"({"collective": "all_reduce", "ranks": 0, "rows": []})")) ==
        "m.json: error: runs[0].ranks: expected a whole number from 1 to 16777216, got 0");
}

TEST_CASE("launch modes are told from what tables say") {
  const auto mode = [](const char* text) { return parse_launch(text, 16, 2); };
  CHECK(mode("one process per GPU").mode == LaunchMode::ProcessPerGpu);
  CHECK(mode("nccl-tests, one process per node").mode == LaunchMode::ProcessPerGpu);
  CHECK(mode("single process -g 4, quiet machine").gpus_per_process == 4);
  CHECK(mode("one process per node, -g 8").gpus_per_process == 8);
  CHECK(mode("single process").gpus_per_process == 8);  // 16 ranks on 2 nodes
  // Threads of one process do not wait for each other.
  CHECK(mode("one process, one thread per GPU").gpus_per_process == 1);
  CHECK(mode("").mode == LaunchMode::Unknown);
  CHECK(mode("CUDA graph").mode == LaunchMode::CudaGraph);
}

TEST_CASE("all shared tables are read") {
  const auto folder = test::shared_path("measurements");
  if (!folder) {
    return;
  }
  std::size_t runs = 0;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".json" && !name.starts_with("scaling")) {
      runs += load_measurements(entry.path().string()).runs.size();
      ++files;
    }
  }
  CHECK(files == 70);  // 71 machines, one of them in degraded/
  CHECK(runs == 312);  // 314 tables, two of them there
}
