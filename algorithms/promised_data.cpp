#include "algorithms/promised_data.hpp"

namespace collsim::detail {

SymbolicData promised_output(const CollectiveCall& call, Rank rank, RankSets& sets) {
  const std::int64_t bytes = call.output_bytes(rank).count();
  const std::int64_t block = call.block().count();
  SymbolicData data;
  auto block_of_each_rank = [&](std::int64_t origin) {
    for (std::uint32_t source = 0; source < call.ranks; ++source) {
      data.append(block, {origin, sets.single(Rank(source))});
    }
  };
  if (bytes == 0) {
    return data;
  }
  switch (call.kind) {
    case CollectiveKind::Broadcast:
      data.append(bytes, {0, sets.single(call.root)});
      break;
    case CollectiveKind::Scatter:
      data.append(bytes, {block * rank.value(), sets.single(call.root)});
      break;
    case CollectiveKind::Gather:
    case CollectiveKind::AllGather:
      block_of_each_rank(0);
      break;
    case CollectiveKind::Reduce:
    case CollectiveKind::AllReduce:
      data.append(bytes, {0, sets.all(call.ranks)});
      break;
    case CollectiveKind::ReduceScatter:
      data.append(bytes, {block * rank.value(), sets.all(call.ranks)});
      break;
    case CollectiveKind::AllToAll:
      block_of_each_rank(block * rank.value());
      break;
    case CollectiveKind::SendRecv:
      data.append(bytes, {0, sets.single(Rank((rank.value() + call.ranks - 1) % call.ranks))});
      break;
  }
  return data;
}

}  // namespace collsim::detail
