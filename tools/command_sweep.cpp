
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "study/io/read_experiment.hpp"
#include "tools/cli.hpp"
#include "tools/cluster_options.hpp"
#include "tools/file_writer.hpp"
#include "tools/format_text.hpp"
#include "tools/option_values.hpp"
#include "tools/output.hpp"
#include "tools/points_file.hpp"
#include "tools/render_sweep.hpp"
#include "tools/sweep_check.hpp"
#include "tools/sweep_point.hpp"
#include "tools/sweep_processes.hpp"
#include "tools/sweep_progress.hpp"
#include "tools/sweep_results.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

struct SweepCommand {
  ClusterOptions config;  ///< --config-dir
  OutputOptions output;
  std::string experiment;
  std::string points;
  std::string plot;
  std::optional<std::uint32_t> jobs;
  bool resume = false;
  bool overwrite = false;
};

/// What the process that leads has besides the others.
struct Prepared {
  LoadedExperiment loaded;
  std::string digest;
  std::unique_ptr<PointsFile> file;  ///< null in the others
};

void refuse_contradictions(const SweepCommand& command) {
  if (command.resume && command.overwrite) {
    throw InputError("contradicts --resume", "--overwrite", "give one of them");
  }
  if (!command.plot.empty()) {
    refuse_overwriting("--plot", command.plot, command.output);
  }
}

void refuse_same(const char* option, const std::string& path, const std::string& other,
                 const std::string& file) {
  if (same_file(path, file)) {
    throw InputError("is the file of " + other + ": the one would overwrite the other", option);
  }
}

/// Before anything runs: the experiment and the points are kept, and what comes out in the end has a place.
void check_files(const SweepCommand& command, const std::string& experiment,
                 const std::string& points) {
  refuse_same("--points", points, "EXPERIMENT", experiment);
  for (const auto& [option, path] :
       {std::pair("--plot", command.plot), std::pair("--output", command.output.file)}) {
    if (path.empty() || path == "-") {
      continue;
    }
    refuse_same(option, path, "EXPERIMENT", experiment);
    refuse_same(option, path, "--points", points);
    require_writable(option, path);
  }
}

Prepared prepare(const SweepCommand& command, bool leads) {
  refuse_contradictions(command);
  Prepared prepared;
  prepared.loaded = load_experiment(command.experiment, config_path(command.config));
  const LoadedExperiment& loaded = prepared.loaded;
  if (!command.plot.empty() && !loaded.experiment.plot) {
    throw InputError("the experiment " + in_quotes(loaded.experiment.name) + " says no plot",
                     "--plot", "plot: { kind: lines, x: …, y: … }");
  }
  prepared.digest = digest_of(loaded.experiment, loaded.points, COLLSIM_VERSION);
  if (leads) {
    const std::string stem = std::filesystem::path(loaded.file).stem().string();
    const ExistingPoints existing = command.resume      ? ExistingPoints::Resume
                                    : command.overwrite ? ExistingPoints::Overwrite
                                                        : ExistingPoints::Refuse;
    const std::string points = command.points.empty() ? stem + ".points.jsonl" : command.points;
    check_files(command, loaded.file, points);
    std::error_code ignored;
    if (!(command.resume && std::filesystem::exists(points, ignored))) {
      require_a_possible_point(loaded, command.config.config_directory);
    }
    prepared.file =
        std::make_unique<PointsFile>(points,
                                     PointsHeader{loaded.experiment.name, COLLSIM_VERSION,
                                                  prepared.digest, loaded.points.size()},
                                     existing);
  }
  return prepared;
}

SweepWork work_of(const SweepCommand& command, const LoadedExperiment& loaded,
                  std::size_t processes) {
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  SweepWork work;
  work.workers = command.jobs.value_or(processes > 1 ? 1 : cores);
  work.make_worker = [&command, &loaded] {
    const auto runner = std::make_shared<PointRunner>(loaded, command.config.config_directory);
    return [runner](std::size_t index) { return runner->run(index); };
  };
  return work;
}

