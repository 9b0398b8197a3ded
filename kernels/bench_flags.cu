// How long a flag takes between two blocks, and back.

#include "kernels/benchmarks.hpp"
#include "kernels/cuda_handles.hpp"
#include "kernels/device_machine.cuh"

namespace collsim::kernels {

namespace {

constexpr std::uint32_t round_trips = 2000;
/// Nothing waits longer for the other side, so that a GPU whose memory the other cannot see ends the kernel.
constexpr std::uint64_t patience = 2'000'000'000;  // nanoseconds

/// One side of a game of ping-pong: it looks at its own place and writes to the other one.
struct Side {
  std::byte* own;
  std::byte* other;
  std::uint64_t* late;  ///< set where the other side took too long
  std::uint32_t first;  ///< not 0: it serves
};

__device__ bool comes(FlagKind kind, const std::byte* place, std::uint32_t number) {
  if (kind == FlagKind::Fenced) {
    return DeviceMachine::acquire(reinterpret_cast<const std::uint64_t*>(place)) == number;
  }
  const Line line = DeviceMachine::load_line(place);
  return line.first >> 32U == number && line.second >> 32U == number;
}

__device__ void put(FlagKind kind, std::byte* place, std::uint32_t number) {
  if (kind == FlagKind::Fenced) {
    DeviceMachine::fence();
    DeviceMachine::publish(reinterpret_cast<std::uint64_t*>(place), number);
  } else {
    const std::uint64_t flag = std::uint64_t{number} << 32U;
    DeviceMachine::store_line(place, Line{flag, flag});
  }
}

/// Numbers above `played`, which those of an earlier game are not.
__global__ void play(FlagKind kind, Side first, Side second, std::uint32_t played) {
  const Side side = blockIdx.x == 0 ? first : second;
  const std::uint64_t begin = DeviceMachine::now();
  for (std::uint32_t i = played + 1; i <= played + round_trips; ++i) {
    if (side.first != 0) {
      put(kind, side.other, i);
    }
    while (!comes(kind, side.own, i)) {
      if (DeviceMachine::now() - begin > patience) {
        *side.late = 1;
        return;
      }
    }
    if (side.first == 0) {
      put(kind, side.other, i);
    }
  }
}

struct Place {
  DeviceBuffer flag;
  DeviceBuffer late;
};

Place make_place() {
  Place place{make_device_buffer(line_bytes), make_device_buffer(sizeof(std::uint64_t))};
  COLLSIM_CUDA_CHECK(cudaMemset(place.flag.get(), 0, line_bytes));
  COLLSIM_CUDA_CHECK(cudaMemset(place.late.get(), 0, sizeof(std::uint64_t)));
  COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  return place;
}

Side side_of(const Place& own, const Place& other, bool first) {
  return {own.flag.get(), other.flag.get(), reinterpret_cast<std::uint64_t*>(own.late.get()),
          first ? 1U : 0U};
}

void require_in_time(const Place& place) {
  std::uint64_t late = 0;
  COLLSIM_CUDA_CHECK(cudaMemcpy(&late, place.late.get(), sizeof(late), cudaMemcpyDeviceToHost));
  if (late != 0) {
    throw CudaError("play", "a flag did not come within 2 s", __FILE__, __LINE__);
  }
}

/// Of the first side's kernel.
double nanoseconds_of(const CudaEvent& begin, const CudaEvent& end) {
  return milliseconds_between(begin, end) * 1e6 / round_trips;
}

}  // namespace

double flag_round_trip(FlagKind kind) {
  const Place a = make_place();
  const Place b = make_place();
  const CudaStream stream = make_stream();
  const CudaEvent begin = make_event();
  const CudaEvent end = make_event();
  Side first = side_of(a, b, true);
  Side second = side_of(b, a, false);
  std::uint32_t played = 0;
  void* arguments[] = {&kind, &first, &second, &played};
  const auto launch = [&] {
    COLLSIM_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&play), dim3(2),
                                                   dim3(1), arguments, 0, stream.get()));
  };
  // The first game loads the kernel and wakes the clocks.
  launch();
  played = round_trips;
  COLLSIM_CUDA_CHECK(cudaEventRecord(begin.get(), stream.get()));
  launch();
  COLLSIM_CUDA_CHECK(cudaEventRecord(end.get(), stream.get()));
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  require_in_time(a);
  require_in_time(b);
  return nanoseconds_of(begin, end);
}

double peer_flag_round_trip(FlagKind kind, int peer) {
  int own = 0;
  COLLSIM_CUDA_CHECK(cudaGetDevice(&own));
  // Loads the kernel on both before either waits for the other.
  cudaFuncAttributes attributes{};
  COLLSIM_CUDA_CHECK(cudaSetDevice(peer));
  COLLSIM_CUDA_CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&play)));
  const Place there = make_place();
  const CudaStream stream_there = make_stream();
  COLLSIM_CUDA_CHECK(cudaSetDevice(own));
  COLLSIM_CUDA_CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&play)));
  const Place here = make_place();
  const CudaStream stream = make_stream();
  const CudaEvent begin = make_event();
  const CudaEvent end = make_event();
  const Side first = side_of(here, there, true);
  const Side second = side_of(there, here, false);
  // The first game wakes the clocks.
  for (const std::uint32_t played : {0U, round_trips}) {
    COLLSIM_CUDA_CHECK(cudaSetDevice(peer));
    play<<<1, 1, 0, stream_there.get()>>>(kind, second, second, played);
    COLLSIM_CUDA_CHECK(cudaGetLastError());
    COLLSIM_CUDA_CHECK(cudaSetDevice(own));
    COLLSIM_CUDA_CHECK(cudaEventRecord(begin.get(), stream.get()));
    play<<<1, 1, 0, stream.get()>>>(kind, first, first, played);
    COLLSIM_CUDA_CHECK(cudaGetLastError());
    COLLSIM_CUDA_CHECK(cudaEventRecord(end.get(), stream.get()));
  }
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  COLLSIM_CUDA_CHECK(cudaSetDevice(peer));
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream_there.get()));
  COLLSIM_CUDA_CHECK(cudaSetDevice(own));
  require_in_time(here);
  require_in_time(there);
  return nanoseconds_of(begin, end);
}

}  // namespace collsim::kernels
