// Logs of real runs: what a reader of the file sees in it, the reader must find.

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/nccl/io/log_reader.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"

namespace collsim::nccl {

namespace {

const LoggedCommunicator& only(const NcclLog& log) {
  REQUIRE(log.communicators.size() == 1);
  return log.communicators.front();
}

bool sets(const NcclLog& log, const std::string& name, const std::string& value) {
  return std::ranges::any_of(log.environment, [&](const LoggedVariable& variable) {
    return variable.name == name && variable.value == value;
  });
}

}  // namespace

TEST_CASE("sample: two A100 of one node, NCCL 2.16", "[nccl][log][samples]") {
  const auto path = test::shared_path("samples/nccl-log/nccl-2.16.5-a100pcie-x2-graph.log");
  if (!path) {
    return;
  }
  const NcclLog log = load_nccl_log(path->string());
  CHECK(log.version == "2.16.5");
  CHECK(log.cuda == "11.8");
  CHECK(log.garbled == 0);
  CHECK(sets(log, "NCCL_NET_GDR_LEVEL", "SYS"));
  const LoggedCommunicator& found = only(log);
  CHECK(found.ranks == 2);
  CHECK(found.ranks_seen == std::vector<int>{0, 1});
  CHECK(found.channels.collective == 4);
  CHECK(found.channels.per_peer == 2);
  REQUIRE(found.graphs.size() == 3);
  CHECK(found.graphs[1].graph.pattern == Pattern::BalancedTree);
  CHECK(found.graphs[1].graph.bandwidth_intra == 22.0F);
  CHECK(found.graphs[1].graph.channels[1].gpus == std::vector<int>{1, 0});
  CHECK(found.rings.size() == 4);
  CHECK(found.trees.size() == 8);
  REQUIRE(found.system.has_value());
  CHECK(found.system->parts.size() == 4);
  CHECK(found.paths.size() == 6);
}

TEST_CASE("sample: lines of several processes written into each other", "[nccl][log][samples]") {
  const auto path =
      test::shared_path("samples/nccl-log/nccl-2.28.9-rtx4090x4-interleaved-trace-excerpt.log");
  if (!path) {
    return;
  }
  const NcclLog log = load_nccl_log(path->string());
  CHECK(log.version == "2.28.9");
  CHECK(log.garbled > 0);
  const LoggedCommunicator& found = only(log);
  CHECK(found.ranks == 4);
  REQUIRE(found.system.has_value());
  CHECK(found.system->complete);
  CHECK(std::ranges::count(found.system->parts, PartKind::Gpu, &LoggedPart::kind) == 4);
  REQUIRE(found.graphs.size() == 2);
  // The tree's order is cut by another line.
  CHECK(found.graphs[0].graph.channels.at(0).gpus == std::vector<int>{0, 1, 2, 3});
  CHECK(found.graphs[1].graph.channels.empty());
}

TEST_CASE("sample: tuning table and choices of 4 H100, NCCL 2.29", "[nccl][log][samples]") {
  const auto path =
      test::shared_path("samples/nccl-log/nccl-2.29.2-h100x4-pcie-switch-tuning-nvls.log");
  if (!path) {
    return;
  }
  const NcclLog log = load_nccl_log(path->string());
  CHECK(log.garbled == 0);
  CHECK(log.unplaced == 0);
  const LoggedCommunicator& found = only(log);
  CHECK(found.nodes == 1);
  CHECK(found.channels.collective == 24);
  CHECK(found.channels.nvls == 16);
  CHECK(found.channels.per_peer == 32);
  CHECK(found.rings.size() == 24);
  CHECK(found.trees.size() == 96);  // of 4 ranks on 24 channels
  CHECK(found.has_table);
  const auto& entry = found.table[Function::AllReduce][Algorithm::Nvls][Protocol::Simple];
  REQUIRE(entry.has_value());
  CHECK(entry->latency == 25.0F);
  CHECK(entry->bandwidth == 160.0F);
  REQUIRE(found.choices.size() == 6);  // 256 MiB to 8 GiB
  CHECK(found.choices[0].bytes == 268435456);
  CHECK(found.choices[0].algorithm == Algorithm::Nvls);
  CHECK(found.choices[0].channels == 16);
}

TEST_CASE("sample: files of several ranks joined in the middle of lines", "[nccl][log][samples]") {
  const auto path =
      test::shared_path("samples/nccl-log/pytorch-2node-8gpu-rank-files-concatenated-watchdog.log");
  if (!path) {
    return;
  }
  const NcclLog log = load_nccl_log(path->string());
  CHECK(log.version == "2.20.5");
  CHECK(sets(log, "NCCL_CROSS_NIC", "1"));
  CHECK(sets(log, "NCCL_NET_GDR_LEVEL", "PHB"));
  const LoggedCommunicator& found = only(log);
  CHECK(found.ranks == 8);
  CHECK(found.nodes == 2);
  CHECK(found.local_ranks == 4);
  CHECK(found.ranks_seen.size() < 8);
  CHECK(found.unfinished > 0);
  CHECK_FALSE(found.has_table);
}

TEST_CASE("sample: an excerpt of a table of paths", "[nccl][log][samples]") {
  const auto path = test::shared_path("samples/nccl-log/issue-879-16gpu-path-table-excerpt.log");
  if (!path) {
    return;
  }
  const NcclLog log = load_nccl_log(path->string());
  CHECK(log.version.empty());
  CHECK(log.truncated);
  // Two lines of 18 paths (8 GPUs, 2 CPUs, 8 NICs), and the 8 GPUs of the third before the cut.
  CHECK(only(log).paths.size() == 44);
}

}  // namespace collsim::nccl
