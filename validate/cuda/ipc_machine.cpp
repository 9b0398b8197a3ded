#include "validate/cuda/ipc_machine.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/launch.hpp"
#include "topology/error.hpp"
#include "validate/cuda/cuda_execution.hpp"
#include "validate/cuda/lane_group.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

constexpr std::string_view gpu_word = "GPU ";

std::string gpu_text(int device) { return std::string(gpu_word) + bus_of_gpu(device); }

Duration duration_of(double milliseconds) {
  constexpr double picoseconds = 1e9;
  return Duration(std::llround(milliseconds * picoseconds));
}

}  // namespace

IpcMachine::~IpcMachine() {
  // Nothing may run that uses the others' memory.
  lanes_.reset();
  static_cast<void>(cudaSetDevice(device_));
  for (void* const memory : others_) {
    static_cast<void>(cudaIpcCloseMemHandle(memory));
  }
}

std::byte* IpcMachine::make_arena(std::size_t bytes) {
  // A handle maps whole pages of 2 MiB: nothing else of this process shall lie in them.
  constexpr std::size_t page = std::size_t{2} << 20U;
  const std::size_t size = (bytes + page - 1) / page * page;
  COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
  void* memory = nullptr;
  require_allocated(cudaMalloc(&memory, size), device_, rank_, size);
  arena_ = DeviceBuffer(static_cast<std::byte*>(memory));
  COLLSIM_CUDA_CHECK(cudaMemset(memory, 0, size));
  COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  return arena_.get();
}

std::string IpcMachine::arena_handle() const {
  cudaIpcMemHandle_t handle{};
  COLLSIM_CUDA_CHECK(cudaIpcGetMemHandle(&handle, arena_.get()));
  std::string text(sizeof(handle), '\0');
  std::memcpy(text.data(), &handle, sizeof(handle));
  return text;
}

std::byte* IpcMachine::open_arena(const std::string& handle, std::size_t /*bytes*/) {
  cudaIpcMemHandle_t opened{};
  if (handle.size() != sizeof(opened)) {
    throw ExecutionError("a peer sent no handle of its GPU's memory");
  }
  std::memcpy(&opened, handle.data(), sizeof(opened));
  COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
  void* memory = nullptr;
  const cudaError_t answer = cudaIpcOpenMemHandle(&memory, opened, cudaIpcMemLazyEnablePeerAccess);
  if (answer == cudaErrorPeerAccessUnsupported) {
    static_cast<void>(cudaGetLastError());
    throw InputError("GPU " + std::to_string(device_) +
                         " cannot use the memory of another rank's GPU (no peer access)",
                     "--backend", "--backend nccl, or all ranks in one process");
  }
  COLLSIM_CUDA_CHECK(answer);
  others_.push_back(memory);
  return static_cast<std::byte*>(memory);
}

void IpcMachine::close_arenas() {
  lanes_.reset();
  COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
  for (void* const memory : std::exchange(others_, {})) {
    COLLSIM_CUDA_CHECK(cudaIpcCloseMemHandle(memory));
  }
}

void IpcMachine::write(std::byte* to, std::span<const std::byte> from) {
  if (!from.empty()) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
    COLLSIM_CUDA_CHECK(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
    // Streams of ours do not wait for the default one's.
    COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void IpcMachine::read(std::span<std::byte> to, const std::byte* from) {
  if (!to.empty()) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
    COLLSIM_CUDA_CHECK(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost));
  }
}

void IpcMachine::fill(std::span<std::byte> memory, std::byte pattern) {
  if (!memory.empty()) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
    COLLSIM_CUDA_CHECK(cudaMemset(memory.data(), std::to_integer<int>(pattern), memory.size()));
    COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  }
}

BlockRoom IpcMachine::room(DataType type) const {
  COLLSIM_CUDA_CHECK(cudaSetDevice(device_));
  return {gpu_text(device_), kernels::resident_blocks(type, options_.threads)};
}

WideLines IpcMachine::wide_lines_to(const std::vector<std::string>& devices) const {
  const std::string own = gpu_text(device_);
  for (const std::string& device : devices) {
    if (device == own) {
      continue;
    }
    int peer = 0;
    // What this process does not see, it knows nothing of.
    if (cudaDeviceGetByPCIBusId(&peer, device.substr(gpu_word.size()).c_str()) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return WideLines::Torn;
    }
    if (wide_lines_between(device_, peer) == WideLines::Torn) {
      return WideLines::Torn;
    }
  }
  return WideLines::Carried;
}

void IpcMachine::load(const LaneProgram& program, const std::vector<kernels::BlockTable>& blocks,
                      std::chrono::milliseconds patience) {
  lanes_ = std::make_unique<CudaLanes>(device_, program, blocks, options_.threads, patience);
}

Duration IpcMachine::run(std::uint32_t calls, const std::function<void()>& watch) {
  lanes_->begin();
  for (std::uint32_t call = 0; call < calls; ++call) {
    lanes_->launch();
  }
  lanes_->end();
  return duration_of(lanes_->finish(watch));
}

Duration IpcMachine::run_timed(std::uint32_t calls, const std::function<void()>& watch) {
  if (!options_.graph) {
    return run(calls, watch);
  }
  lanes_->make_graph(calls);
  lanes_->begin();
  lanes_->launch_graph();
  lanes_->end();
  return duration_of(lanes_->finish(watch));
}

ExecutionOutcome execute_on_gpus(const Program& program, const ExecutionRequest& request,
                                 const CudaOptions& options, ProcessGroup& group,
                                 std::uint32_t gpu) {
  IpcMachine machine(Rank(group.rank()), static_cast<int>(gpu), options);
  return execute_in_group(program, request, options.wire, group, machine);
}

}  // namespace collsim
