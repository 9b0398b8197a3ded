#include "algorithms/nccl/chunk_size.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/tuning_terms.hpp"

namespace collsim::nccl {

namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t slots = 8;
// 512 threads, 8 lines of 16 B each, 8 slots; 640 threads, 120 words of 8 B each, 8 slots.
constexpr std::int64_t usual_buffer = 4096 * kib;
constexpr std::int64_t usual_ll_buffer = slots * 512 * 8 * 16;
constexpr std::int64_t usual_ll128_buffer = std::int64_t{120} * 640 * slots * 8;
constexpr std::int64_t ll128_line = 16;  // words
constexpr std::int64_t ll128_line_data = 15;
constexpr ByProtocol<std::int64_t> grains{{16, 1920, 512}};
// A multi-node NVLS slower than this takes small chunks.
constexpr float slow_nvls = 150.0F;

struct Steps {
  int chunk;
  int slice;
};

/// Only Ring with Simple puts several slots into a chunk, where all ranks' data are in flight.
Steps steps_of(const ChunkRequest& request) {
  const bool long_chunks =
      request.algorithm == Algorithm::Ring && request.protocol == Protocol::Simple &&
      request.function != Function::Broadcast && request.function != Function::Reduce;
  return long_chunks ? Steps{4, 2} : Steps{1, 1};
}

std::int64_t quotient(const ChunkRequest& request, std::int64_t heads_or_one, std::int64_t chunk) {
  return static_cast<std::int64_t>(request.bytes) / (request.channels * heads_or_one * chunk);
}

/// Chunks of a channel (and head) below which the chunk is halved, as long as it is above `floor`.
struct Halving {
  float chunks;
  std::int64_t floor;
};

std::int64_t halved(const ChunkRequest& request, std::int64_t heads_or_one, std::int64_t chunk,
                    std::span<const Halving> rules) {
  for (const Halving& rule : rules) {
    while (static_cast<float>(quotient(request, heads_or_one, chunk)) < rule.chunks &&
           chunk > rule.floor) {
      chunk /= 2;
    }
  }
  return chunk;
}

/// Less than so many chunks of all channels and heads: no more than this.
struct Lowering {
  std::uint64_t chunks;
  std::int64_t most;
};

std::int64_t lowered(const ChunkRequest& request, std::uint64_t concurrent, std::int64_t chunk,
                     std::span<const Lowering> rules) {
  for (const Lowering& rule : rules) {
    const std::uint64_t enough = rule.chunks * concurrent * static_cast<std::uint64_t>(chunk);
    if (request.bytes < enough && chunk > rule.most) {
      chunk = rule.most;
    }
  }
  return chunk;
}

std::uint64_t concurrent_nvls(const TuningInput& input, const ChunkRequest& request) {
  return static_cast<std::uint64_t>(request.channels) *
         static_cast<std::uint64_t>(heads(*input.graphs.nvls).size());
}

std::int64_t nvls_chunk(const TuningInput& input, const Tuning& tuning, const ChunkRequest& request,
                        std::int64_t chunk) {
  const TuningEntry& all_reduce =
      tuning.table[Function::AllReduce][Algorithm::Nvls][Protocol::Simple];
  const bool slow = input.communicator.nodes > 1 && all_reduce.bandwidth < slow_nvls;
  chunk = std::min(chunk, slow ? 32 * kib : nvls_setup(input).chunk);
  constexpr std::array rules{Lowering{64, 64 * kib}, Lowering{8, 32 * kib}, Lowering{2, 16 * kib}};
  return lowered(request, concurrent_nvls(input, request), chunk, rules);
}

std::int64_t nvls_tree_chunk(const TuningInput& input, const ChunkRequest& request) {
  const NvlsSetup setup = nvls_setup(input);
  constexpr std::array rules{Lowering{32, 256 * kib}, Lowering{16, 128 * kib},
                             Lowering{4, 64 * kib}, Lowering{1, 32 * kib}};
  return lowered(request, concurrent_nvls(input, request), std::min(setup.chunk, setup.tree_chunk),
                 rules);
}

std::int64_t collnet_direct_chunk(const TuningInput& input, const ChunkRequest& request,
                                  std::int64_t chunk) {
  // Two levels, unless a rank is alone on its node.
  const float depth = input.communicator.max_ranks_per_node > 1 ? 2 : 1;
  const std::array rules{Halving{depth * 64, 128 * kib}, Halving{depth * 8, 64 * kib},
                         Halving{depth * 8, 32 * kib}};
  const auto head_count = static_cast<std::int64_t>(heads(*input.graphs.collnet_direct).size());
  return halved(request, head_count, chunk, rules);
}

std::int64_t collnet_chain_chunk(const TuningInput& input, const ChunkRequest& request,
                                 std::int64_t chunk) {
  const int local = input.communicator.ranks / input.communicator.nodes;
  const auto depth = static_cast<float>(local);
  const std::array rules{Halving{depth * 64, 128 * kib}, Halving{depth * 8, 64 * kib},
                         Halving{depth, 32 * kib}};
  return halved(request, 1, std::min(256 * kib, chunk), rules);
}

std::int64_t tree_ll128_chunk(const TuningInput& input, const ChunkRequest& request,
                              std::int64_t chunk) {
  const int nodes = input.communicator.nodes;
  const float ranks = static_cast<float>(input.communicator.ranks) / static_cast<float>(nodes);
  const auto steps = static_cast<float>(1 + floor_log2(nodes) + 0.1 * static_cast<double>(ranks));
  const std::array rules{Halving{steps * 64 / ranks, 128 * kib},
                         Halving{steps * 16 / ranks, 32 * kib}};
  return halved(request, 1, chunk, rules);
}

std::int64_t pat_chunk(const ChunkRequest& request, std::int64_t chunk) {
  const std::int64_t chunks = request.function == Function::AllGather ? 32 : 16;
  while (static_cast<std::uint64_t>(chunk * request.channels * chunks) > request.bytes &&
         chunk > 64 * kib) {
    chunk /= 2;
  }
  return chunk;
}

std::int64_t adapted(const TuningInput& input, const Tuning& tuning, const ChunkRequest& request,
                     std::int64_t chunk) {
  switch (request.algorithm) {
    case Algorithm::Ring:
      return chunk;
    case Algorithm::Tree:
      return request.protocol == Protocol::LL128 ? tree_ll128_chunk(input, request, chunk) : chunk;
    case Algorithm::CollNetDirect:
      return collnet_direct_chunk(input, request, chunk);
    case Algorithm::CollNetChain:
      return collnet_chain_chunk(input, request, chunk);
    case Algorithm::Nvls:
      return nvls_chunk(input, tuning, request, chunk);
    case Algorithm::NvlsTree:
      return nvls_tree_chunk(input, request);
    case Algorithm::Pat:
      break;
  }
  return pat_chunk(request, chunk);
}

/// Chunks that one pass moves on a channel.
std::int64_t chunks_per_loop(const TuningInput& input, const ChunkRequest& request) {
  switch (request.algorithm) {
    case Algorithm::Ring:
      return request.function == Function::Broadcast || request.function == Function::Reduce
                 ? 1
                 : input.communicator.ranks;
    case Algorithm::CollNetDirect:
      return static_cast<std::int64_t>(heads(*input.graphs.collnet_direct).size());
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
      return static_cast<std::int64_t>(heads(*input.graphs.nvls).size());
    default:
      return 1;
  }
}

}  // namespace

std::int64_t slot_data(const Configuration& configuration, Protocol protocol) {
  switch (protocol) {
    case Protocol::LL:
      return configuration.ll_buffer.value_or(usual_ll_buffer) / slots / 2;
    case Protocol::LL128:
      return configuration.ll128_buffer.value_or(usual_ll128_buffer) / slots / ll128_line *
             ll128_line_data;
    case Protocol::Simple:
      break;
  }
  return configuration.buffer.value_or(usual_buffer) / slots;
}

Chunk chunk_size(const TuningInput& input, const Tuning& tuning, const ChunkRequest& request) {
  const Steps steps = steps_of(request);
  const std::int64_t start = slot_data(input.configuration, request.protocol) * steps.chunk;
  const std::int64_t grain = grains[request.protocol];
  Chunk chunk{adapted(input, tuning, request, start), steps.chunk, steps.slice, 0};
  chunk.bytes = std::max(chunk.bytes / grain, std::int64_t{1}) * grain;
  const std::int64_t loop = request.channels * chunks_per_loop(input, request) * chunk.bytes;
  chunk.loops = divided_up(static_cast<std::int64_t>(request.bytes), loop);
  return chunk;
}

}  // namespace collsim::nccl
