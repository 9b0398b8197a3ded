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

std::string device_lines(const std::vector<RankPlace>& places, const MachineFacts& facts,
                         bool is_tcp) {
  std::string text;
  std::map<std::string, std::uint32_t> ranks_of_host;
  for (const RankPlace& place : places) {
    PerfDevice line;
    line.rank = static_cast<std::uint32_t>(&place - places.data());
    line.process = place.process;
    line.host = place.host;
    // Without its function, which nccl-tests leaves out.
    line.bus = place.gpu ? place.gpu->bus.substr(0, place.gpu->bus.find('.')) : "";
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
  header.threads = command.in_processes() ? 1 : plan.ranks;
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
    if (command.backend == "nccl") {
      header.notes.emplace_back("NCCL_MULTI_RANK_GPU_ENABLE=1, which NCCL has for experiments");
    } else if (command.in_processes()) {
      header.notes.emplace_back("processes on one GPU take turns: so do their times");
    }
  }
  if (const std::uint32_t crowded = crowded_ranks(places, facts); crowded > 0) {
    header.notes.push_back(fmt::format("{} share {}: times are those of taking turns",
                                       counted(crowded, "rank"), counted(facts.cores, "core")));
  }
  return header;
}

/// How the programs were run, where that is not as they say.
void add_notes_of_lines(PerfHeader& header, const std::vector<MeasuredLine>& lines) {
  std::uint64_t emulated = 0;
  std::uint64_t replaced = 0;
  std::set<std::string> wires;
  for (const MeasuredLine& line : lines) {
    emulated = std::max(emulated, line.out_of_place.emulated_steps);
    replaced = std::max(replaced, line.out_of_place.replaced_lanes);
    wires.insert(line.out_of_place.wire);
  }
  wires.erase("");
  if (!wires.empty()) {
    header.notes.push_back(fmt::format("messages travel as {}", fmt::join(wires, " or ")));
  }
  if (replaced > 0) {
    header.notes.push_back(
        fmt::format("emulated: {} of a call that would run LL128 run as LL, which needs no NVLink",
                    counted(replaced, "lane")));
  }
  if (emulated > 0) {
    header.notes.push_back(
        fmt::format("emulated: {} of a call that NVLink's switch would take are loops over what "
                    "all ranks have sent",
                    counted(emulated, "step")));
  }
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

/// In the words that parse_launch knows.
std::string launch_of(const MeasureCommand& command, const std::vector<RankPlace>& places) {
  if (!command.is_gpu()) {
    return command.is_tcp() ? "process per rank" : "thread per rank";
  }
  const std::string processes = command.in_processes()
                                    ? "process per GPU"
                                    : fmt::format("single process -g {}", gpus_of(places));
  return command.gpu.graph ? processes + ", cuda graph" : processes;
}

/// Of one line: what is odd about how it was run.
std::string notes_of(const MeasurePlan& plan, const MeasuredLine& line, const MachineFacts& facts,
                     const std::vector<RankPlace>& places) {
  std::vector<std::string> notes;
  if (crowded_ranks(places, facts) > 0) {
    notes.emplace_back("more ranks than cores");
  }
  if (const std::uint32_t gpus = gpus_of(places); gpus > 0 && gpus < plan.ranks) {
    notes.push_back(fmt::format("{} on {}", counted(plan.ranks, "rank"), counted(gpus, "GPU")));
  }
  if (const ExecutionOutcome& outcome = line.out_of_place; !outcome.wire.empty()) {
    notes.push_back("wire " + outcome.wire +
                    (outcome.replaced_lanes > 0 ? " in place of LL128" : ""));
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

/// Without its rows and notes.
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
  run.software.launch = launch_of(command, places);
  run.source = fmt::format("collsim {} measure", COLLSIM_VERSION);
  run.date = facts.date;
  return run;
}

void add_row(MeasuredRun& run, const CollectiveCall& call, const ExecutionOutcome& outcome,
             InPlace place) {
  if (outcome.time > Duration(0)) {
    run.rows.push_back({call.size(), outcome.time, place, false});
  }
}

/// Whether the call belongs in the same table as those of the run.
bool fits(const MeasuredRun& run, const MeasureCall& call, const std::string& notes) {
  return run.notes == notes && run.type == call.call.type &&
         (!run.redop || *run.redop == call.call.op) &&
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
  std::vector<PerfRow> rows;
  rows.reserve(lines.size());
  for (const MeasuredLine& line : lines) {
    rows.push_back(line.row);
  }
  add_notes_of_lines(header, lines);
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
    const std::string notes = notes_of(plan, lines[i], facts, places);
    auto run = std::ranges::find_if(
        result.runs, [&](const MeasuredRun& known) { return fits(known, call, notes); });
    if (run == result.runs.end()) {
      result.runs.push_back(run_of(command, plan, call, facts, places));
      run = result.runs.end() - 1;
      run->notes = notes;
    }
    add_row(*run, call.call, lines[i].out_of_place, InPlace::No);
    if (lines[i].in_place) {
      add_row(*run, call.call, *lines[i].in_place, InPlace::Yes);
    }
  }
  return result;
}

}  // namespace collsim
