// Parameters found again from tables that a known set made, on a real machine's description.

#include "study/calibration.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/nccl/io/find_constants.hpp"
#include "algorithms/nccl/machine_changes.hpp"
#include "algorithms/nccl/machine_of_node.hpp"
#include "sim/io/read_costs.hpp"
#include "study/calibration_rows.hpp"
#include "study/cross_validation.hpp"
#include "study/sensitivities.hpp"
#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/io/load.hpp"

using namespace collsim;
using namespace collsim::literals;

namespace {

ConfigPath shipped() { return ConfigPath{{test::source_path("configs").string()}}; }

/// Tables of one machine: some collectives on 2 and 8 GPUs.
class Tables {
 public:
  explicit Tables(const std::vector<CollectiveKind>& kinds)
      : cluster_(build_cluster(load_cluster("dgx-h100", {}, shipped()))) {
    for (const CollectiveKind kind : kinds) {
      for (const std::uint32_t ranks : {2U, 8U}) {
        add(kind, ranks);
      }
    }
    for (const auto& table : tables_) {
      for (const MeasuredCall& call : rows_to_fit(*table)) {
        calls_.push_back(call);
      }
    }
  }

  /// All tables as the set would make them.
  void measure(const CostParameters& costs) {
    for (MeasuredCall& call : calls_) {
      const_cast<MeasuredRow*>(call.row)->time = predict(call, costs).time;  // NOLINT: ours
    }
  }
  [[nodiscard]] const std::vector<MeasuredCall>& calls() const { return calls_; }

 private:
  void add(CollectiveKind kind, std::uint32_t ranks) {
    auto run = std::make_unique<MeasuredRun>();
    run->collective = kind;
    run->ranks = ranks;
    run->nodes = 1;
    run->type = DataType::Half;
    run->software.mode = {LaunchMode::ProcessPerGpu, 1};
    for (const Bytes size : {1_KiB, 32_KiB, 512_KiB, 8_MiB, 64_MiB}) {
      run->rows.push_back({size, Duration(1), {}, false});
    }
    nccl::DecisionInput input;
    input.machine = nccl::machine_of_node(cluster_, NodeId(0));
    nccl::keep_gpus(input.machine, ranks);
    input.constants = nccl::find_constants(shipped(), "2.28");
    auto table = std::make_unique<MeasuredTable>();
    table->machine = "made";
    table->run = run.get();
    table->cluster = &cluster_;
    table->decisions = std::make_shared<const nccl::Decisions>(input);
    table->gpus = first_gpus(cluster_, 1, ranks);
    table->launch = run->software.mode;
    runs_.push_back(std::move(run));
    tables_.push_back(std::move(table));
  }

  Cluster cluster_;
  std::vector<std::unique_ptr<MeasuredRun>> runs_;
  std::vector<std::unique_ptr<MeasuredTable>> tables_;
  std::vector<MeasuredCall> calls_;
};

CostParameters start() { return find_costs(shipped(), "nccl-hopper-nominal"); }

void scale(CostParameters& costs, CostItem item, double by) {
  const CostValue value = costs.value(item);
  costs.set(item, {std::llround(static_cast<double>(value.units) * by), value.source});
}

double found(const Calibration& calibration, CostItem item) {
  return static_cast<double>(calibration.parameters.value(item).units) /
         static_cast<double>(start().value(item).units);
}

}  // namespace

TEST_CASE("calibration finds the parameters that made the tables") {
  CostParameters truth = start();
  scale(truth, CostItem::LaunchCollective, 0.7);
  scale(truth, CostItem::LLHopNvlink, 1.5);
  scale(truth, CostItem::SimpleHandoffNvlink, 1.6);
  scale(truth, CostItem::ShareNvlink, 0.9);
  Tables tables({CollectiveKind::AllReduce, CollectiveKind::AllGather});
  tables.measure(truth);
  CalibrationOptions options;
  options.only = {CostItem::LaunchCollective, CostItem::LLHopNvlink, CostItem::SimpleHandoffNvlink,
                  CostItem::ShareNvlink};
  const Calibration calibration = calibrate(tables.calls(), start(), options);
  CHECK(found(calibration, CostItem::LaunchCollective) == Approx(0.7).epsilon(0.03));
  CHECK(found(calibration, CostItem::LLHopNvlink) == Approx(1.5).epsilon(0.03));
  CHECK(found(calibration, CostItem::SimpleHandoffNvlink) == Approx(1.6).epsilon(0.05));
  CHECK(found(calibration, CostItem::ShareNvlink) == Approx(0.9).epsilon(0.03));
  CHECK(summarize(calibration.errors).p90_abs < 0.02);
}

