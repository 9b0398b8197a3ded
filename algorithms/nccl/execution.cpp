#include "algorithms/nccl/execution.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "algorithms/nccl/call_geometry.hpp"
#include "algorithms/nccl/connection_paths.hpp"
#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/rail_windows.hpp"
#include "algorithms/nccl/slices.hpp"
#include "algorithms/nccl/trees.hpp"
#include "algorithms/nccl/tuning_terms.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr int fifo_slots = 8;
// A slice is at least this part of the slots it may fill.
constexpr std::int64_t least_slice_part = 32;
constexpr std::int64_t slice_grain = 16;

/// What the chunk of a channel's part follows from, but for the part's size.
struct ChunkRule {
  const TuningInput& input;
  const Tuning& tuning;
  const CollectiveCall& call;
  const Contender& contender;
  Function function{};

  /// For a part of `count` elements; in elements, too.
  [[nodiscard]] std::int64_t chunk(std::int64_t count) const {
    const std::int64_t size = size_of(call.type).count();
    const std::int64_t blocks = call.blocked() ? call.ranks : 1;
    const ChunkRequest request{function, contender.algorithm, contender.protocol,
                               static_cast<std::uint64_t>(count * size * blocks), 1};
    return chunk_size(input, tuning, request).bytes / size;
  }
};

/// Each channel has a part of its own, one behind the other.
std::vector<ChannelWork> parts_of(const ChunkRule& rule, const CallGeometry& geometry) {
  const std::int64_t size = size_of(rule.call.type).count();
  std::vector<ChannelWork> work;
  work.reserve(geometry.parts.size());
  std::int64_t first = 0;
  for (const ChannelPart& part : geometry.parts) {
    const std::int64_t bytes = part.count * geometry.element_size;
    COLLSIM_ENSURE(bytes % size == 0, "channels share whole elements");
    const std::int64_t count = bytes / size;
    // Equal parts have equal chunks.
    const std::int64_t chunk =
        !work.empty() && work.back().count == count ? work.back().chunk : rule.chunk(count);
    work.push_back({static_cast<std::uint32_t>(part.channel), 1, first, count, chunk});
    first += count;
  }
  COLLSIM_ENSURE(first == rule.call.count, "the parts of channels are the whole");
  return work;
}

/// Every channel has the whole.
std::vector<ChannelWork> interleaved(const CollectiveCall& call, const CallGeometry& geometry) {
  const std::int64_t chunk = geometry.chunk.bytes / size_of(call.type).count();
  std::vector<ChannelWork> work;
  work.reserve(static_cast<std::size_t>(geometry.shape.channels));
  for (int channel = 0; channel < geometry.shape.channels; ++channel) {
    work.push_back({static_cast<std::uint32_t>(channel), 1, 0, call.count, chunk});
  }
  return work;
}

/// What is alike gets the number of its first appearance.
template <class Wiring>
std::vector<std::size_t> numbered(const std::vector<Wiring>& channels) {
  std::vector<std::size_t> numbers;
  numbers.reserve(channels.size());
  for (const Wiring& wiring : channels) {
    numbers.push_back(static_cast<std::size_t>(std::find(channels.begin(), channels.end(), wiring) -
                                               channels.begin()));
  }
  return numbers;
}

/// Channels with the same number connect the same ranks. Shapes: one for each channel that runs, or more.
std::vector<std::size_t> connected_ranks(const Decisions& decisions, const Execution& execution) {
  const std::vector<ExecutionChannel>& channels = decisions.tuning().channels.collective;
  switch (execution.algorithm) {
    case Algorithm::Ring:
      return numbered(build_rings(decisions.graphs(), decisions.layout(), channels));
    case Algorithm::Tree:
      return numbered(build_trees(decisions.graphs().tree, decisions.layout(), channels));
    case Algorithm::CollNetChain: {
      const std::vector<GraphChannel>& chains = decisions.graphs().collnet_chain->channels;
      std::vector<std::vector<int>> orders;
      for (std::size_t channel = 0; channel < channels.size(); ++channel) {
        orders.push_back(chains[channel % chains.size()].gpus);
      }
      return numbered(orders);
    }
    default:
      break;
  }
  // NVLS, CollNetDirect and PAT connect the same ranks on every channel; NVLSTree has one of its two trees on even
  // channels and the other one on odd channels.
  std::vector<std::size_t> numbers(std::size_t{execution.work.back().channel} + 1);
  for (std::size_t channel = 0; channel < numbers.size(); ++channel) {
    numbers[channel] = execution.algorithm == Algorithm::NvlsTree ? channel % 2 : 0;
  }
  return numbers;
}

/// Blocks of a channel's piece.
std::int64_t head_count(const Decisions& decisions, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::CollNetDirect:
      return static_cast<std::int64_t>(heads(*decisions.graphs().collnet_direct).size());
    case Algorithm::Nvls:
      return static_cast<std::int64_t>(heads(*decisions.graphs().nvls).size());
    default:
      return 1;
  }
}