void simulate(const SweepCommand& command, SweepProcesses& processes, Prepared& prepared,
              const SweepWork& work) {
  const std::size_t all = prepared.loaded.points.size();
  PointsFile& file = *prepared.file;
  std::vector<std::size_t> points;
  for (std::size_t point = 0; point < all; ++point) {
    if (!file.has(point)) {
      points.push_back(point);
    }
  }
  if (all > points.size()) {
    note(command.output,
         counted(all - points.size(), "point") + " of " + grouped(all) + " were there already");
  }
  SweepProgress progress(command.output, all, all - points.size());
  processes.lead(work, points, [&](const FinishedLine& line) {
    const bool failed = tells_failure(line.line);
    file.append(line.index, line.line);
    progress.add(failed);
  });
}

std::string render(const SweepCommand& command, const SweepResults& results) {
  switch (command.output.format()) {
    case Format::Json:
      return render_sweep_json(results);
    case Format::Csv:
      return render_sweep_csv(results);
    case Format::Table:
      break;
  }
  return render_sweep(results);
}

Exit exit_of(const SweepResults& results) {
  const bool has_bug = std::ranges::any_of(results.points, [](const PointResult& point) {
    return point.exit_code == static_cast<int>(Exit::Bug);
  });
  if (has_bug) {
    return Exit::Bug;
  }
  return results.failures() > 0 ? Exit::CheckFailed : Exit::Done;
}

Exit sweep(const SweepCommand& command) {
  SweepProcesses processes;
  std::optional<Prepared> prepared;
  std::exception_ptr failure;
  try {
    prepared.emplace(prepare(command, processes.leads()));
  } catch (const InputError&) {
    failure = std::current_exception();
  }
  const bool agreed = processes.agree(prepared ? prepared->digest : "");
  if (!processes.leads()) {
    // The one that leads says what is wrong, and ends with the code: mpirun kills all when the first one fails.
    if (agreed) {
      processes.follow(work_of(command, prepared->loaded, processes.count()));
    }
    return Exit::Done;
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  if (!agreed) {
    throw InputError("the processes that MPI began do not read the same experiment", "EXPERIMENT",
                     "it must be on all machines, the same");
  }
  simulate(command, processes, *prepared, work_of(command, prepared->loaded, processes.count()));
  const SweepResults results =
      results_of(prepared->loaded, prepared->digest,
                 [&file = *prepared->file](std::size_t point) { return file.line(point); });
  const std::string text = render(command, results);
  if (!command.plot.empty()) {
    const SweepPlot plot = plot_sweep(results);
    if (!plot.note.empty()) {
      note(command.output, plot.note);
    }
    write_file("--plot", command.plot, plot.svg);
  }
  write_output(command.output, text);
  return exit_of(results);
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& chosen) {
  const auto command = std::make_shared<SweepCommand>();
  CLI::App* sub = app.add_subcommand(
      "sweep", "an experiment: a grid of runs on all cores, or on all machines under mpirun");
  add_text(*sub, "EXPERIMENT", command->experiment, "",
           "a name (`collsim list experiments`) or a YAML file")
      ->required();
  add_config_directory(*sub, command->config);
  add_text(*sub, "--points", command->points, "FILE",
           "where points are kept as they become finished (default: EXPERIMENT.points.jsonl)")
      ->group("Simulation");
  add_switch(*sub, "--resume", command->resume, "go on with the points that are in that file")
      ->group("Simulation");
  add_switch(*sub, "--overwrite", command->overwrite, "begin anew where there are points already")
      ->group("Simulation");
  add_number(*sub, "--jobs", command->jobs, {1, 4096},
             "points at a time in each process (default: as many as there are cores; 1 under "
             "mpirun)")
      ->group("Simulation");
  add_text(*sub, "--plot", command->plot, "FILE", "draw the experiment's plot as SVG")
      ->group("Output");
  add_output_options(*sub, command->output);
  sub->footer(
      "Examples:\n"
      "  collsim sweep oversubscription --plot oversubscription.svg\n"
      "  mpirun -n 64 collsim sweep my_grid.yaml --resume --format csv");
  sub->callback([command, &chosen] { chosen = [command] { return sweep(*command); }; });
}

}  // namespace collsim
