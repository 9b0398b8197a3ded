#include "sim/io/write_costs.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/io/read_costs.hpp"
#include "tests/catch.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

CostsFileText example(const std::vector<WrittenCost>& values) {
  CostsFileText file;
  file.comment = "Two lines\n\nabove.";
  file.description = R"(a "fit" of ours)";
  file.tier = ParameterTier::Generation;
  file.record.machines = {"one", "two: of \"them\""};
  file.record.nccl = {"2.29.2"};
  file.record.collectives = {CollectiveKind::AllReduce};
  file.record.least_bytes = 512_B;
  file.record.most_bytes = 1_GiB;
  file.record.least_ranks = 2;
  file.record.most_ranks = 8;
  file.record.most_nodes = 1;
  file.record.points = 42;
  file.record.median_error = 0.02345;
  file.record.p90_error = 0.07;
  file.values = values;
  return file;
}

}  // namespace

TEST_CASE("a written set of parameters is read again as it was") {
  const std::vector<WrittenCost> values{
      {CostItem::LaunchCollective, {4'607'001, CostSource::Fitted, 0.0123}},
      {CostItem::LLHopNvlink, {595'600, CostSource::Estimate, 0}},
      {CostItem::SimpleLocalRate,
       {Bandwidth::bytes_per_second(23'670'000'000).units(), CostSource::Fitted, 0.02}},
      {CostItem::ShareNvlink, {852'100, CostSource::Fitted, 0.01}}};
  const std::string text = write_costs(example(values));
  CHECK(text.starts_with("# Two lines\n#\n# above.\n"));

  const std::filesystem::path file =
      std::filesystem::temp_directory_path() /
      ("collsim-write-costs-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  const CostParameters read = find_costs({}, file.string());
  std::filesystem::remove(file);
  for (const WrittenCost& cost : values) {
    CHECK(read.value(cost.item).units == cost.value.units);
    CHECK(read.value(cost.item).source == cost.value.source);
    CHECK(read.value(cost.item).standard_error == cost.value.standard_error);
  }
  CHECK(read.description == R"(a "fit" of ours)");
  CHECK(read.tier == ParameterTier::Generation);
  REQUIRE(read.records.size() == 1);
  const CalibrationRecord& record = read.records.front();
  CHECK(record.machines == std::vector<std::string>{"one", "two: of \"them\""});
  CHECK(record.nccl == std::vector<std::string>{"2.29.2"});
  CHECK(record.collectives == std::vector<CollectiveKind>{CollectiveKind::AllReduce});
  CHECK(record.most_bytes == 1_GiB);
  CHECK(record.points == 42);
  CHECK(record.median_error == 0.0235);  // of four decimals
}
