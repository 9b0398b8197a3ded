#include "tools/measure_calls.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/table.hpp"
#include "topology/digest.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

/// Without a cluster there is nothing to choose by: the algorithm that every library has.
std::string default_algorithm(CollectiveKind kind) {
  return implements(find_algorithm("ring"), kind) ? "ring" : "direct";
}

void add_calls(const MeasureCommand& command, MeasurePlan& plan) {
  const std::vector<DataType> types = types_of(command.datatype);
  const std::vector<ReductionOp> ops = ops_of(command.redop, plan.kind);
  const std::vector<std::int64_t> roots = roots_of(command.root, plan.kind, plan.ranks);
  refuse_long_table(types.size() * ops.size() * roots.size() * plan.sizes.size());
  for (const DataType type : types) {
    for (const ReductionOp op : ops) {
      for (const std::int64_t root : roots) {
        for (const Bytes size : plan.sizes) {
          MeasureCall line;
          line.call = call_for_size(plan.kind, plan.ranks, size, type);
          line.call.op = op;
          line.call.root = Rank(std::max<std::int64_t>(root, 0));
          line.call.in_place = InPlace::No;
          line.root = root;
          line.out_of_place = program_for(command, line.call);
          if (allows_in_place(plan.kind)) {
            CollectiveCall in_place = line.call;
            in_place.in_place = InPlace::Yes;
            line.in_place = program_for(command, in_place);
          }
          plan.calls.push_back(std::move(line));
        }
      }
    }
  }
}

/// What `perf` would be told to predict the same.
PerfCommand prediction_of(const MeasureCommand& command) {
  PerfCommand perf;
  static_cast<SeriesOptions&>(perf) = static_cast<const SeriesOptions&>(command);
  perf.check = 0;
  perf.cluster = command.cluster;
  perf.nccl = command.nccl;
  perf.job = command.job;
  perf.output = command.output;
  perf.algorithm = command.algorithm;
  return perf;
}

void add_predicted_calls(const MeasureCommand& command, MeasurePlan& plan) {
  const PerfCommand perf = prediction_of(command);
  const Machine machine = load_machine(perf.cluster, perf.output);
  const PerfPlan predicted = plan_of(perf, machine.cluster);
  plan.ranks = static_cast<std::uint32_t>(predicted.gpus.size());
  plan.cluster = machine.cluster.name();
  PerfRun run(perf, machine, predicted);
  at_its_place(machine, [&] { run.run(); });
  auto row = run.rows().begin();
  const auto take = [&] {
    MeasuredProgram program{run.whole_program(*row), row->job.algorithm, row->result.time};
    plan.nodes = row->nodes;
    ++row;
    return program;
  };
  for (const PerfRow& table_line : run.table()) {
    MeasureCall line;
    line.call = row->job.call;
    line.root = table_line.root;
    line.out_of_place = take();
    if (allows_in_place(plan.kind)) {
      line.in_place = take();
    }
    plan.calls.push_back(std::move(line));
  }
}

}  // namespace

MeasuredProgram program_for(const MeasureCommand& command, const CollectiveCall& call) {
  const std::string name =
      command.algorithm == "auto" ? default_algorithm(call.kind) : command.algorithm;
  ProgramRequest request;
  request.call = call;
  request.channels = command.job.channels.value_or(1);
  request.chunks = command.job.chunks.value_or(1);
  try {
    return {build_program(find_algorithm(name), request), name, std::nullopt};
  } catch (const InputError& error) {
    throw InputError(error.message(), "--algorithm", error.hint());
  }
}

MeasurePlan measure_plan(const MeasureCommand& command) {
  MeasurePlan plan;
  plan.kind = collective_of(command.job.collective);
  plan.sizes = sizes_of(command);
  if (!command.cluster.cluster.empty()) {
    add_predicted_calls(command, plan);
    return plan;
  }
  if (command.algorithm != "auto") {
    require_algorithm(command.algorithm, plan.kind, "--algorithm");
  }
  plan.ranks = command.job.ranks.value_or(default_measured_ranks);
  add_calls(command, plan);
  return plan;
}

std::uint64_t digest_of(const MeasureCommand& command, const MeasurePlan& plan) {
  Digest digest;
  digest.add(COLLSIM_VERSION);
  digest.add(command.backend);
  digest.add(command.gpu.wire);
  digest.add(command.gpu.graph ? "graph" : "");
  digest.add(command.seed);
  for (const std::uint32_t number :
       {plan.ranks, command.warmup, command.iterations, command.check}) {
    digest.add(std::to_string(number));
  }
  for (const MeasureCall& line : plan.calls) {
    digest.add(name_of(line.call.kind));
    digest.add(name_of(line.call.type));
    digest.add(name_of(line.call.op));
    digest.add(std::to_string(line.call.count));
    digest.add(std::to_string(line.root));
    for (const MeasuredProgram* program :
         {&line.out_of_place, line.in_place ? &*line.in_place : nullptr}) {
      if (program != nullptr) {
        digest.add(program->algorithm);
        digest.add(std::to_string(program->program->channels()));
        digest.add(std::to_string(program->program->chunks()));
      }
    }
  }
  constexpr std::size_t half = 16;  // digits of 64 bits
  return std::stoull(digest.hex().substr(0, half), nullptr, 16);
}

}  // namespace collsim
