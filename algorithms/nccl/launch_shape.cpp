#include "algorithms/nccl/launch_shape.hpp"

#include <algorithm>
#include <cstddef>

#include "algorithms/nccl/tuning_terms.hpp"

namespace collsim::nccl {

namespace {

constexpr int warp = 32;
constexpr int block_threads = 640;
constexpr int simple_threads = 512;
constexpr int slow_ring_threads = 256;
constexpr float slow_ring = 12.0F;  // GB/s of all search channels: PCIe gen 3 x16
constexpr int least_threads = 3 * warp;
constexpr std::int64_t flag_bytes_per_thread = 8;  // LL and LL128
constexpr std::int64_t simple_bytes_per_thread = 64;
constexpr std::int64_t collnet_bytes_per_thread = 512;

std::uint64_t work(int channels, int threads, std::int64_t threshold) {
  return static_cast<std::uint64_t>(channels) * static_cast<std::uint64_t>(threads) *
         static_cast<std::uint64_t>(threshold);
}

/// CollNetDirect gives up channels in stages, and between them eases the threshold.
int collnet_direct_channels(const TuningInput& input, int channels, int threads,
                            std::int64_t threshold, std::uint64_t bytes) {
  const auto head_count = static_cast<int>(heads(*input.graphs.collnet_direct).size());
  bool too_small = true;
  for (int stage = 16; stage >= 1 && too_small; stage /= 2) {
    too_small = bytes < work(channels, threads * head_count, threshold);
    while (too_small && channels > stage) {
      if (channels == stage + stage / 2) {
        threshold /= 2;
      }
      --channels;
      too_small = bytes < work(channels, threads * head_count, threshold);
    }
  }
  return channels;
}

int nvls_shape_channels(const TuningInput& input, const Channels& channels, Algorithm algorithm) {
  const bool with_network = input.communicator.nodes > 1 && algorithm == Algorithm::Nvls;
  return with_network ? std::min(channels.nvls, static_cast<int>(channels.collective.size()))
                      : channels.nvls;
}

int final_threads(Algorithm algorithm, Protocol protocol, int threads) {
  if (algorithm == Algorithm::Tree || algorithm == Algorithm::Pat) {
    return block_threads;
  }
  if (algorithm == Algorithm::Ring && protocol == Protocol::Simple) {
    threads += warp;  // one to synchronise
  }
  return std::max(threads, least_threads);
}

}  // namespace

int max_threads(const TuningInput& input, Algorithm algorithm, Protocol protocol) {
  const Configuration& configuration = input.configuration;
  if (algorithm == Algorithm::Pat) {
    return 0;
  }
  if (algorithm != Algorithm::Ring && algorithm != Algorithm::Tree) {
    return block_threads;
  }
  if (protocol == Protocol::LL128) {
    return configuration.ll128_threads.value_or(block_threads);
  }
  const bool slow =
      algorithm == Algorithm::Ring && protocol == Protocol::Simple &&
      input.graphs.ring.bandwidth_intra * static_cast<float>(search_channels(input.graphs)) <=
          slow_ring;
  return configuration.threads.value_or(slow ? slow_ring_threads : simple_threads);
}

std::int64_t thread_threshold(const TuningInput& input, Algorithm algorithm, Protocol protocol) {
  const bool tree = algorithm == Algorithm::Tree;
  const bool ring = algorithm == Algorithm::Ring;
  if (input.configuration.thread_thresholds && (tree || ring)) {
    const std::size_t at = static_cast<std::size_t>(protocol) + (ring ? protocols.size() : 0);
    const std::int64_t wanted = (*input.configuration.thread_thresholds)[at];
    if (wanted >= 0) {
      return wanted;
    }
  }
  if (is_collnet(algorithm)) {
    return collnet_bytes_per_thread;
  }
  if (protocol == Protocol::Simple) {
    return simple_bytes_per_thread;
  }
  const bool every_rank = ring && protocol == Protocol::LL;
  return every_rank ? flag_bytes_per_thread * input.communicator.ranks : flag_bytes_per_thread;
}

LaunchShape launch_shape(const TuningInput& input, const Channels& channels, Algorithm algorithm,
                         Protocol protocol, std::uint64_t bytes) {
  LaunchShape shape{static_cast<int>(channels.collective.size()),
                    max_threads(input, algorithm, protocol)};
  const std::int64_t threshold = thread_threshold(input, algorithm, protocol);
  if (algorithm == Algorithm::CollNetDirect) {
    shape.channels =
        collnet_direct_channels(input, shape.channels, shape.threads, threshold, bytes);
  } else if (is_nvls(algorithm)) {
    shape.channels = nvls_shape_channels(input, channels, algorithm);
  } else {
    while (bytes < work(shape.channels, shape.threads, threshold) && shape.channels > 1) {
      --shape.channels;
    }
    while (bytes < work(shape.channels, shape.threads, threshold) && shape.threads % 128 == 0) {
      shape.threads /= 2;
    }
  }
  shape.threads = final_threads(algorithm, protocol, shape.threads);
  return shape;
}

}  // namespace collsim::nccl
