#include "algorithms/nccl/send_recv_plan.hpp"

#include <algorithm>

#include "algorithms/nccl/divided_up.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// The rank's own round, if it has one.
std::vector<RoundWork> own_copy(const CollectiveCall& call, Rank rank) {
  const bool in_place = call.in_place == InPlace::Yes && has_root(call.kind) && rank == call.root;
  return in_place ? std::vector<RoundWork>{} : std::vector<RoundWork>{{0, true, true}};
}

std::vector<RoundWork> with_everyone(const SendRecvPlan& plan, Rank rank, RoundWork each) {
  std::vector<RoundWork> rounds = own_copy(plan.call, rank);
  for (each.round = 1; each.round < plan.schedule.rounds(); ++each.round) {
    rounds.push_back(each);
  }
  return rounds;
}

std::vector<RoundWork> with_neighbours(const SendRecvPlan& plan, Rank rank) {
  const std::uint32_t ranks = plan.call.ranks;
  const std::uint32_t to = plan.schedule.round_of(rank, Rank((rank.value() + 1) % ranks));
  const std::uint32_t from = plan.schedule.round_of(Rank((rank.value() + ranks - 1) % ranks), rank);
  if (to == from) {
    return {{to, true, true}};
  }
  const RoundWork send{to, true, false};
  const RoundWork receive{from, false, true};
  return to < from ? std::vector{send, receive} : std::vector{receive, send};
}

}  // namespace

Bytes SendRecvPlan::part_bytes(const SendRecvShape& shape, std::uint32_t part) const {
  const std::int64_t before = std::min(shape.part * part, call.block().count());
  return Bytes(std::min(shape.part, call.block().count() - before));
}

std::uint64_t SendRecvPlan::part_chunks(const SendRecvShape& shape, std::uint32_t part) const {
  const std::int64_t chunks = divided_up(part_bytes(shape, part).count(), shape.chunk);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(chunks, 1));
}

bool made_of_sends(CollectiveKind kind) {
  return kind == CollectiveKind::AllToAll || kind == CollectiveKind::Gather ||
         kind == CollectiveKind::Scatter || kind == CollectiveKind::SendRecv;
}

SendRecvPlan send_recv_plan(const TuningInput& input, const CollectiveCall& call) {
  const Communicator& communicator = input.communicator;
  COLLSIM_ENSURE(made_of_sends(call.kind), "a collective that is not made of sends and receives");
  COLLSIM_ENSURE(call.count > 0, "sends and receives of nothing");
  COLLSIM_ENSURE(call.ranks == static_cast<std::uint32_t>(communicator.ranks),
                 "a call of other ranks than the communicator's");
  COLLSIM_ENSURE(communicator.ranks == communicator.nodes * communicator.max_ranks_per_node,
                 "nodes that are not alike");

  const Channels channels = execution_channels(input);
  const auto shape = [&](PeerIs peer) {
    return send_recv_shape(input, channels, call.block().count(), peer);
  };
  SendRecvPlan plan;
  plan.call = call;
  plan.schedule = P2pSchedule(
      call.ranks, static_cast<std::uint32_t>(p2p_group_size(communicator, input.configuration)));
  plan.ranks_per_node = static_cast<std::uint32_t>(communicator.max_ranks_per_node);
  plan.channels = static_cast<std::uint32_t>(channels.p2p);
  plan.batches = input.constants.send_recv_batches;
  plan.local = shape(PeerIs::Local);
  plan.remote = communicator.nodes > 1 ? shape(PeerIs::Remote) : plan.local;
  plan.first_channel.reserve(call.ranks);
  for (int round = 0; round < communicator.ranks; ++round) {
    plan.first_channel.push_back(
        static_cast<std::uint32_t>(send_recv_channel(input, channels, round, 0)));
  }
  return plan;
}

std::vector<RoundWork> rounds_of(const SendRecvPlan& plan, Rank rank) {
  const Rank root = plan.call.root;
  switch (plan.call.kind) {
    case CollectiveKind::AllToAll:
      return with_everyone(plan, rank, {0, true, true});
    case CollectiveKind::Gather:
      return rank == root
                 ? with_everyone(plan, rank, {0, false, true})
                 : std::vector<RoundWork>{{plan.schedule.round_of(rank, root), true, false}};
    case CollectiveKind::Scatter:
      return rank == root
                 ? with_everyone(plan, rank, {0, true, false})
                 : std::vector<RoundWork>{{plan.schedule.round_of(root, rank), false, true}};
    case CollectiveKind::SendRecv:
      return with_neighbours(plan, rank);
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllReduce:
      break;
  }
  COLLSIM_ENSURE(false, "a collective that is not made of sends and receives");
}

}  // namespace collsim::nccl
