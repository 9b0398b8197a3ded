#include "tools/measure_gpus.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "tools/machine_facts.hpp"

namespace collsim {

void GpuSoftware::add_to(Measurements& measurements) const {
  if (!gpu.empty()) {
    measurements.hardware.gpu = gpu;
  }
  for (MeasuredRun& run : measurements.runs) {
    run.software.cuda = cuda;
    run.software.nccl = nccl;
  }
}

GpuBackend::GpuBackend(const MeasureCommand& command) : command_(command), facts_(require_gpus()) {
  if (command.backend != "nccl") {
    return;
  }
  nccl_ = require_nccl();
  if (!command.job.ranks && command.cluster.cluster.empty()) {
    command_.job.ranks = static_cast<std::uint32_t>(facts_.gpus.size());
  }
  // NCCL reads it when it makes its first communicator; what the user has set stays.
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
}

MeasurePlan GpuBackend::plan() const {
  MeasurePlan plan = measure_plan(command_);
  for (MeasureCall& call : plan.calls) {
    // What it compares with, where there is a cluster, has its own name.
    if (nccl_ && plan.cluster.empty()) {
      call.out_of_place.algorithm = "nccl";
      if (call.in_place) {
        call.in_place->algorithm = "nccl";
      }
    }
  }
  return plan;
}

Execute GpuBackend::execute(std::uint32_t ranks) {
  if (nccl_) {
    group_ = std::make_unique<NcclGroup>(ranks);
    return [this](const std::shared_ptr<const Program>& program, const ExecutionRequest& request) {
      return group_->execute(*program, request);
    };
  }
  CudaOptions options;
  options.graph = command_.gpu.graph;
  if (!command_.gpu.wire.empty()) {
    options.wire = command_.gpu.wire == "ll" ? LaneWire::Lines : LaneWire::Simple;
  }
  return [options](const std::shared_ptr<const Program>& program, const ExecutionRequest& request) {
    return execute_on_gpus(*program, request, options);
  };
}

std::vector<RankPlace> GpuBackend::places(std::uint32_t ranks) const {
  std::vector<RankPlace> places;
  places.reserve(ranks);
  for (const std::uint32_t gpu : gpu_of_ranks(ranks)) {
    places.push_back({machine_facts().host, static_cast<std::uint32_t>(getpid()),
                      RankGpu{gpu, facts_.gpus[gpu].name}});
  }
  return places;
}

GpuSoftware GpuBackend::software() const {
  return {facts_.gpus.front().name, facts_.runtime, nccl_ ? nccl_->version : ""};
}

}  // namespace collsim
