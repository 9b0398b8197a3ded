#include "study/validation.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "study/validation_scores.hpp"
#include "tests/catch.hpp"
#include "tests/study/nccl_machine.hpp"

using namespace collsim;
using namespace collsim::literals;
using namespace std::chrono_literals;

namespace {

/// Two GPUs of a DGX H100, and a table whose times are what is predicted, changed by the test.
struct TwoGpus {
  explicit TwoGpus(const std::vector<Bytes>& sizes, LaunchMode launch = LaunchMode::ProcessPerGpu)
      : machine("dgx-h100", 1, 2, "nccl-hopper") {
    run.ranks = 2;
    run.nodes = 1;
    for (const Bytes size : sizes) {
      run.rows.push_back({size, 1us, InPlace::No, false});
    }
    table.machine = "two";
    table.run = &run;
    table.cluster = &machine.cluster();
    table.decisions = {std::shared_ptr<void>(), &machine.decisions()};
    table.gpus = first_gpus(machine.cluster(), 1, 2);
    table.launch.mode = launch;
    const Validation first = result({});
    for (const ValidatedRow& row : first.runs.front().rows) {
      run.rows[static_cast<std::size_t>(row.row - run.rows.data())].time = row.predicted;
    }
  }

  [[nodiscard]] Validation result(const ValidationOptions& options = {}) const {
    return validate({{&table, &machine.costs()}}, options);
  }

  test::NcclMachine machine;
  MeasuredRun run;
  MeasuredTable table;
};

std::vector<Apart> apart_of(const Validation& validation) {
  std::vector<Apart> apart;
  for (const ValidatedRow& row : validation.runs.front().rows) {
    apart.push_back(row.apart);
  }
  return apart;
}

}  // namespace

TEST_CASE("a row that took twice as long as predicted has an error of minus a half") {
  TwoGpus two({4_KiB, 32_MiB});
  two.run.rows[1].time *= 2;
  const Validation validation = two.result();
  const auto& rows = validation.runs.front().rows;
  CHECK(rows[0].error == 0);
  CHECK(rows[1].error == Approx(-0.5));
  CHECK(rows[0].algorithm == "nccl-ring");
  CHECK(rows[0].protocol == "LL");
  CHECK(rows[1].protocol == "Simple");
}

TEST_CASE("what is predicted does not depend on the order in which rows are simulated") {
  TwoGpus two({4_KiB, 256_KiB, 32_MiB});
  ValidationOptions backwards;
  backwards.for_each = [](std::size_t count, const std::function<void(std::size_t)>& body) {
    for (std::size_t i = count; i > 0; --i) {
      body(i - 1);
    }
  };
  const Validation forth = two.result();
  const Validation back = two.result(backwards);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(back.runs.front().rows[i].predicted == forth.runs.front().rows[i].predicted);
    CHECK(back.runs.front().rows[i].rival_times == forth.runs.front().rows[i].rival_times);
  }
}

TEST_CASE("a suspect row stands apart, and no rival learns from it") {
  TwoGpus two({1_MiB, 2_MiB, 4_MiB});
  two.run.rows[1].suspect = true;
  two.run.rows[1].time *= 100;
  const Validation validation = two.result();
  CHECK(apart_of(validation) == std::vector{Apart::No, Apart::Suspect, Apart::No});
  // Through the two others there is a line.
  const auto line = static_cast<std::size_t>(Rival::BestLine);
  const auto& rows = validation.runs.front().rows;
  CHECK(std::abs(relative_error(rows[0].rival_times.at(line).value(), rows[0].row->time)) < 0.02);
  CHECK_FALSE(rows[1].rival_times.at(line));
  const ValidationScores scores = score(validation);
  CHECK(scores.summary.all.errors.points == 2);
  CHECK(scores.apart.all.errors.points == 1);
  CHECK(scores.suspect == 1);
}

TEST_CASE("a row larger than any that the parameters were fitted to says so") {
  TwoGpus two({512_MiB, 1_GiB});
  REQUIRE(two.machine.costs().records.size() == 1);
  REQUIRE(two.machine.costs().records.front().most_bytes == 512_MiB);
  const Validation validation = two.result();
  const auto& rows = validation.runs.front().rows;
  CHECK(rows[0].outside.empty());
  REQUIRE(rows[1].outside.size() == 1);
  CHECK(rows[1].outside.front().what == "size");
  const ValidationScores scores = score(validation);
  CHECK(scores.summary.all.errors.points == 2);
  CHECK(scores.outside_fit.errors.points == 1);
}

TEST_CASE("small rows of a launch that is not known stand apart") {
  TwoGpus two({4_KiB, 1_MiB, 2_MiB}, LaunchMode::Unknown);
  CHECK(apart_of(two.result()) ==
        std::vector{Apart::LaunchUnknown, Apart::LaunchUnknown, Apart::No});
}

TEST_CASE("a fitted launch offset brings them back") {
  TwoGpus two({4_KiB, 32_KiB, 1_MiB}, LaunchMode::Unknown);
  for (MeasuredRow& row : two.run.rows) {
    row.time += 3us;
  }
  ValidationOptions options;
  options.fit_launch = true;
  const Validation validation = two.result(options);
  REQUIRE(validation.offsets.size() == 1);
  CHECK(validation.offsets.front().machine == "two");
  CHECK(validation.offsets.front().more == 3us);
  // 1 MiB is no row to fit it to.
  CHECK(validation.offsets.front().points == 2);
  for (const ValidatedRow& row : validation.runs.front().rows) {
    CHECK(row.error == 0);
    CHECK(row.apart == Apart::No);
  }
}

