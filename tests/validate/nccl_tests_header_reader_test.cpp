#include <string>

#include "tests/catch.hpp"
#include "validate/io/nccl_tests_columns.hpp"
#include "validate/io/nccl_tests_header.hpp"

using namespace collsim;

TEST_CASE("the line of parameters is read in each of its forms") {
  const auto threads = parse_test_parameters(
      "# nThread 8 nGpus 2 minBytes 64 maxBytes 64 step: 2(factor) warmup iters: 2 iters: 5 "
      "validation: 0 ");
  REQUIRE(threads);
  CHECK(threads->gpus_per_process() == 16);
  CHECK(threads->aggregated == 1);
  CHECK(threads->graph == 0);
  const auto rccl = parse_test_parameters(
      "# nThreads: 1 nGpus: 4 nRanks: 1 minBytes: 8 maxBytes: 9 step: 2(factor) warmupIters: 0 "
      "iters: 100 agg iters: 3 "
      "validation: 1 graph: 7");
  REQUIRE(rccl);
  CHECK(rccl->gpus == 4);
  CHECK(rccl->aggregated == 3);
  CHECK(rccl->graph == 7);
  CHECK(parse_test_parameters("nThread 1 nGpus 1"));  // lost its '#'
  CHECK_FALSE(parse_test_parameters("# nThread 1"));
  CHECK_FALSE(parse_test_parameters("# nThread 0 nGpus 1"));
  CHECK_FALSE(parse_test_parameters("# nThread 99999 nGpus 1"));
}

TEST_CASE("a line of a device is read in each of its forms") {
  const auto device = parse_test_device(
      "#  Rank 12 Group  3 Pid   4242 on      node0 device  5 [0000:1b:00] NVIDIA H100 80GB HBM3");
  REQUIRE(device);
  CHECK(device->rank == 12);
  CHECK(device->group == 3);
  CHECK(device->process == 4242);
  CHECK(device->host == "node0");
  CHECK(device->gpu == "NVIDIA H100 80GB HBM3");
  CHECK(parse_test_device("#   Rank  0 Pid 1 on h device  0 [0x0f] Tesla V100")->gpu ==
        "Tesla V100");
  CHECK(parse_test_device("#   Rank  0 Pid 1 on h device 0 [0001:00:00.0] AMD Instinct")->gpu ==
        "AMD Instinct");
  CHECK(parse_test_device("Rank  0 on h device  0 [0x0f] K80")->process == 0);
  CHECK_FALSE(parse_test_device("#  Rank 12 Group  3 Pid   4242 on"));
  CHECK_FALSE(parse_test_device("#  Rank 0 Pid 1 on h device 0 [0x0f] V1h:1:2 [0] NCCL INFO x"));
  CHECK_FALSE(parse_test_device("#  Rank 99999999 Pid 1 on h device 0 [0x0f] V100"));
}

TEST_CASE("versions are told by the test and by the library") {
  const auto test =
      parse_test_version("# nccl-tests version 2.18.3 nccl-headers=22902 nccl-library=2408");
  REQUIRE(test);
  CHECK(test->nccl_tests == "2.18.3");
  CHECK(test->nccl == "2.4.8");
  CHECK(test->simulator.empty());
  CHECK(parse_library_version("NCCL version 2.22.3+cuda12.5")->nccl == "2.22.3");
  CHECK(parse_library_version("NCCL version 2.22.3+cuda12.5")->cuda == "12.5");
  CHECK(parse_library_version("RCCL version 2.18.3+hip6.0 develop:8e0258a+")->nccl ==
        "RCCL 2.18.3");
  CHECK(parse_library_version("h:1:2 [0] NCCL INFO NCCL version 2.28.9+cuda13.0")->nccl ==
        "2.28.9");
  CHECK_FALSE(parse_library_version("NCCL version unknown"));
  CHECK_FALSE(parse_library_version("XCCL version 2.1"));
  CHECK_FALSE(parse_library_version("CCL version 2.1"));
}

TEST_CASE("the code of a version has another form from 2.9 on") {
  CHECK(version_of_code(22902) == "2.29.2");
  CHECK(version_of_code(20908) == "2.9.8");
  CHECK(version_of_code(2804) == "2.8.4");
  CHECK(version_of_code(0).empty());
  CHECK(version_of_code(-22902).empty());
}

