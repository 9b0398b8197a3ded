// Files of measurements that were written without a library of JSON are read as what they say.

#include "tools/gpu_check/plain_json.hpp"

#include "tests/catch.hpp"
#include "validate/io/measurements_json.hpp"

using namespace collsim;
using namespace collsim::literals;

TEST_CASE("what the GPU check writes is measurements/1") {
  Measurements written;
  written.machine = "node \"7\"";
  written.hardware.gpu = "NVIDIA H200";
  written.hardware.gpus_per_node = 8;
  MeasuredRun run;
  run.collective = CollectiveKind::ReduceScatter;
  run.ranks = 8;
  run.nodes = 1;
  run.type = DataType::Float32;
  run.redop = ReductionOp::Sum;
  run.software.backend = "cuda";
  run.software.algorithm = "ring";
  run.software.cuda = "13.0";
  run.software.launch = "single process";
  run.software.environment = {{"NCCL_ALGO", "Ring"}};
  run.source = "collsim gpu_check";
  run.date = "2026-11-30";
  run.notes = "C:\\dir";
  run.rows = {{1024_B, Duration(2'500'000), InPlace::No, false},
              {1_MiB, Duration(40'000'000), InPlace::Yes, false}};
  written.runs = {run};
  // The same by both writers, as the reader sees it.
  const Measurements read = parse_measurements_json(plain_measurements(written), "file");
  const Measurements same = parse_measurements_json(write_measurements_json(written), "file");
  CHECK(write_measurements_json(read) == write_measurements_json(same));
  REQUIRE(read.runs.size() == 1);
  CHECK(read.machine == "node \"7\"");
  CHECK(read.runs[0].rows[0].time == Duration(2'500'000));
  CHECK(read.runs[0].rows[1].in_place == InPlace::Yes);
  CHECK(read.runs[0].notes == "C:\\dir");
}

TEST_CASE("figures of a GPU carry their settings") {
  MeasuredHardware hardware;
  hardware.gpu = "NVIDIA H200";
  CHECK(plain_figures(
            hardware, "13.0", "2026-11-30",
            {{"hbm_copy", {{"blocks", 4}}, 2.5e11, "B/s"}, {"launch_graph", {}, 900, "ns"}}) ==
        "{\"schema\": \"gpu-figures/1\", \"hardware\": {\"gpu\": \"NVIDIA H200\"}, \"cuda\": "
        "\"13.0\", "
        "\"date\": \"2026-11-30\", \"figures\": [\n"
        "  {\"name\": \"hbm_copy\", \"blocks\": 4, \"value\": 2.5e+11, \"unit\": \"B/s\"}, \n"
        "  {\"name\": \"launch_graph\", \"value\": 900, \"unit\": \"ns\"}]}\n");
}
