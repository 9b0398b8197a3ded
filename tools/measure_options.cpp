#include "tools/measure_options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "tools/option_values.hpp"
#include "topology/error.hpp"

namespace collsim {

void add_measure_options(CLI::App& app, MeasureCommand& command) {
  add_job_options(app, command.job);
  add_algorithm_option(app, command.algorithm);
  add_choice(app, "--backend", command.backend, {"host", "cuda", "nccl"},
             "what runs the program: host: threads of this machine")
      ->group("Job");
  add_text(app, "--seed", command.seed, "NAME", "names the random numbers that the data are")
      ->group("Job");
  add_number(app, "--timeout", command.timeout, {1, 86'400},
             "seconds without any progress after which the run has failed")
      ->group("Job");
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

void check_measure_options(const MeasureCommand& command) {
  if (command.backend == "cuda" || command.backend == "nccl") {
    throw InputError(
        command.backend == "cuda"
            ? "this program was built without CUDA: it has no kernels to run on a GPU"
            : "this program was built without CUDA, which NCCL needs for its buffers and streams",
        "--backend", "--backend host runs the same programs on threads of this machine");
  }
  if (!command.cluster.cluster.empty()) {
    return;
  }
  const JobOptions& job = command.job;
  const std::array needs_cluster{
      std::pair(job.nodes.has_value(), "--nodes"),
      std::pair(!job.node_list.empty(), "--node-list"),
      std::pair(job.gpus_per_node.has_value(), "--gpus-per-node"),
      std::pair(job.placement != "block", "--placement"),
      std::pair(!job.protocol.empty(), "--protocol"),
      std::pair(!command.nccl.parameters.empty(), "--parameters"),
      std::pair(!command.nccl.network_parameters.empty(), "--network-parameters"),
      std::pair(!command.nccl.tuner.empty(), "--tuner"),
      std::pair(!command.nccl.nccl.environment.empty(), "--env"),
      std::pair(!command.cluster.settings.empty(), "--set")};
  for (const auto& [given, option] : needs_cluster) {
    if (given) {
      throw InputError("has no effect without a cluster", option, "--cluster NAME");
    }
  }
  if (is_nccl_algorithm(command.algorithm)) {
    throw InputError("what NCCL would run depends on the machine: it needs a cluster",
                     "--algorithm", "--cluster NAME");
  }
}

}  // namespace collsim
