#include "validate/cuda/cuda_execution.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/launch.hpp"
#include "topology/error.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

struct CudaExecution::Device {
  int device = 0;
  std::uint32_t blocks = 0;
  DeviceBuffer block_tables;
  DeviceBuffer failure;
  CudaStream stream;
  CudaEvent begin;
  CudaEvent end;
  kernels::LaunchTable launch{};
};

CudaExecution::CudaExecution(const Program& program, const CudaOptions& options,
                             std::chrono::milliseconds patience)
    : program_(program, options.wire), options_(options), patience_(patience) {
  place_ranks();
  for (Device& device : devices_) {
    make_blocks(device);
  }
}

CudaExecution::~CudaExecution() {
  // Memory must not go while a kernel that failed elsewhere still runs.
  for (const Device& device : devices_) {
    static_cast<void>(cudaSetDevice(device.device));
    static_cast<void>(cudaDeviceSynchronize());
  }
}

void CudaExecution::place_ranks() {
  const std::vector<std::uint32_t> gpus = gpu_of_ranks(program_.ranks());
  const std::uint32_t used = gpus.empty() ? 0 : gpus.back() + 1;
  for (std::uint32_t i = 0; i < used; ++i) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(static_cast<int>(i)));
    for (std::uint32_t peer = 0; peer < used; ++peer) {
      if (peer == i) {
        continue;
      }
      const cudaError_t answer = cudaDeviceEnablePeerAccess(static_cast<int>(peer), 0);
      if (answer == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());
      } else {
        COLLSIM_CUDA_CHECK(answer);
      }
    }
    Device device;
    device.device = static_cast<int>(i);
    devices_.push_back(std::move(device));
  }
  for (std::uint32_t i = 0; i < program_.ranks(); ++i) {
    const Rank rank(i);
    const auto device = static_cast<int>(gpus[i]);
    COLLSIM_CUDA_CHECK(cudaSetDevice(device));
    void* memory = nullptr;
    const cudaError_t answer = cudaMalloc(&memory, program_.arena_bytes(rank));
    if (answer == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw InputError("the memory of GPU " + std::to_string(device) + " does not suffice: rank " +
                           std::to_string(i) + " needs " +
                           std::to_string(program_.arena_bytes(rank)) + " bytes more",
                       {}, "a smaller -e, or fewer --ranks");
    }
    COLLSIM_CUDA_CHECK(answer);
    arenas_.emplace_back(static_cast<std::byte*>(memory));
    std::byte* const start = arenas_.back().get();
    starts_.push_back(start);
    ranks_.push_back({device,
                      {start, program_.memory_bytes(rank)},
                      {start + program_.input_at(rank), program_.input_bytes(rank)},
                      {start + program_.output_at(rank), program_.output_bytes(rank)}});
  }
  for (std::uint32_t i = 0; i < program_.ranks(); ++i) {
    const Rank rank(i);
    COLLSIM_CUDA_CHECK(cudaSetDevice(ranks_[i].device));
    const std::size_t zeros = program_.zeros_at(rank);
    COLLSIM_CUDA_CHECK(cudaMemset(starts_[i] + zeros, 0, program_.tables_at(rank) - zeros));
    const std::vector<std::byte> tables = program_.tables(rank, starts_);
    COLLSIM_CUDA_CHECK(cudaMemcpy(starts_[i] + program_.tables_at(rank), tables.data(),
                                  tables.size(), cudaMemcpyHostToDevice));
    COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void CudaExecution::make_blocks(Device& device) const {
  std::vector<kernels::BlockTable> blocks;
  for (std::uint32_t i = 0; i < program_.ranks(); ++i) {
    if (ranks_[i].device == device.device) {
      const auto of_rank = program_.blocks(Rank(i), starts_[i]);
      blocks.insert(blocks.end(), of_rank.begin(), of_rank.end());
    }
  }
  COLLSIM_CUDA_CHECK(cudaSetDevice(device.device));
  const std::uint32_t resident = kernels::resident_blocks(program_.type(), options_.threads);
  if (blocks.size() > resident) {
    throw InputError("the ranks of GPU " + std::to_string(device.device) + " have " +
                         std::to_string(blocks.size()) + " lanes, of which it can run " +
                         std::to_string(resident) +
                         " at once: the rest would be waited for without end",
                     {}, "fewer --ranks or --channels");
  }
  device.blocks = static_cast<std::uint32_t>(blocks.size());
  const std::size_t bytes = blocks.size() * sizeof(kernels::BlockTable);
  device.block_tables = make_device_buffer(bytes);
  if (bytes > 0) {
    COLLSIM_CUDA_CHECK(
        cudaMemcpy(device.block_tables.get(), blocks.data(), bytes, cudaMemcpyHostToDevice));
  }
  device.failure = make_device_buffer(sizeof(kernels::Failure));
  COLLSIM_CUDA_CHECK(cudaMemset(device.failure.get(), 0, sizeof(kernels::Failure)));
  COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  device.stream = make_stream();
  device.begin = make_event();
  device.end = make_event();
  const auto nanoseconds = std::chrono::nanoseconds(patience_).count();
  // NOLINTBEGIN(*-reinterpret-cast): cudaMalloc's memory has no type
  device.launch = program_.launch(reinterpret_cast<kernels::BlockTable*>(device.block_tables.get()),
                                  reinterpret_cast<kernels::Failure*>(device.failure.get()),
                                  static_cast<std::uint64_t>(nanoseconds));
  // NOLINTEND(*-reinterpret-cast)
}

/// Requires: the device is current.
void CudaExecution::launch(const Device& device, std::uint32_t calls) const {
  for (std::uint32_t call = 0; call < calls && device.blocks > 0; ++call) {
    kernels::launch_interpreter(program_.type(), device.launch, device.blocks, options_.threads,
                                device.stream.get());
  }
}

Duration CudaExecution::run(std::uint32_t calls) {
  for (Device& device : devices_) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device.device));
    COLLSIM_CUDA_CHECK(cudaEventRecord(device.begin.get(), device.stream.get()));
  }
  // Call by call: a GPU whose queue is full waits for a call that all others have been given.
  for (std::uint32_t call = 0; call < calls; ++call) {
    for (Device& device : devices_) {
      COLLSIM_CUDA_CHECK(cudaSetDevice(device.device));
      launch(device, 1);
    }
  }
  return finish();
}

