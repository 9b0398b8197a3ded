// What a launch costs.

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/benchmarks.hpp"
#include "kernels/cuda_handles.hpp"

namespace collsim::kernels {

namespace {

constexpr int launches = 1000;

__global__ void do_nothing() {}

void enqueue(int count, cudaStream_t stream) {
  for (int i = 0; i < count; ++i) {
    do_nothing<<<1, 32, 0, stream>>>();
  }
  COLLSIM_CUDA_CHECK(cudaGetLastError());
}

CudaGraphExec graph_of(int count, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  COLLSIM_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue(count, stream);
  COLLSIM_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  const CudaGraph owner(graph);
  COLLSIM_CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CudaGraphExec result(ready);
  COLLSIM_CUDA_CHECK(cudaGraphUpload(ready, stream));
  return result;
}

}  // namespace

double launch_latency(LaunchBy by) {
  const CudaStream stream = make_stream();
  const CudaGraphExec graph = by == LaunchBy::Graph ? graph_of(1, stream.get()) : CudaGraphExec();
  std::vector<double> nanoseconds;
  nanoseconds.reserve(launches);
  for (int i = 0; i < launches; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (graph) {
      COLLSIM_CUDA_CHECK(cudaGraphLaunch(graph.get(), stream.get()));
    } else {
      enqueue(1, stream.get());
    }
    COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    nanoseconds.push_back(time.count());
  }
  const auto middle = nanoseconds.begin() + launches / 2;
  std::nth_element(nanoseconds.begin(), middle, nanoseconds.end());
  return *middle;
}

double launch_time(LaunchBy by) {
  const CudaStream stream = make_stream();
  const CudaEvent begin = make_event();
  const CudaEvent end = make_event();
  CudaGraphExec graph;
  if (by == LaunchBy::Graph) {
    graph = graph_of(launches, stream.get());
  }
  const auto enqueue_all = [&] {
    if (graph) {
      COLLSIM_CUDA_CHECK(cudaGraphLaunch(graph.get(), stream.get()));
    } else {
      enqueue(launches, stream.get());
    }
  };
  enqueue_all();
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  COLLSIM_CUDA_CHECK(cudaEventRecord(begin.get(), stream.get()));
  enqueue_all();
  COLLSIM_CUDA_CHECK(cudaEventRecord(end.get(), stream.get()));
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  return milliseconds_between(begin, end) * 1e6 / launches;
}

}  // namespace collsim::kernels
