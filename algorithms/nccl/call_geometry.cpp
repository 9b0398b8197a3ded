#include "algorithms/nccl/call_geometry.hpp"

#include <array>

#include "algorithms/nccl/tuning_terms.hpp"

namespace collsim::nccl {

namespace {

/// Each rank has a part of the whole.
bool is_dealt(Function function) {
  return function == Function::AllGather || function == Function::ReduceScatter;
}

/// All channels work on the whole, chunk after chunk.
bool is_interleaved(const TuningInput& input, Algorithm algorithm) {
  return is_collnet(algorithm) || (algorithm == Algorithm::Nvls && input.communicator.nodes > 1);
}

}  // namespace

CallGeometry call_geometry(const TuningInput& input, const Tuning& tuning, const Call& call,
                           const TunedChoice& choice) {
  const Algorithm algorithm = choice.contender.algorithm;
  const Protocol protocol = choice.contender.protocol;
  CallGeometry geometry;
  geometry.shape = launch_shape(input, tuning.channels, choice, call.bytes);
  // AllGather and Broadcast move bytes, whatever their type.
  const bool moves_bytes =
      call.function == Function::AllGather || call.function == Function::Broadcast;
  geometry.element_size = moves_bytes ? 1 : size_of(call.type).count();
  ChunkRequest request{call.function, algorithm, protocol, call.bytes, geometry.shape.channels};
  if (!is_interleaved(input, algorithm)) {
    const std::int64_t ranks = is_dealt(call.function) ? input.communicator.ranks : 1;
    const std::int64_t count =
        static_cast<std::int64_t>(call.bytes) / geometry.element_size / ranks;
    const std::array<SplitTask, 1> task{
        {{call.function, protocol, count, geometry.element_size, geometry.shape.channels}}};
    geometry.parts = split_work(task, input.communicator.ranks, geometry.shape.channels).front();
    request.bytes =
        static_cast<std::uint64_t>(geometry.parts.front().count * geometry.element_size * ranks);
    request.channels = 1;
  }
  geometry.chunk = chunk_size(input, tuning, request);
  return geometry;
}

}  // namespace collsim::nccl