Duration CudaExecution::run_graph(std::uint32_t calls) {
  std::vector<CudaGraphExec> graphs;
  graphs.reserve(devices_.size());
  for (Device& device : devices_) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device.device));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    COLLSIM_CUDA_CHECK(
        cudaStreamBeginCapture(device.stream.get(), cudaStreamCaptureModeThreadLocal));
    launch(device, calls);
    COLLSIM_CUDA_CHECK(cudaStreamEndCapture(device.stream.get(), &graph));
    const CudaGraph owner(graph);
    COLLSIM_CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
    graphs.emplace_back(ready);
    COLLSIM_CUDA_CHECK(cudaGraphUpload(ready, device.stream.get()));
    COLLSIM_CUDA_CHECK(cudaStreamSynchronize(device.stream.get()));
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(devices_[i].device));
    COLLSIM_CUDA_CHECK(cudaEventRecord(devices_[i].begin.get(), devices_[i].stream.get()));
    COLLSIM_CUDA_CHECK(cudaGraphLaunch(graphs[i].get(), devices_[i].stream.get()));
  }
  return finish();
}

Duration CudaExecution::finish() {
  for (Device& device : devices_) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device.device));
    COLLSIM_CUDA_CHECK(cudaEventRecord(device.end.get(), device.stream.get()));
  }
  double milliseconds = 0;
  for (Device& device : devices_) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device.device));
    COLLSIM_CUDA_CHECK(cudaStreamSynchronize(device.stream.get()));
    kernels::Failure failure{};
    COLLSIM_CUDA_CHECK(
        cudaMemcpy(&failure, device.failure.get(), sizeof(failure), cudaMemcpyDeviceToHost));
    if (failure.claimed != 0) {
      throw ExecutionError("no progress for " + std::to_string(patience_.count()) +
                           " ms: " + program_.text_of(failure));
    }
    milliseconds += milliseconds_between(device.begin, device.end);
  }
  constexpr double picoseconds = 1e9;
  return Duration(std::llround(milliseconds * picoseconds / static_cast<double>(devices_.size())));
}

ExecutionOutcome execute_on_gpus(const Program& program, const ExecutionRequest& request,
                                 const CudaOptions& options) {
  TestData data(program.call(), request.seed);
  CudaExecution execution(program, options, request.patience);
  ExecutionOutcome outcome;
  outcome.emulated_steps = execution.emulated_steps();
  if (request.check) {
    fill_gpu_ranks(execution.ranks(), data);
  }
  execution.run(request.warmup);
  const Duration time =
      options.graph ? execution.run_graph(request.timed) : execution.run(request.timed);
  outcome.time = time / request.timed;
  if (request.check) {
    fill_gpu_ranks(execution.ranks(), data);
    execution.run(1);
    outcome.wrong = check_gpu_ranks(execution.ranks(), data);
  }
  return outcome;
}

}  // namespace collsim
