#include "validate/cuda/cuda_lanes.hpp"

#include <atomic>
#include <string>
#include <thread>

#include "kernels/launch.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

// CUDA's memory has no type.
template <class T>
T* as(std::byte* memory) {
  return reinterpret_cast<T*>(memory);  // NOLINT(*-reinterpret-cast)
}

void set_word(std::byte* memory, std::uint64_t value) {
  std::atomic_ref(*as<std::uint64_t>(memory)).store(value, std::memory_order_release);
}

}  // namespace

CudaLanes::CudaLanes(int device, const LaneProgram& program,
                     const std::vector<kernels::BlockTable>& blocks, std::uint32_t threads,
                     std::chrono::milliseconds patience)
    : device_(device),
      program_(program),
      blocks_(static_cast<std::uint32_t>(blocks.size())),
      threads_(threads),
      patience_(patience) {
  make_current();
  // Pinned memory has the same address on the host and on every GPU.
  abort_ = make_pinned_buffer(sizeof(std::uint64_t));
  set_word(abort_.get(), 0);
  const std::size_t bytes = blocks.size() * sizeof(kernels::BlockTable);
  tables_ = make_device_buffer(bytes);
  if (bytes > 0) {
    COLLSIM_CUDA_CHECK(cudaMemcpy(tables_.get(), blocks.data(), bytes, cudaMemcpyHostToDevice));
  }
  failure_ = make_device_buffer(sizeof(kernels::Failure));
  COLLSIM_CUDA_CHECK(cudaMemset(failure_.get(), 0, sizeof(kernels::Failure)));
  // Streams of ours do not wait for the default one's.
  COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  stream_ = make_stream();
  begin_ = make_event();
  end_ = make_event();
  launch_ =
      program_.launch(as<kernels::BlockTable>(tables_.get()), as<kernels::Failure>(failure_.get()),
                      as<std::uint64_t>(abort_.get()), patience);
}

CudaLanes::~CudaLanes() {
  set_word(abort_.get(), 1);
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaDeviceSynchronize());
}

void CudaLanes::make_current() const { COLLSIM_CUDA_CHECK(cudaSetDevice(device_)); }

void CudaLanes::begin() {
  make_current();
  COLLSIM_CUDA_CHECK(cudaEventRecord(begin_.get(), stream_.get()));
}

void CudaLanes::launch() {
  if (blocks_ > 0) {
    make_current();
    kernels::launch_interpreter(program_.type(), launch_, blocks_, threads_, stream_.get());
  }
}

void CudaLanes::end() {
  make_current();
  COLLSIM_CUDA_CHECK(cudaEventRecord(end_.get(), stream_.get()));
}

void CudaLanes::make_graph(std::uint32_t calls) {
  make_current();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  COLLSIM_CUDA_CHECK(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
  for (std::uint32_t call = 0; call < calls; ++call) {
    launch();
  }
  COLLSIM_CUDA_CHECK(cudaStreamEndCapture(stream_.get(), &graph));
  const CudaGraph owner(graph);
  COLLSIM_CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  graph_ = CudaGraphExec(ready);
  COLLSIM_CUDA_CHECK(cudaGraphUpload(ready, stream_.get()));
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
}

void CudaLanes::launch_graph() {
  make_current();
  COLLSIM_CUDA_CHECK(cudaGraphLaunch(graph_.get(), stream_.get()));
}

double CudaLanes::finish(const std::function<void()>& watch) {
  make_current();
  constexpr std::chrono::microseconds nap{50};
  while (watch && cudaStreamQuery(stream_.get()) == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    watch();
    std::this_thread::sleep_for(nap);
  }
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
  kernels::Failure failure{};
  COLLSIM_CUDA_CHECK(cudaMemcpy(&failure, failure_.get(), sizeof(failure), cudaMemcpyDeviceToHost));
  if (failure.claimed != 0) {
    throw ExecutionError("no progress for " + std::to_string(patience_.count()) +
                         " ms: " + program_.text_of(failure));
  }
  return milliseconds_between(begin_, end_);
}

}  // namespace collsim