TEST_CASE("each way to launch has an offset of its own") {
  TwoGpus single({4_KiB}, LaunchMode::ProcessForSeveral);
  TwoGpus graph({4_KiB}, LaunchMode::CudaGraph);
  single.run.rows[0].time += 3us;
  graph.run.rows[0].time += 1us;
  ValidationOptions options;
  options.fit_launch = true;
  const Validation validation = validate(
      {{&single.table, &single.machine.costs()}, {&graph.table, &graph.machine.costs()}}, options);
  REQUIRE(validation.offsets.size() == 2);
  CHECK(validation.offsets[0].launch == LaunchMode::ProcessForSeveral);
  CHECK(validation.offsets[0].more == 3us);
  CHECK(validation.offsets[1].launch == LaunchMode::CudaGraph);
  CHECK(validation.offsets[1].more == 1us);
}

TEST_CASE("buffers in symmetric windows have NCCL's kernels for them, others not") {
  TwoGpus two({4_KiB});
  CHECK(two.result().runs.front().rows.front().algorithm == "nccl-ring");
  two.run.software.buffers = BuffersWere::Registered;
  CHECK(two.result().runs.front().rows.front().algorithm == "nccl-ring");
  two.run.software.buffers = BuffersWere::Symmetric;
  CHECK(two.result().runs.front().rows.front().algorithm == "nccl-symmetric");
  two.run.software.algorithm = "nccl-ring";
  CHECK(two.result().runs.front().rows.front().algorithm == "nccl-ring");
}

TEST_CASE("an offset below zero leaves something of a prediction") {
  TwoGpus two({4_KiB, 8_KiB, 16_KiB});
  two.run.rows[0].time = 1ns;
  two.run.rows[1].time = 1ns;
  two.run.rows[2].time = 1ns;
  ValidationOptions options;
  options.fit_launch = true;
  const Validation validation = two.result(options);
  CHECK(validation.offsets.front().more < Duration{});
  for (const ValidatedRow& row : validation.runs.front().rows) {
    CHECK(row.predicted > Duration{});
  }
}

TEST_CASE("without small rows no offset is fitted") {
  TwoGpus two({64_KiB, 2_MiB}, LaunchMode::Unknown);
  ValidationOptions options;
  options.fit_launch = true;
  const Validation validation = two.result(options);
  CHECK(validation.offsets.empty());
  CHECK(apart_of(validation) == std::vector{Apart::LaunchUnknown, Apart::No});
}

TEST_CASE("sizes and collectives choose rows") {
  TwoGpus two({4_KiB, 64_KiB, 1_MiB});
  ValidationOptions sizes;
  sizes.least = 64_KiB;
  sizes.most = 64_KiB;
  const Validation one = two.result(sizes);
  REQUIRE(one.runs.front().rows.size() == 1);
  CHECK(one.runs.front().rows.front().row->bytes == 64_KiB);
  ValidationOptions others;
  others.collectives = {CollectiveKind::AllGather};
  CHECK(two.result(others).runs.empty());
}

TEST_CASE("rows without an element a rank are left out, and this is told once") {
  TwoGpus two({0_B, 2_B, 4_KiB});
  const Validation validation = two.result();
  CHECK(validation.runs.front().rows.size() == 1);
  CHECK(
      validation.left_out ==
      std::vector<std::string>{"two: all_reduce on 2 ranks, 2 rows: less than an element a rank"});
}

TEST_CASE("NCCL's formula speaks of collectives, not of sends and receives") {
  const auto formula = static_cast<std::size_t>(Rival::NcclFormula);
  TwoGpus two({1_MiB, 4_MiB});
  CHECK(two.result().runs.front().rows.front().rival_times.at(formula));
  two.run.collective = CollectiveKind::AllToAll;
  const ValidatedRow row = two.result().runs.front().rows.front();
  CHECK_FALSE(row.rival_times.at(formula));
  CHECK(row.rival_times.at(static_cast<std::size_t>(Rival::ConstantBusbw)));
}

TEST_CASE("scores speak of all rows, of bands, of collectives and of runs") {
  TwoGpus two({4_KiB, 32_MiB});
  Validation validation = two.result();
  MeasuredRun gathered = two.run;
  gathered.collective = CollectiveKind::AllGather;
  MeasuredTable other = two.table;
  other.run = &gathered;
  validation.runs.push_back({&other, validation.runs.front().rows});
  auto& first = validation.runs[0].rows;
  auto& second = validation.runs[1].rows;
  first[0].error = 0.1;
  first[1].error = -0.2;
  second[0].error = 0.3;
  second[1].error = -0.4;

  const ValidationScores scores = score(validation);
  CHECK(scores.summary.all.errors.points == 4);
  CHECK(scores.summary.all.errors.median_abs == Approx(0.25));
  REQUIRE(scores.summary.all.worst);
  CHECK(scores.summary.all.worst->place.run == 1);
  CHECK(scores.summary.all.worst->place.row == 1);
  CHECK(scores.summary.all.worst->error == -0.4);
  // 0.1 and 0.3 in the first band, 0.2 and 0.4 in the last.
  CHECK(scores.summary.by_band[0].errors.median_abs == Approx(0.2));
  CHECK(scores.summary.by_band[1].errors.points == 0);
  CHECK_FALSE(scores.summary.by_band[1].worst);
  CHECK(scores.summary.by_band[3].errors.median_abs == Approx(0.3));
  REQUIRE(scores.summary.by_collective.size() == 2);
  CHECK(scores.summary.by_collective[0].first == CollectiveKind::AllGather);
  CHECK(scores.summary.by_collective[0].second.errors.median_abs == Approx(0.35));
  CHECK(scores.runs[0].errors.bias == Approx(-0.05));
  CHECK(scores.runs[1].errors.worst == 1);
  CHECK(scores.apart.all.errors.points == 0);
}
