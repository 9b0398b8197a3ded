#include "tools/measure_gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tools/machine_facts.hpp"
#include "topology/error.hpp"
#include "validate/cuda/lane_group.hpp"

namespace collsim {

namespace {

/// Since 2.30.3 it lets ranks share a GPU.
constexpr const char* sharing_variable = "NCCL_MULTI_RANK_GPU_ENABLE";

}  // namespace

void GpuSoftware::add_to(Measurements& measurements) const {
  if (!gpu.empty()) {
    measurements.hardware.gpu = gpu;
  }
  for (MeasuredRun& run : measurements.runs) {
    run.software.cuda = cuda;
    run.software.nccl = nccl;
    run.software.environment.insert(run.software.environment.end(), environment.begin(),
                                    environment.end());
  }
}

MeasurePlan gpu_plan(const MeasureCommand& command) {
  MeasurePlan plan = measure_plan(command);
  for (MeasureCall& call : plan.calls) {
    // What it compares with, where there is a cluster, has its own name.
    if (command.backend == "nccl" && plan.cluster.empty()) {
      call.out_of_place.algorithm = "nccl";
      if (call.in_place) {
        call.in_place->algorithm = "nccl";
      }
    }
  }
  return plan;
}

GpuBackend::GpuBackend(const MeasureCommand& command) : command_(command), facts_(require_gpus()) {
  if (command.backend != "nccl") {
    return;
  }
  nccl_ = require_nccl();
  if (!command.job.ranks && command.cluster.cluster.empty()) {
    command_.job.ranks = static_cast<std::uint32_t>(facts_.gpus.size());
  }
}

/// NCCL reads it when it makes its first communicator; what the user has set stays.
void GpuBackend::let_ranks_share() {
  setenv(sharing_variable, "1", 0);
  ranks_share_ = true;
}

CudaOptions GpuBackend::options() const {
  CudaOptions options;
  options.graph = command_.gpu.graph;
  if (!command_.gpu.wire.empty()) {
    options.wire = command_.gpu.wire == "ll"      ? LaneWire::Lines
                   : command_.gpu.wire == "ll128" ? LaneWire::WideLines
                                                  : LaneWire::Simple;
  }
  return options;
}

Execute GpuBackend::by_nccl() const {
  return [this](const std::shared_ptr<const Program>& program, const ExecutionRequest& request) {
    return group_->execute(*program, request);
  };
}

Execute GpuBackend::execute(std::uint32_t ranks) {
  if (nccl_) {
    if (gpus_of(places(ranks)) < ranks) {
      let_ranks_share();
    }
    group_ = std::make_unique<NcclGroup>(ranks);
    return by_nccl();
  }
  return [options = options()](const std::shared_ptr<const Program>& program,
                               const ExecutionRequest& request) {
    return execute_on_gpus(*program, request, options);
  };
}

std::vector<RankPlace> GpuBackend::places(std::uint32_t ranks) const {
  std::vector<RankPlace> places;
  places.reserve(ranks);
  const std::string host = machine_facts().host;
  for (const std::uint32_t gpu : gpu_of_ranks(ranks, use())) {
    places.push_back(place_here(host));
    places.back().gpu = RankGpu{gpu, facts_.gpus[gpu].bus, facts_.gpus[gpu].name};
  }
  return places;
}

RankGpu GpuBackend::take_gpu(ProcessGroup& group) {
  const std::vector<std::string> hosts = group.exchange(machine_facts().host);
  if (!nccl_) {
    require_one_host(hosts);
  }
  gpu_ = gpu_of_process(hosts, group.rank(), use());
  return {gpu_, facts_.gpus[gpu_].bus, facts_.gpus[gpu_].name};
}

void GpuBackend::require_places(const std::vector<RankPlace>& places) {
  const std::uint32_t gpus = gpus_of(places);
  if (!nccl_ || gpus == places.size()) {
    return;
  }
  if (!nccl_->several_a_gpu) {
    throw InputError("NCCL " + nccl_->version +
                         " runs one rank a GPU (several since 2.30.3), and there are fewer GPUs "
                         "than ranks: " +
                         std::to_string(gpus) + " for " + std::to_string(places.size()),
                     "--backend", "fewer processes on each machine");
  }
  let_ranks_share();
}

Execute GpuBackend::execute(ProcessGroup& group) {
  if (nccl_) {
    group_ = std::make_unique<NcclGroup>(group, gpu_, std::chrono::seconds(command_.timeout));
    return by_nccl();
  }
  return [options = options(), &group, gpu = gpu_](const std::shared_ptr<const Program>& program,
                                                   const ExecutionRequest& request) {
    return execute_on_gpus(*program, request, options, group, gpu);
  };
}

GpuSoftware GpuBackend::software() const {
  GpuSoftware software{facts_.gpus.front().name, facts_.runtime, nccl_ ? nccl_->version : "", {}};
  if (ranks_share_) {
    const char* const value = std::getenv(sharing_variable);
    software.environment.emplace_back(sharing_variable, value == nullptr ? "" : value);
  }
  return software;
}

}  // namespace collsim
