// The naive way: one rank, the root, does everything. It receives from, or sends to, all others at
// once, so its own links carry n - 1 times the data. What is not rooted goes to rank 0 and back:
//
//   all_gather      gather, then broadcast of the whole buffer
//   reduce_scatter  reduce, then scatter
//   all_reduce      reduce, then broadcast
//   all_to_all      gather of all inputs, then scatter
//
// The second phase starts on a rank when that rank has all of the first.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/flat.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr Place input = all_blocks(Buffer::Input);
constexpr Place output = all_blocks(Buffer::Output);
constexpr Place scratch = all_blocks(Buffer::Scratch);
constexpr Place own_input = own_block(Buffer::Input);
constexpr Place own_output = own_block(Buffer::Output);

std::unique_ptr<Pattern> pattern_for(const CollectiveCall& call) {
  const std::uint32_t n = call.ranks;
  const Rank root = has_root(call.kind) ? call.root : Rank(0);
  switch (call.kind) {
    case CollectiveKind::Broadcast:
      return flat_broadcast(n, root, 1, input, output);
    case CollectiveKind::Reduce:
      return flat_reduce(n, root, 1, input, output);
    case CollectiveKind::Scatter:
      return flat_scatter(n, root, input, own_output);
    case CollectiveKind::Gather:
      return flat_gather(n, root, own_input, output);
    case CollectiveKind::AllGather:
      return then(flat_gather(n, root, own_input, output),
                  flat_broadcast(n, root, n, output, output));
    case CollectiveKind::ReduceScatter:
      return then(flat_reduce(n, root, n, input, scratch),
                  flat_scatter(n, root, scratch, own_output));
    case CollectiveKind::AllReduce:
      return then(flat_reduce(n, root, 1, input, output),
                  flat_broadcast(n, root, 1, output, output));
    case CollectiveKind::AllToAll:
      return then(flat_gather_inputs(n, root), flat_scatter_outputs(n, root));
    case CollectiveKind::SendRecv:
      break;
  }
  COLLSIM_ENSURE(false, "naive does not implement this collective");
}

/// The root's scratch of all_to_all holds ranks · ranks blocks.
std::optional<std::string> obstacle(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  constexpr std::uint32_t most_ranks = std::numeric_limits<std::uint16_t>::max();
  if (call.kind != CollectiveKind::AllToAll) {
    return std::nullopt;
  }
  if (call.ranks > most_ranks) {
    return "its all_to_all numbers the blocks of all ranks, which goes up to " +
           std::to_string(most_ranks) + " ranks";
  }
  if (call.size().count() > std::numeric_limits<std::int64_t>::max() / call.ranks) {
    return "its all_to_all puts the data of all ranks into the root's memory, more than 8 EiB";
  }
  return std::nullopt;
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  return partition("naive", request.call, pattern_for(request.call), request.channels,
                   request.chunks);
}

}  // namespace

Algorithm naive() {
  using enum CollectiveKind;
  return {"naive",
          "everything through one rank: what the good algorithms are measured against",
          {Broadcast, Scatter, Gather, Reduce, AllGather, ReduceScatter, AllReduce, AllToAll},
          obstacle,
          build};
}

}  // namespace collsim