/// What a channel has of the last loop of those that interleave, in elements.
std::int64_t in_last_loop(const Execution& execution, std::size_t channel, std::int64_t heads) {
  const std::int64_t piece = heads * execution.work.front().chunk;
  const auto channels = static_cast<std::int64_t>(execution.work.size());
  const std::int64_t loops = divided_up(execution.call.count, channels * piece);
  const std::int64_t begin = ((loops - 1) * channels + static_cast<std::int64_t>(channel)) * piece;
  return std::clamp(execution.call.count - begin, std::int64_t{0}, piece);
}

/// Of channels that interleave: equal numbers where they have as much in every loop.
/// Shapes: one for each channel that runs.
std::vector<std::int64_t> parts_in_loops(const Decisions& decisions, const Execution& execution) {
  const auto channels = static_cast<std::uint32_t>(execution.work.size());
  std::vector<std::int64_t> parts;
  parts.reserve(channels);
  if (execution.call.blocked() && execution.algorithm == Algorithm::Nvls) {
    const auto nodes = static_cast<std::uint32_t>(decisions.communicator().nodes);
    const RailWindows windows(execution.call.count, execution.work.front().chunk, nodes, channels);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      parts.push_back(windows.kind_of(channel));
    }
    return parts;
  }
  // An all-gather's or reduce-scatter's piece is of one rank.
  const std::int64_t heads =
      execution.call.blocked() ? 1 : head_count(decisions, execution.algorithm);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    parts.push_back(in_last_loop(execution, channel, heads));
  }
  return parts;
}

}  // namespace

Execution execution_of(const TuningInput& input, const Tuning& tuning, const CollectiveCall& call,
                       const TunedChoice& choice) {
  const Call asked = call_of(call);
  COLLSIM_ENSURE(call.count > 0 && call.ranks > 1, "something to communicate");
  COLLSIM_ENSURE(static_cast<int>(call.ranks) == input.communicator.ranks,
                 "a call of the communicator");
  const Contender& contender = choice.contender;
  const CallGeometry geometry = call_geometry(input, tuning, asked, choice);
  // NCCL counts slices in elements of its type: bytes where it does not reduce.
  const std::int64_t scale = size_of(call.type).count() / geometry.element_size;

  Execution execution;
  execution.call = call;
  execution.algorithm = contender.algorithm;
  execution.protocol = contender.protocol;
  execution.threads = contender.algorithm == Algorithm::Ring
                          ? moving_threads(contender.protocol, geometry.shape.threads)
                          : geometry.shape.threads;
  execution.slices = geometry.chunk.steps / geometry.chunk.slice_steps;
  execution.fifo = fifo_slots / geometry.chunk.slice_steps;
  execution.slice_grain = slice_grain / scale;
  if (execution.slices > 1) {
    const std::int64_t slot =
        slot_data(input.configuration, contender.protocol) / geometry.element_size;
    execution.least_slice = slot * geometry.chunk.slice_steps / least_slice_part / scale;
  }
  execution.interleaved = geometry.parts.empty();
  execution.work = execution.interleaved
                       ? interleaved(call, geometry)
                       : parts_of({input, tuning, call, contender, asked.function}, geometry);
  return execution;
}

Execution execution_of(const Decisions& decisions, const CollectiveCall& call,
                       const TunedChoice& choice) {
  return execution_of(decisions.input(), decisions.tuning(), call, choice);
}

Execution joined_channels(Execution execution, std::span<const std::size_t> wiring) {
  // Blocks of different sorts differ where they copy slice by slice.
  const bool sorted = execution.protocol == Protocol::Simple && !is_nvls(execution.algorithm);
  const auto sort_of = [sorted](const ChannelWork& work) {
    return sorted ? work.channel % channel_sorts : 0;
  };
  std::vector<ChannelWork> joined;
  for (const ChannelWork& work : execution.work) {
    const auto alike = std::ranges::find_if(joined, [&](const ChannelWork& other) {
      return other.count == work.count && other.chunk == work.chunk &&
             wiring[other.channel] == wiring[work.channel] && sort_of(other) == sort_of(work);
    });
    if (alike == joined.end()) {
      joined.push_back(work);
    } else {
      alike->multiplicity += work.multiplicity;
    }
  }
  execution.work = std::move(joined);
  return execution;
}

Execution joined_channels(const Decisions& decisions, Execution execution) {
  const std::vector<std::size_t> ranks = connected_ranks(decisions, execution);
  const std::vector<std::size_t> paths =
      connection_kinds(algorithm_connections(decisions, execution.algorithm), ranks.size());
  const std::vector<std::int64_t> parts = execution.interleaved
                                              ? parts_in_loops(decisions, execution)
                                              : std::vector<std::int64_t>(ranks.size());
  std::vector<std::tuple<std::size_t, std::size_t, std::int64_t>> all;
  all.reserve(parts.size());
  for (std::size_t channel = 0; channel < parts.size(); ++channel) {
    all.emplace_back(ranks[channel], paths[channel], parts[channel]);
  }
  return joined_channels(std::move(execution), numbered(all));
}

}  // namespace collsim::nccl
