#include "tools/job_options.hpp"

#include <CLI/CLI.hpp>
#include <fstream>
#include <vector>

#include "tools/format_text.hpp"
#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

[[noreturn]] void unknown(const std::string& what, const std::string& text,
                          const std::vector<std::string>& accepted, const std::string& option) {
  const std::string close = nearest(text, accepted);
  throw InputError("unknown " + what + " \"" + text + "\"; expected " + one_of(accepted), option,
                   close.empty() ? "" : "did you mean " + close + "?");
}

std::vector<std::string> lines_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw InputError("\"" + path + "\" is neither block nor cyclic, nor a file that can be read",
                     "--placement");
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    lines.push_back(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
  }
  return lines;
}

}  // namespace

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("collective", options.collective,
                 "all_reduce, all_gather, … (`collsim list collectives`)")
      ->required();
  app.add_option("--nodes", options.nodes, "use the first N nodes")->type_name("N")->group("Job");
  app.add_option("--gpus-per-node", options.gpus_per_node, "use the first G GPUs of each node")
      ->type_name("G")
      ->group("Job");
  app.add_option("--ranks", options.ranks, "use R GPUs, filling nodes")
      ->type_name("R")
      ->group("Job");
  app.add_option("--placement", options.placement,
                 "order of ranks: block, cyclic, or a file with a GPU name a line")
      ->capture_default_str()
      ->group("Job");
  app.add_option("--channels", options.channels, "slices of the data that run side by side")
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str()
      ->group("Job");
  app.add_option("--chunks", options.chunks, "pieces of a slice that follow each other")
      ->check(CLI::Range(1U, 1U << 20U))
      ->capture_default_str()
      ->group("Job");
  app.add_option("--network-model", options.network_model,
                 "flow: links are shared fairly; ideal: no sharing")
      ->capture_default_str()
      ->group("Simulation");
  app.add_option("--protocol", options.protocol, "not modelled yet: refused")->group("Simulation");
  app.add_option("--max-transfers", options.max_transfers, "refuse larger simulations")
      ->capture_default_str()
      ->group("Simulation");
}

void add_call_options(CLI::App& app, CallOptions& options) {
  app.add_option("--bytes", options.bytes, "size as in nccl-tests: 8, 64K, 1G, 128MiB, 1GB")
      ->required()
      ->type_name("SIZE")
      ->group("Job");
  app.add_option("--datatype", options.datatype, "float, half, bfloat16, int8, …")
      ->capture_default_str()
      ->group("Job");
  app.add_option("--redop", options.redop, "sum, prod, min, max or avg")
      ->capture_default_str()
      ->group("Job");
  app.add_option("--root", options.root, "root rank of rooted collectives")
      ->capture_default_str()
      ->group("Job");
  app.add_flag("--out-of-place", options.out_of_place, "separate input and output buffers")
      ->group("Job");
}

CollectiveKind collective_of(const std::string& text) {
  if (const auto kind = parse_collective(text)) return *kind;
  unknown("collective", text, collective_names(), "COLLECTIVE");
}

DataType data_type_of(const std::string& text, const std::string& option) {
  if (const auto type = parse_data_type(text)) return *type;
  unknown("data type", text, data_type_names(), option);
}

ReductionOp reduction_of(const std::string& text, const std::string& option) {
  if (const auto op = parse_reduction(text)) return *op;
  unknown("reduction", text, reduction_names(), option);
}

Bytes size_of_option(const std::string& text, const std::string& option) {
  try {
    return parse_size_argument(text);
  } catch (const InputError& error) {
    throw InputError(error.message(), option, error.hint());
  }
}

NetworkModel network_model_of(const JobOptions& options) {
  if (options.network_model == "flow") return NetworkModel::flow;
  if (options.network_model == "ideal") return NetworkModel::ideal;
  if (options.network_model == "packet") {
    throw InputError("the packet model does not exist yet; expected flow or ideal",
                     "--network-model");
  }
  unknown("network model", options.network_model, {"flow", "ideal"}, "--network-model");
}

void refuse_protocol(const JobOptions& options) {
  if (options.protocol.empty()) return;
  throw InputError("protocols are not modelled yet (found \"" + options.protocol + "\")",
                   "--protocol", "leave the option out");
}

Communicator gpus_of(const Cluster& cluster, const JobOptions& options) {
  PlacementRequest request;
  request.nodes = options.nodes;
  request.gpus_per_node = options.gpus_per_node;
  request.ranks = options.ranks;
  if (options.placement == "cyclic") {
    request.order = Placement::cyclic;
  } else if (options.placement != "block") {
    request.order = Placement::listed;
    request.gpu_names = lines_of_file(options.placement);
  }
  return place_ranks(cluster.graph(), request);
}

std::string placement_name(const JobOptions& options) {
  const bool named = options.placement == "block" || options.placement == "cyclic";
  return named ? options.placement : "listed";
}

Rank root_of(std::uint32_t root, std::uint32_t ranks, const std::string& option) {
  if (root < ranks) return Rank(root);
  throw InputError(
      "there is no rank " + std::to_string(root) + ": ranks are 0 to " + std::to_string(ranks - 1),
      option);
}

CollectiveJob job_of(const Cluster& cluster, const JobOptions& options, const CallOptions& call,
                     Bytes& requested) {
  const CollectiveKind kind = collective_of(options.collective);
  refuse_protocol(options);
  CollectiveJob job;
  job.gpus = gpus_of(cluster, options);
  requested = size_of_option(call.bytes, "--bytes");
  const auto ranks = static_cast<std::uint32_t>(job.gpus.size());
  job.call = call_for_size(kind, ranks, requested, data_type_of(call.datatype, "--datatype"));
  job.call.op = reduction_of(call.redop, "--redop");
  job.call.root = root_of(call.root, ranks, "--root");
  job.call.in_place = call.out_of_place || !allows_in_place(kind) ? InPlace::no : InPlace::yes;
  job.channels = options.channels;
  job.chunks = options.chunks;
  return job;
}

void require_within_limit(const Program& program, std::uint64_t iterations,
                          const JobOptions& options) {
  const std::uint64_t transfers = program.transfer_count();
  if (iterations == 0 || transfers <= options.max_transfers / iterations) return;
  throw InputError("the simulation needs " + grouped(transfers) + " transfers" +
                       (iterations > 1 ? " times " + grouped(iterations) + " iterations" : "") +
                       ", more than " + grouped(options.max_transfers),
                   "--max-transfers",
                   "fewer --channels, --chunks or iterations, a subset of the GPUs with --ranks, "
                   "another --algorithm, or a higher limit");
}

}  // namespace collsim
