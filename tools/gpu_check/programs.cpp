// Programs on the GPU: their data, then their times.

#include <array>
#include <cstdlib>
#include <optional>

#include "algorithms/table.hpp"
#include "kernels/cuda_error.hpp"
#include "tools/gpu_check/stages.hpp"
#include "validate/cuda/nccl_backend.hpp"
#include "validate/execution/every_call.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

constexpr std::array wires{LaneWire::Simple, LaneWire::Lines, LaneWire::WideLines};
constexpr std::chrono::milliseconds patience{5'000};

std::string wire_name(LaneWire wire) {
  return wire == LaneWire::Lines ? "LL" : wire == LaneWire::WideLines ? "LL128" : "Simple";
}

/// What happened to one program; empty: its data are right.
struct Ran {
  std::optional<ExecutionOutcome> outcome;
  std::string failure;
  std::string note;
};

template <class Execute>
Ran run(const std::string& name, const Execute& execute) {
  Ran ran;
  try {
    ran.outcome = execute();
    if (!ran.outcome->wrong.empty()) {
      ran.failure = name + ": wrong data: " + ran.outcome->wrong.front().text();
    }
  } catch (const InputError& error) {
    ran.note = name + ": " + error.message();
  } catch (const ExecutionError& error) {
    ran.failure = name + ": " + error.what();
  } catch (const CudaError& error) {
    ran.failure = name + ": " + error.what();
  }
  return ran;
}

void count(const Ran& ran, StageOutcome& stage) {
  if (!ran.failure.empty()) {
    stage.failures.push_back(ran.failure);
  } else if (!ran.note.empty()) {
    stage.notes.push_back(ran.note);
  } else {
    ++stage.done;
  }
}

std::string name_of_call(const CollectiveCall& call, std::string_view algorithm) {
  return std::string(algorithm) + " " + std::string(name_of(call.kind)) + " of " +
         std::to_string(call.size().count()) + " bytes, " + std::string(name_of(call.type)) + " " +
         std::string(name_of(call.op)) + ", " + std::to_string(call.ranks) + " ranks" +
         (call.in_place == InPlace::Yes ? ", in place" : "");
}

void check_request(const Algorithm& algorithm, const ProgramRequest& request,
                   const StageLimit& deadline, StageOutcome& stage) {
  if (!implements(algorithm, request.call.kind) || algorithm.obstacle(request)) {
    return;
  }
  if (deadline.passed()) {
    ++stage.left_out;
    return;
  }
  const auto program = build_program(algorithm, request);
  for (const LaneWire wire : wires) {
    ExecutionRequest asked;
    asked.timed = 1;
    asked.patience = patience;
    CudaOptions options;
    options.wire = wire;
    const std::string name = name_of_call(request.call, algorithm.name) + ", " + wire_name(wire);
    count(run(name, [&] { return execute_on_gpus(*program, asked, options); }), stage);
  }
}

/// A size that nothing divides, and one of whole packs.
ProgramRequest request_for(CollectiveKind kind, std::uint32_t ranks, std::int64_t count) {
  ProgramRequest request;
  request.call.kind = kind;
  request.call.ranks = ranks;
  request.call.count = count;
  request.call.type = DataType::Int32;
  request.call.root = Rank(ranks / 2);
  return request;
}

MeasuredRun run_for(const MeasuredRun& common, const CollectiveCall& call,
                    const std::string& algorithm) {
  MeasuredRun run = common;
  run.collective = call.kind;
  run.ranks = call.ranks;
  run.nodes = 1;
  run.type = call.type;
  if (reduces(call.kind)) {
    run.redop = call.op;
  }
  run.software.algorithm = algorithm;
  return run;
}

CollectiveCall timed_call(CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes) {
  CollectiveCall call = call_for_size(kind, ranks, Bytes(bytes), DataType::Float32);
  call.in_place = InPlace::No;
  return call;
}

/// Data of large calls would take the host longer to make than all the rest.
ExecutionRequest timed_request(std::int64_t bytes) {
  constexpr std::int64_t largest_checked = std::int64_t{1} << 20U;
  ExecutionRequest request;
  request.warmup = 2;
  request.check = bytes <= largest_checked;
  request.patience = patience;
  return request;
}

void time_algorithm(const Algorithm& algorithm, CollectiveKind kind, LaneWire wire,
                    std::uint32_t ranks, const StageLimit& deadline, MeasuredRun& run_of_wire,
                    StageOutcome& stage) {
  constexpr std::int64_t largest = std::int64_t{64} << 20U;
  constexpr std::int64_t largest_lines = std::int64_t{1} << 20U;
  for (std::int64_t bytes = 1024; bytes <= largest; bytes *= 16) {
    if (wire != LaneWire::Simple && bytes > largest_lines) {
      return;
    }
    if (deadline.passed()) {
      ++stage.left_out;
      return;
    }
    ProgramRequest request;
    request.call = timed_call(kind, ranks, bytes);
    if (algorithm.obstacle(request)) {
      return;
    }
    const auto program = build_program(algorithm, request);
    CudaOptions options;
    options.wire = wire;
    const std::string name = name_of_call(request.call, algorithm.name) + ", " + wire_name(wire);
    const Ran ran =
        run(name, [&] { return execute_on_gpus(*program, timed_request(bytes), options); });
    count(ran, stage);
    if (ran.outcome && ran.outcome->time > Duration(0)) {
      run_of_wire.rows.push_back({request.call.size(), ran.outcome->time, InPlace::No, false});
    }
  }
}

/// Since 2.30.3 it lets ranks share a GPU.
constexpr const char* sharing_variable = "NCCL_MULTI_RANK_GPU_ENABLE";

void time_calls_of_nccl(const NcclFacts& facts, std::uint32_t ranks, const MeasuredRun& common,
                        const StageLimit& deadline, std::vector<MeasuredRun>& runs,
                        StageOutcome& stage) {
  NcclGroup group(ranks);
  for (const CollectiveKind kind : all_kinds) {
    MeasuredRun run = run_for(common, timed_call(kind, ranks, 0), "");
    run.software.backend = "nccl";
    run.software.nccl = facts.version;
    if (gpu_of_ranks(ranks, GpuUse::Any).back() + 1 < ranks) {
      run.software.environment.emplace_back(sharing_variable, "1");
      run.notes = std::to_string(ranks) + " ranks share GPUs";
    }
    constexpr std::int64_t largest = std::int64_t{64} << 20U;
    for (std::int64_t bytes = 1024; bytes <= largest; bytes *= 16) {
      if (deadline.passed()) {
        ++stage.left_out;
        break;
      }
      ProgramRequest request;
      request.call = timed_call(kind, ranks, bytes);
      const auto program = build_program(*applicable_algorithms(request).front(), request);
      const Ran ran = collsim::run(name_of_call(request.call, "NCCL"),
                                   [&] { return group.execute(*program, timed_request(bytes)); });
      count(ran, stage);
      if (ran.outcome && ran.outcome->time > Duration(0)) {
        run.rows.push_back({request.call.size(), ran.outcome->time, InPlace::No, false});
      }
      if (!ran.failure.empty() && !ran.outcome) {
        return;  // a group that was aborted cannot be used any more
      }
    }
    if (!run.rows.empty()) {
      runs.push_back(std::move(run));
    }
  }
}

}  // namespace