TEST_CASE("what no call depends on keeps its ratio to what is fitted") {
  CostParameters truth = start();
  scale(truth, CostItem::SimpleHandoffNvlink, 2);
  Tables tables({CollectiveKind::AllGather});
  tables.measure(truth);
  CalibrationOptions options;
  options.only = {CostItem::SimpleHandoffNvlink, CostItem::SendRecvHandoffNvlink};
  const Calibration calibration = calibrate(tables.calls(), start(), options);
  REQUIRE(calibration.fitted.size() == 1);
  CHECK(calibration.fitted.front().followers ==
        std::vector<CostItem>{CostItem::SendRecvHandoffNvlink});
  CHECK(found(calibration, CostItem::SendRecvHandoffNvlink) ==
        Approx(found(calibration, CostItem::SimpleHandoffNvlink)).epsilon(0.01));
}

TEST_CASE("a set of a generation has few free parameters, and the nominal one none") {
  Tables tables({CollectiveKind::AllGather});
  tables.measure(start());
  CalibrationOptions options;
  options.tier = ParameterTier::Nominal;
  const Calibration nominal = calibrate(tables.calls(), start(), options);
  CHECK(nominal.fitted.empty());
  CHECK(summarize(nominal.errors).p90_abs == 0);
  options.tier = ParameterTier::Generation;
  CHECK(calibrate(tables.calls(), start(), options).fitted.size() <= 9);
}

TEST_CASE("groups are left out where enough remain") {
  Tables tables({CollectiveKind::AllGather, CollectiveKind::AllReduce});
  tables.measure(start());
  CalibrationOptions options;
  options.only = {CostItem::LaunchCollective};
  const std::vector<Fold> folds = cross_validate(tables.calls(), start(), options, all_left_out);
  // Even and odd octaves, two collectives; not two numbers of ranks, of which one would remain, nor the machine.
  std::vector<std::string> groups;
  for (const Fold& fold : folds) {
    groups.push_back(fold.group);
    CHECK(summarize(fold.errors).p90_abs < 0.01);
  }
  CHECK(groups ==
        std::vector<std::string>{"even octaves", "odd octaves", "all_gather", "all_reduce"});
}

TEST_CASE("an attribution to limits tells what a parameter changes") {
  Tables tables({CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::AllToAll});
  const CostParameters costs = start();
  constexpr double step = 0.01;
  for (const MeasuredCall& call : tables.calls()) {
    const CollectiveResult result = predict(call, costs, AttributeTo::Limits);
    const Sensitivities effects =
        sensitivities(*call.table->cluster, *call.program.program, result);
    for (const CostItem item : {CostItem::LaunchCollective, CostItem::LLHopNvlink,
                                CostItem::SimpleHandoffNvlink, CostItem::SimpleSliceCopy}) {
      CostParameters changed = costs;
      scale(changed, item, 1 + step);
      const double change = static_cast<double>(predict(call, changed).time.count()) /
                                static_cast<double>(result.time.count()) -
                            1;
      INFO(name_of(item) << " of " << name_of(call.call.kind) << " " << call.call.ranks << " "
                         << call.row->bytes.count());
      // The path may change within the step: then by no more than a part of it.
      CHECK(effects.at(static_cast<std::size_t>(item)) == Approx(change / step).margin(0.08));
    }
  }
}

TEST_CASE("rows that cannot be compared are not fitted to") {
  MeasuredTable table;
  MeasuredRow row{4_KiB, Duration(1), {}, false};
  CHECK_FALSE(is_comparable(table, row));  // how was it launched?
  table.launch.mode = LaunchMode::ProcessPerGpu;
  CHECK(is_comparable(table, row));
  row.suspect = true;
  CHECK_FALSE(is_comparable(table, row));
  table.launch.mode = LaunchMode::Unknown;
  CHECK(is_comparable(table, {2_MiB, Duration(1), {}, false}));
}

TEST_CASE(
    "what ran a program of ours launches nothing, and has none of the costs that are fitted") {
  MeasuredRun run;
  run.rows.push_back({4_KiB, Duration(1), {}, false});
  MeasuredTable table;
  table.run = &run;
  table.is_of_our_program = true;
  CHECK(is_comparable(table, run.rows.front()));
  CHECK(rows_to_fit(table).empty());
}