TEST_CASE(
    "variables are read from NCCL's own lines, and only those that tell nothing of the site") {
  const auto value = [](const std::string& text) {
    const auto variable = parse_logged_variable("h:1:2 [0] NCCL INFO " + text);
    return variable ? variable->name + "=" + variable->value : "none";
  };
  CHECK(value("NCCL_ALGO set by environment to Ring") == "NCCL_ALGO=Ring");
  CHECK(value("NCCL_MAX_NCHANNELS set by environment to 2.") == "NCCL_MAX_NCHANNELS=2");
  CHECK(value("NCCL_IB_HCA set by environment to mlx5_0:1,mlx5_1:1") ==
        "NCCL_IB_HCA=mlx5_0:1,mlx5_1:1");
  CHECK(value("NCCL_COMM_ID set by environment to 10.0.0.1:1234") == "none");
  CHECK(value("NCCL_TOPO_FILE set by environment to topo.xml") == "none");
  CHECK(value("NCCL_NET_PLUGIN set by environment to /home/me/lib.so") == "none");
  CHECK(value("RCCL_MSCCL_FORCE_ENABLE set by environment to 1.") == "none");
  CHECK_FALSE(parse_logged_variable("NCCL_ALGO set by environment to Ring"));
}

TEST_CASE("programs are found in command lines") {
  CHECK(program_named_in("+ srun -l ./build/reduce_scatter_perf -b 8 -e 8G") == "reduce_scatter");
  CHECK(program_named_in("reduce_perf") == "reduce");
  CHECK(parse_test_start("# Collective test starting: alltoall_perf") == "alltoall");
  CHECK_FALSE(program_named_in("my_reduce_perf"));
  CHECK_FALSE(program_named_in("all_reduce_perf_mpi"));
  CHECK_FALSE(program_named_in("all_reduce"));
}

TEST_CASE("columns are told by their names") {
  const auto table = parse_columns(
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
      "time   algbw   busbw  #wrong ");
  REQUIRE(table);
  CHECK(table->first_half == 5);
  CHECK(table->second_half == 9);
  CHECK(table->has_two_halves());
  const auto csv = parse_columns("size_bytes,time_us,algbw_GBs,busbw_GBs");
  REQUIRE(csv);
  CHECK(csv->separator == ',');
  CHECK(csv->columns ==
        std::vector<Column>{Column::Size, Column::WallTime, Column::Algbw, Column::Busbw});
  CHECK_FALSE(csv->has_two_halves());
  CHECK(parse_columns("size (B) | count | time (us) | busbw (GB/s) |")->separator == '|');
  CHECK(
      parse_columns("bytes N type op time algbw busbw res time algbw busbw res")->first_generation);
  CHECK_FALSE(parse_columns(
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"));
  CHECK_FALSE(parse_columns("size of the buffer and the time it takes"));
  CHECK_FALSE(parse_columns("size_kb,time_us,algbw_GBs"));
  CHECK_FALSE(parse_columns("size_bytes,time_ms,algbw_GBs"));
}

TEST_CASE("rows without a header have the shape of one era or another") {
  const auto columns = [](const std::string& line) {
    const auto table = columns_of_row(line);
    return table ? table->columns.size() : 0;
  };
  const std::string one = " 35.10 29.87 52.28 0";
  CHECK(columns("1048576 262144 float sum -1" + one + one) == 13);
  CHECK(columns("1048576 262144 float sum -1" + one) == 9);
  CHECK(columns("1048576 262144 float sum" + one + one) == 12);
  CHECK(columns("1048576 262144 float 0" + one + one) == 12);
  CHECK(columns("1048576 262144 float" + one + one) == 11);
  CHECK(columns("1048576 262144 float" + one) == 7);
  CHECK(columns("1048576 262144 quad sum -1" + one) == 0);
  CHECK(columns("1048576 262144 float sum -1 35.10 29.87") == 0);
  CHECK(columns("atu_cache_hit 16 550321110 21166196.5 550772995 1 1 1") == 0);
}
