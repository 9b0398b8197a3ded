// Rates of copies and reductions, by the interpreter's own loop over packs.

#include <algorithm>
#include <utility>

#include "kernels/benchmarks.hpp"
#include "kernels/cuda_handles.hpp"
#include "kernels/device_machine.cuh"
#include "kernels/launch.hpp"

namespace collsim::kernels {

namespace {

constexpr int repetitions = 10;

/// Each block works on a part of its own, as lanes do.
template <bool Reduces>
__global__ void __launch_bounds__(most_threads)
    move_packs(Pack* out, const Pack* a, const Pack* b, std::size_t packs) {
  constexpr std::size_t at_once = 4;
  const std::size_t begin = packs * blockIdx.x / gridDim.x;
  const std::size_t end = packs * (blockIdx.x + 1) / gridDim.x;
  for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x * at_once) {
    Pack values[at_once];
    for (std::size_t j = 0; j < at_once; ++j) {
      const std::size_t at = i + j * blockDim.x;
      if (at < end) {
        values[j] = a[at];
        if constexpr (Reduces) {
          values[j] = reduced_word<Sum, float>(values[j], b[at]);
        }
      }
    }
    for (std::size_t j = 0; j < at_once; ++j) {
      const std::size_t at = i + j * blockDim.x;
      if (at < end) {
        out[at] = values[j];
      }
    }
  }
}

/// Bytes a second of what is enqueued so many times, after once for warming up.
template <class Enqueue>
double rate_of(std::size_t bytes, const Enqueue& enqueue) {
  const CudaStream stream = make_stream();
  const CudaEvent begin = make_event();
  const CudaEvent end = make_event();
  enqueue(stream.get());
  COLLSIM_CUDA_CHECK(cudaEventRecord(begin.get(), stream.get()));
  for (int i = 0; i < repetitions; ++i) {
    enqueue(stream.get());
  }
  COLLSIM_CUDA_CHECK(cudaEventRecord(end.get(), stream.get()));
  COLLSIM_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  COLLSIM_CUDA_CHECK(cudaGetLastError());
  const double seconds = milliseconds_between(begin, end) / 1e3;
  return static_cast<double>(bytes) * repetitions / seconds;
}

double kernel_rate(MemoryWork work, std::byte* out, const std::byte* a, const std::byte* b,
                   std::uint32_t blocks, std::size_t bytes) {
  return rate_of(bytes, [&](cudaStream_t stream) {
    const auto packs = bytes / sizeof(Pack);
    auto* const to = reinterpret_cast<Pack*>(out);
    const auto* const first = reinterpret_cast<const Pack*>(a);
    const auto* const second = reinterpret_cast<const Pack*>(b);
    if (work == MemoryWork::Copy) {
      move_packs<false><<<blocks, most_threads, 0, stream>>>(to, first, second, packs);
    } else {
      move_packs<true><<<blocks, most_threads, 0, stream>>>(to, first, second, packs);
    }
    COLLSIM_CUDA_CHECK(cudaGetLastError());
  });
}

DeviceBuffer zeroed_buffer(std::size_t bytes) {
  DeviceBuffer buffer = make_device_buffer(bytes);
  COLLSIM_CUDA_CHECK(cudaMemset(buffer.get(), 0, bytes));
  COLLSIM_CUDA_CHECK(cudaDeviceSynchronize());
  return buffer;
}

/// A buffer on this GPU and one on a peer.
struct PeerBuffers {
  int own;
  DeviceBuffer there;
  DeviceBuffer here;
};

PeerBuffers peer_buffers(int peer, std::size_t bytes) {
  int own = 0;
  COLLSIM_CUDA_CHECK(cudaGetDevice(&own));
  COLLSIM_CUDA_CHECK(cudaSetDevice(peer));
  DeviceBuffer there = zeroed_buffer(bytes);
  COLLSIM_CUDA_CHECK(cudaSetDevice(own));
  return {own, std::move(there), zeroed_buffer(bytes)};
}

}  // namespace

double memory_rate(MemoryWork work, std::uint32_t blocks, std::size_t bytes) {
  const DeviceBuffer out = zeroed_buffer(bytes);
  const DeviceBuffer a = zeroed_buffer(bytes);
  const DeviceBuffer b = zeroed_buffer(work == MemoryWork::Reduce ? bytes : pack_bytes);
  return kernel_rate(work, out.get(), a.get(), b.get(), blocks, bytes);
}

double peer_rate(PeerWork work, int peer, std::uint32_t blocks, std::size_t bytes) {
  const PeerBuffers on = peer_buffers(peer, bytes);
  const bool pulls = work == PeerWork::Pull;
  return kernel_rate(MemoryWork::Copy, pulls ? on.here.get() : on.there.get(),
                     pulls ? on.there.get() : on.here.get(), on.here.get(), blocks, bytes);
}

double peer_engine_rate(int peer, std::size_t bytes) {
  const PeerBuffers on = peer_buffers(peer, bytes);
  return rate_of(bytes, [&](cudaStream_t stream) {
    COLLSIM_CUDA_CHECK(
        cudaMemcpyPeerAsync(on.there.get(), peer, on.here.get(), on.own, bytes, stream));
  });
}

double engine_rate(EngineCopy copy, std::size_t bytes) {
  const DeviceBuffer device = zeroed_buffer(bytes);
  if (copy == EngineCopy::DeviceToDevice) {
    const DeviceBuffer other = zeroed_buffer(bytes);
    return rate_of(bytes, [&](cudaStream_t stream) {
      COLLSIM_CUDA_CHECK(
          cudaMemcpyAsync(other.get(), device.get(), bytes, cudaMemcpyDeviceToDevice, stream));
    });
  }
  const PinnedBuffer host = make_pinned_buffer(bytes);
  std::fill_n(host.get(), bytes, std::byte{0});
  const bool reads = copy == EngineCopy::HostToDevice;
  return rate_of(bytes, [&](cudaStream_t stream) {
    COLLSIM_CUDA_CHECK(
        cudaMemcpyAsync(reads ? device.get() : host.get(), reads ? host.get() : device.get(), bytes,
                        reads ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
  });
}

}  // namespace collsim::kernels
