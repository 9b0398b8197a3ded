#include "tools/render_measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "study/measured_calls.hpp"
#include "tools/format_text.hpp"
#include "tools/text_table.hpp"

namespace collsim {

namespace {

/// GPUs that have a rank; 0: the ranks are not on GPUs.
std::uint32_t gpus_of(const std::vector<RankPlace>& places) {
  std::set<std::uint32_t> gpus;
  for (const RankPlace& place : places) {
    if (place.gpu) {
      gpus.insert(place.gpu->device);
    }
  }
  return static_cast<std::uint32_t>(gpus.size());
}

std::string device_lines(const std::vector<RankPlace>& places, const MachineFacts& facts,
                         bool is_tcp) {
  std::string text;
  std::map<std::string, std::uint32_t> ranks_of_host;
  for (const RankPlace& place : places) {
    PerfDevice line;
    line.rank = static_cast<std::uint32_t>(&place - places.data());
    line.process = place.process;
    line.host = place.host;
    line.device = place.gpu ? place.gpu->device : ranks_of_host[place.host]++;
    line.name = place.gpu ? place.gpu->name : facts.cpu + (is_tcp ? " (process)" : " (thread)");
    text += nccl_tests_device(line);
  }
  return text;
}

PerfHeader header_of(const MeasureCommand& command, const MeasurePlan& plan,
                     const MachineFacts& facts, const std::vector<RankPlace>& places) {
  PerfHeader header;
  header.kind = plan.kind;
  header.threads = command.is_tcp() ? 1 : plan.ranks;
  header.min = plan.sizes.front();
  header.max = size_of_option(command.max_bytes, "-e");
  header.step_is_factor = command.step_factor > 1;
  header.step = header.step_is_factor ? command.step_factor
                                      : size_of_option(command.step_bytes, "-i").count();
  header.warmup = command.warmup;
  header.iterations = command.iterations;
  header.check = command.check;
  std::vector<std::string> algorithms;
  for (const MeasureCall& call : plan.calls) {
    if (std::ranges::find(algorithms, call.out_of_place.algorithm) == algorithms.end()) {
      algorithms.push_back(call.out_of_place.algorithm);
    }
  }
  header.notes.push_back(
      fmt::format("backend {}, algorithm {}", command.backend, fmt::join(algorithms, ", ")));
  if (const std::uint32_t gpus = gpus_of(places); gpus > 0 && gpus < plan.ranks) {
    header.notes.push_back(fmt::format("{} share {}: messages between them cross its memory only",
                                       counted(plan.ranks, "rank"), counted(gpus, "GPU")));
  }
  if (const std::uint32_t crowded = crowded_ranks(places, facts); crowded > 0) {
    header.notes.push_back(fmt::format("{} share {}: times are those of taking turns",
                                       counted(crowded, "rank"), counted(facts.cores, "core")));
  }
  return header;
}

double microseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

void add_comparison(TextTable& table, const std::string& place, const MeasureCall& call,
                    const MeasuredProgram& program, const ExecutionOutcome& outcome) {
  const double measured = microseconds(outcome.time);
  const double predicted = microseconds(*program.predicted);
  table.add_row({std::to_string(call.call.size().count()), place, program.algorithm,
                 nccl_tests_number(measured, 7), nccl_tests_number(predicted, 7),
                 measured > 0 ? fmt::format("{:+.1f} %", 100 * (predicted / measured - 1)) : "-"});
}

std::string comparison(const MeasurePlan& plan, const std::vector<MeasuredLine>& lines) {
  TextTable table;
  table.add_column("size");
  table.add_column("place", Align::Left);
  table.add_column("algorithm", Align::Left);
  table.add_column("measured us");
  table.add_column("predicted us");
  table.add_column("error");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MeasureCall& call = plan.calls[i];
    add_comparison(table, "out", call, call.out_of_place, lines[i].out_of_place);
    if (call.in_place) {
      add_comparison(table, "in", call, *call.in_place, *lines[i].in_place);
    }
  }
  return fmt::format("# Measured here, and predicted for {}:\n#\n{}#\n", plan.cluster,
                     table.render("#  "));
}

std::string launch_of(const MeasureCommand& command) {
  if (command.is_gpu()) {
    return command.gpu.graph ? "cuda graph" : "single process";
  }
  return command.is_tcp() ? "process per rank" : "thread per rank";
}

MeasuredRun run_of(const MeasureCommand& command, const MeasurePlan& plan, const MeasureCall& call,
                   const MachineFacts& facts, const std::vector<RankPlace>& places) {
  MeasuredRun run;
  run.collective = plan.kind;
  run.ranks = plan.ranks;
  std::set<std::string> hosts;
  for (const RankPlace& place : places) {
    hosts.insert(place.host);
  }
  run.nodes = static_cast<std::uint32_t>(hosts.size());
  run.type = call.call.type;
  if (reduces(plan.kind)) {
    run.redop = call.call.op;
  }
  run.software.backend = command.backend;
  run.software.algorithm = call.out_of_place.algorithm;
  if (ran_our_program(run)) {
    run.software.channels = call.out_of_place.program->channels();
    run.software.chunks = call.out_of_place.program->chunks();
  }
  run.software.kernel = facts.kernel;
  run.software.compiler = facts.compiler;
  run.software.launch = launch_of(command);
  run.source = fmt::format("collsim {} measure", COLLSIM_VERSION);
  run.date = facts.date;
  if (crowded_ranks(places, facts) > 0) {
    run.notes = "more ranks than cores";
  }
  if (const std::uint32_t gpus = gpus_of(places); gpus > 0 && gpus < plan.ranks) {
    run.notes = fmt::format("{} on {}", counted(plan.ranks, "rank"), counted(gpus, "GPU"));
  }
  return run;
}

void add_row(MeasuredRun& run, const CollectiveCall& call, const ExecutionOutcome& outcome,
             InPlace place) {
  if (outcome.time > Duration(0)) {
    run.rows.push_back({call.size(), outcome.time, place, false});
  }
}

/// Whether the call belongs in the same table as those of the run.
bool fits(const MeasuredRun& run, const MeasureCall& call) {
  return run.type == call.call.type && (!run.redop || *run.redop == call.call.op) &&
         run.software.algorithm == call.out_of_place.algorithm;
}

}  // namespace

