#include "algorithms/nccl/send_recv.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/nccl/chunk_size.hpp"
#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/p2p_schedule.hpp"

namespace collsim::nccl {

namespace {

constexpr std::int64_t part_grain = 4096;
constexpr int works_per_batch = 8;
constexpr int mantissa_bits = 3;

/// What a peer's messages may be spread over: from as many channels as all peers get at once, up to
/// all that a peer may have.
struct PartRange {
  int least;
  int most;
};

PartRange part_range(const TuningInput& input, const Channels& channels) {
  int least = channels.per_peer;
  while (least * input.communicator.ranks > channels.p2p && least > 1) {
    least /= 2;
  }
  return {least, channels.per_peer};
}

int part_count(const TuningInput& input, PartRange range, std::int64_t bytes, std::int64_t slot) {
  if (bytes == 0) {
    return 1;
  }
  const bool several = input.communicator.nodes > 1;
  const std::int64_t least = several ? slot / 2 : slot / 8;
  const std::int64_t most = several ? slot : slot * 32;
  int parts = static_cast<int>(std::min<std::int64_t>(range.least, divided_up(bytes, least)));
  std::int64_t part = std::max(least, divided_up<std::int64_t>(bytes, parts));
  while (part > most && parts <= range.most / 2) {
    parts *= 2;
    part = divided_up<std::int64_t>(bytes, parts);
  }
  return parts;
}

/// As 2.7 does: parts of whole steps of four slots of the buffer, and no LL.
SendRecvShape shape_in_steps(const TuningInput& input, const Channels& channels,
                             std::int64_t bytes) {
  const std::int64_t slot = slot_data(input.configuration, Protocol::Simple);
  const std::int64_t step = 4 * slot;
  const auto a_channel = divided_up<std::int64_t>(bytes, channels.per_peer);
  const std::int64_t part = std::max<std::int64_t>(divided_up(a_channel, step), 1) * step;
  SendRecvShape shape;
  shape.chunk = slot;
  shape.parts = static_cast<int>(std::max<std::int64_t>(divided_up(bytes, part), 1));
  shape.part = std::min(bytes, part);
  return shape;
}

bool has_ll_buffers(const TuningInput& input, PeerIs peer) {
  return peer == PeerIs::Local || input.configuration.ll_buffers_for_network;
}

std::int64_t chunk_of(const TuningInput& input, Protocol protocol, std::int64_t bytes,
                      std::int64_t slot, PeerIs peer) {
  // NCCL reckons in bytes of the wire, of which LL has two a byte of data.
  const bool simple = protocol == Protocol::Simple;
  std::int64_t chunk = slot;
  if (input.configuration.send_recv_chunk) {
    chunk = *input.configuration.send_recv_chunk;
  } else if (peer == PeerIs::Remote) {
    if (simple && bytes < slot) {
      chunk /= 4;
    } else if (bytes < 8 * slot) {
      chunk /= 2;
    }
  }
  return eight_bit_float(simple ? chunk : chunk / 2);
}

}  // namespace

std::int64_t eight_bit_float(std::int64_t value) {
  const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
  const int dropped = std::max(width - 1 - mantissa_bits, 0);
  return (value >> dropped) << dropped;
}

std::int64_t send_recv_slot(const TuningInput& input) {
  const Configuration& configuration = input.configuration;
  const TuningConstants& constants = input.constants;
  const std::int64_t local = input.communicator.all_nvlink
                                 ? configuration.nvlink_chunk.value_or(constants.nvlink_chunk)
                                 : configuration.pci_chunk.value_or(constants.pci_chunk);
  const std::int64_t wanted =
      input.communicator.nodes > 1 ? configuration.net_chunk.value_or(constants.net_chunk) : local;
  return std::min(wanted, slot_data(configuration, Protocol::Simple));
}

SendRecvShape send_recv_shape(const TuningInput& input, const Channels& channels,
                              std::int64_t bytes, PeerIs peer) {
  // What such versions do over several nodes is not known.
  if (input.constants.send_recv_parts == SendRecvParts::WholeSteps &&
      input.communicator.nodes == 1) {
    return shape_in_steps(input, channels, bytes);
  }
  const std::int64_t threshold =
      input.configuration.p2p_ll_threshold.value_or(input.constants.send_recv_ll_threshold);
  const PartRange range = part_range(input, channels);
  const std::int64_t simple_slot = send_recv_slot(input);
  const std::int64_t ll_slot = 2 * slot_data(input.configuration, Protocol::LL);
  const bool by_peer = input.constants.send_recv_ll == SendRecvLL::ChannelsPerPeer;

  SendRecvShape shape;
  shape.parts = part_count(input, range, bytes, simple_slot);
  const int counted = by_peer ? channels.per_peer : shape.parts;
  const bool ll = has_ll_buffers(input, peer) && bytes <= counted * threshold;
  shape.protocol = ll ? Protocol::LL : Protocol::Simple;
  if (ll && by_peer) {
    shape.parts = part_count(input, range, bytes, ll_slot);
  }
  shape.chunk = chunk_of(input, shape.protocol, bytes, ll ? ll_slot : simple_slot, peer);
  shape.part = std::min(
      bytes, divided_up(divided_up<std::int64_t>(bytes, shape.parts), part_grain) * part_grain);
  return shape;
}

int send_recv_channel(const TuningInput& input, const Channels& channels, int round, int part) {
  int base = round;
  if (input.communicator.nodes > 1) {
    const int group = p2p_group_size(input.communicator, input.configuration);
    const int batches = divided_up(group, works_per_batch);
    base = round / group * batches + round % group / works_per_batch;
  }
  // Neighbouring rounds start far apart.
  int reversed = 0;
  for (int bit = 1; bit < channels.p2p; bit *= 2) {
    reversed = reversed * 2 + ((base & bit) != 0 ? 1 : 0);
  }
  return (reversed + part) & (channels.p2p - 1);
}

}  // namespace collsim::nccl