StageOutcome check_programs(std::uint32_t ranks, bool smallest, const StageLimit& deadline) {
  StageOutcome stage;
  for (const CollectiveKind kind : all_kinds) {
    const std::vector<std::int64_t> counts =
        smallest ? std::vector<std::int64_t>{37} : std::vector<std::int64_t>{103, 40'000};
    for (const std::int64_t elements : counts) {
      for (const Algorithm& algorithm : algorithms()) {
        ProgramRequest request = request_for(kind, ranks, elements);
        request.call.in_place = InPlace::No;
        check_request(algorithm, request, deadline, stage);
        if (allows_in_place(kind) && !smallest) {
          request.call.in_place = InPlace::Yes;
          check_request(algorithm, request, deadline, stage);
        }
        if (smallest && stage.done > 0 && implements(algorithm, kind)) {
          break;
        }
      }
    }
  }
  for (const DataType type : all_types) {
    for (const ReductionOp op : all_ops) {
      ProgramRequest request = request_for(CollectiveKind::AllReduce, ranks, 1'003);
      request.call.type = type;
      request.call.op = op;
      if (!smallest) {
        check_request(find_algorithm("ring"), request, deadline, stage);
      }
    }
  }
  return stage;
}

StageOutcome time_programs(std::uint32_t ranks, const MeasuredRun& common,
                           const StageLimit& deadline, std::vector<MeasuredRun>& runs) {
  StageOutcome stage;
  for (const CollectiveKind kind : all_kinds) {
    for (const Algorithm& algorithm : algorithms()) {
      if (!implements(algorithm, kind)) {
        continue;
      }
      for (const LaneWire wire : wires) {
        MeasuredRun run = run_for(common, timed_call(kind, ranks, 0), std::string(algorithm.name));
        run.software.backend = "cuda";
        run.notes = "collsim's interpreter over " + wire_name(wire) + ", " + std::to_string(ranks) +
                    " ranks in one process";
        time_algorithm(algorithm, kind, wire, ranks, deadline, run, stage);
        if (!run.rows.empty()) {
          runs.push_back(std::move(run));
        }
      }
    }
  }
  return stage;
}

StageOutcome time_nccl(std::uint32_t ranks, const MeasuredRun& common, const StageLimit& deadline,
                       std::vector<MeasuredRun>& runs) {
  StageOutcome stage;
  try {
    const NcclFacts facts = require_nccl();
    const std::uint32_t gpus = gpu_of_ranks(ranks, GpuUse::Any).back() + 1;
    if (gpus < ranks && facts.several_a_gpu) {
      // Read when NCCL makes its first communicator.
      setenv(sharing_variable, "1", 1);
    } else if (gpus < ranks) {
      ranks = gpus;
      stage.notes.push_back("NCCL " + facts.version +
                            " runs one rank a GPU: " + std::to_string(ranks));
    }
    time_calls_of_nccl(facts, ranks, common, deadline, runs, stage);
  } catch (const InputError& error) {
    stage.notes.push_back(error.message());
  } catch (const CudaError& error) {
    stage.failures.push_back(std::string("NCCL: ") + error.what());
  }
  return stage;
}

}  // namespace collsim
