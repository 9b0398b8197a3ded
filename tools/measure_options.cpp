#include "tools/measure_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "tools/option_values.hpp"
#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim {

namespace {

void add_tcp_options(CLI::App& app, TcpOptions& options) {
  const char* const group = "Ranks as processes (tcp, cuda, nccl)";
  add_number(app, "--spawn", options.spawn, {1, 1024}, "start so many ranks on this machine")
      ->group(group);
  add_number(app, "--rank", options.rank, {}, "this process's rank (else as mpirun or Slurm say)")
      ->group(group);
  add_number(app, "--world-size", options.world_size, {1, 1U << 16U}, "ranks in all")->group(group);
  add_text(app, "--master", options.master, "HOST:PORT", "where rank 0 listens")->group(group);
  add_text(app, "--bind", options.bind, "ADDRESS",
           "of this machine, where the other ranks reach it")
      ->group(group);
  add_text(app, "--secret-file", options.secret_file, "FILE",
           "what all ranks know and nobody else; else the variable COLLSIM_SECRET")
      ->group(group);
}

void add_gpu_options(CLI::App& app, GpuOptions& options) {
  const char* const group = "Backend cuda";
  add_choice(
      app, "--wire", options.wire, {"simple", "ll", "ll128"},
      "how messages travel: data behind a fence and a count, or in lines with flags (else as "
      "the program says)")
      ->group(group);
  add_switch(app, "--cuda-graph", options.graph, "launch the timed calls as one CUDA graph")
      ->group(group);
}

void refuse_without_gpu(const MeasureCommand& command) {
  const std::array needs_cuda{std::pair(!command.gpu.wire.empty(), "--wire"),
                              std::pair(command.gpu.graph, "--cuda-graph")};
  for (const auto& [given, option] : needs_cuda) {
    if (given && command.backend != "cuda") {
      throw InputError("has no effect on the backend " + command.backend, option, "--backend cuda");
    }
  }
  if (command.backend == "nccl" && command.algorithm != "auto") {
    throw InputError("NCCL chooses for itself", "--algorithm",
                     "the variables NCCL_ALGO and NCCL_PROTO are NCCL's own way to force it");
  }
}

void refuse_without_processes(const MeasureCommand& command) {
  const TcpOptions& tcp = command.tcp;
  const std::array needs_tcp{std::pair(tcp.spawn.has_value(), "--spawn"),
                             std::pair(tcp.rank.has_value(), "--rank"),
                             std::pair(tcp.world_size.has_value(), "--world-size"),
                             std::pair(!tcp.master.empty(), "--master"),
                             std::pair(tcp.bind != "127.0.0.1", "--bind"),
                             std::pair(!tcp.secret_file.empty(), "--secret-file")};
  for (const auto& [given, option] : needs_tcp) {
    if (given && !command.is_tcp() && !command.is_gpu()) {
      throw InputError("has no effect on the backend " + command.backend, option, "--backend tcp");
    }
    if (given && !command.in_processes()) {
      throw InputError("has no effect where all ranks are in one process", option,
                       "--spawn N, or --rank, --world-size and --master");
    }
    if (given && tcp.spawn && std::string(option) != "--spawn") {
      throw InputError("has no effect with --spawn, which starts all ranks itself", option);
    }
  }
}

void refuse_beside_calibration(const MeasureCommand& command) {
  const std::set<std::string> used{"--calibrate-host", "--backend", "--output", "--ranks"};
  for (const std::string& option : command.given) {
    if (!used.contains(option) || (option == "--backend" && command.backend != "host")) {
      throw InputError("has no effect with --calibrate-host", option);
    }
  }
}

void refuse_without_cluster(const MeasureCommand& command) {
  for (const char* const option :
       {"--nodes", "--node-list", "--gpus-per-node", "--placement", "--protocol", "--parameters",
        "--network-parameters", "--tuner", "--env", "--nccl", "--set", "--config-dir", "--fold",
        "--network-model", "--max-transfers"}) {
    if (command.given.contains(option)) {
      throw InputError("has no effect without a cluster", option, "--cluster NAME");
    }
  }
  if (is_nccl_algorithm(command.algorithm)) {
    throw InputError("what NCCL would run depends on the machine: it needs a cluster",
                     "--algorithm", "--cluster NAME");
  }
}

}  // namespace

void add_measure_options(CLI::App& app, MeasureCommand& command) {
  add_job_options(app, command.job);
  app.get_option("COLLECTIVE")->required(false);
  add_algorithm_option(app, command.algorithm);
  add_choice(
      app, "--backend", command.backend, {"host", "tcp", "cuda", "nccl"},
      "what runs the program: host: threads of this machine; tcp: processes; cuda: kernels on "
      "GPUs; nccl: NCCL in its place")
      ->group("Job");
  add_text(app, "--seed", command.seed, "NAME", "names the random numbers that the data are")
      ->group("Job");
  add_text(app, "--inputs", command.inputs, "FILE",
           "run one call on these data instead, a list of numbers a rank as JSON, and show what "
           "comes out")
      ->group("Job");
  add_number(app, "--timeout", command.timeout, {1, 86'400},
             "seconds without any progress after which the run has failed")
      ->group("Job");
  add_switch(
      app, "--calibrate-host", command.calibrate_host,
      "measure this machine's memory and threads instead, and write a cluster that stands for "
      "the host backend")
      ->group("Job");
  add_tcp_options(app, command.tcp);
  add_gpu_options(app, command.gpu);
  add_cluster_options(app, command.cluster);
  app.get_option("--cluster")->required(false);
  add_nccl_run_options(app, command.nccl);
  add_size_options(app, command);
  add_iteration_options(app, command);
  add_number(app, "-c,--check", command.check, {0, 1}, "0: do not check the data")
      ->group("nccl-tests");
  add_kind_options(app, command);
  add_output_file_option(app, command.output);
}

std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) {
      const std::vector<std::string>& short_names = option->get_snames();
      const std::vector<std::string>& long_names = option->get_lnames();
      given.insert(!short_names.empty()  ? "-" + short_names.front()
                   : !long_names.empty() ? "--" + long_names.front()
                                         : option->get_single_name());
    }
  }
  return given;
}

void check_measure_options(const MeasureCommand& command) {
  if (command.calibrate_host) {
    refuse_beside_calibration(command);
    return;
  }
  if (command.job.collective.empty()) {
    throw InputError("missing COLLECTIVE", "", "see collsim measure --help");
  }
  if (!command.inputs.empty() && (command.backend != "host" || !command.cluster.cluster.empty())) {
    throw InputError("is for the backend host, without a cluster", "--inputs");
  }
  refuse_without_processes(command);
  refuse_without_gpu(command);
  if (command.cluster.cluster.empty()) {
    refuse_without_cluster(command);
  }
}

std::string contents_of(const std::string& file, const std::string& option, std::size_t most) {
  try {
    return read_file(file, most);
  } catch (const InputError& error) {
    const bool names_file = error.location().file.empty();
    throw InputError(names_file ? error.message() : in_quotes(file) + " is " + error.message(),
                     option, error.hint());
  }
}

}  // namespace collsim
