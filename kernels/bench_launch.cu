// What a launch costs.

#include "kernels/benchmarks.hpp"
#include "kernels/cuda_handles.hpp"

namespace collsim::kernels {

namespace {

constexpr int launches = 1000;

__global__ void do_nothing() {}

void enqueue_all(cudaStream_t stream) {
  for (int i = 0; i < launches; ++i) {
    do_nothing<<<1, 32, 0, stream>>>();
  }
  COLLSIM_CUDA_CHECK(cudaGetLastError());
}

CudaGraphExec graph_of_all(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  COLLSIM_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue_all(stream);
  COLLSIM_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  const CudaGraph owner(graph);
  COLLSIM_CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CudaGraphExec result(ready);
  COLLSIM_CUDA_CHECK(cudaGraphUpload(ready, stream));
  return result;
}

}  // namespace

double launch_time(LaunchBy by) {
  const CudaStream stream = make_stream();
  const CudaEvent begin = make_event();
  const CudaEvent end = make_event();
  CudaGraphExec graph;
  if (by == LaunchBy::Graph) {
    graph = graph_of_all(stream.get());
  }
  const auto enqueue = [&] {
    if (graph) {
      COLLSIM_CUDA_CHECK(cudaGraphLaunch(graph.get(), stream.get()));
    } else {
      enqueue_all(stream.get());
    }
  };
  enqueue();
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  COLLSIM_CUDA_CHECK(cudaEventRecord(begin.get(), stream.get()));
  enqueue();
  COLLSIM_CUDA_CHECK(cudaEventRecord(end.get(), stream.get()));
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  return milliseconds_between(begin, end) * 1e6 / launches;
}

}  // namespace collsim::kernels