std::uint32_t crowded_ranks(const std::vector<RankPlace>& places, const MachineFacts& facts) {
  std::map<std::string, std::uint32_t> ranks_of_host;
  std::uint32_t most = 0;
  for (const RankPlace& place : places) {
    if (place.gpu) {
      continue;
    }
    most = std::max(most, ++ranks_of_host[place.host]);
  }
  return most > facts.cores ? most : 0;
}

std::string render_measure(const MeasureCommand& command, const MeasurePlan& plan,
                           const std::vector<MeasuredLine>& lines, const MachineFacts& facts,
                           const std::vector<RankPlace>& places) {
  PerfHeader header = header_of(command, plan, facts, places);
  std::uint64_t emulated = 0;
  std::vector<PerfRow> rows;
  rows.reserve(lines.size());
  for (const MeasuredLine& line : lines) {
    rows.push_back(line.row);
    emulated = std::max(emulated, line.out_of_place.emulated_steps);
  }
  if (emulated > 0) {
    header.notes.push_back(
        fmt::format("emulated: {} of a call that NVLink's switch would take are loops over what "
                    "all ranks have sent",
                    counted(emulated, "step")));
  }
  std::string text =
      nccl_tests_header(header, "measured", device_lines(places, facts, command.is_tcp()));
  for (const PerfRow& row : rows) {
    text += nccl_tests_row(header, row);
  }
  text += nccl_tests_footer(header, rows);
  return plan.cluster.empty() ? text : text + comparison(plan, lines);
}

Measurements measurements_of(const MeasureCommand& command, const MeasurePlan& plan,
                             const std::vector<MeasuredLine>& lines, const MachineFacts& facts,
                             const std::vector<RankPlace>& places) {
  Measurements result;
  result.machine = facts.host;
  result.hardware.cpu = facts.cpu;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MeasureCall& call = plan.calls[i];
    auto run = std::ranges::find_if(result.runs,
                                    [&](const MeasuredRun& known) { return fits(known, call); });
    if (run == result.runs.end()) {
      result.runs.push_back(run_of(command, plan, call, facts, places));
      run = result.runs.end() - 1;
    }
    add_row(*run, call.call, lines[i].out_of_place, InPlace::No);
    if (lines[i].in_place) {
      add_row(*run, call.call, *lines[i].in_place, InPlace::Yes);
    }
  }
  return result;
}

}  // namespace collsim
