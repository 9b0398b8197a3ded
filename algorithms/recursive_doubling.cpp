// Recursive doubling: in round j, ranks at a distance of 2^j exchange all they have, so log2 n
// rounds are enough.
//
//   all_reduce  the whole buffer in every round, added to the own one
//   all_gather  what has been gathered so far, twice as much in every round
//
// Rank counts that are no power of two: see doubling.hpp.
// Source: Thakur, Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations
// in MPICH", §4.1 and §4.5.

#include <utility>

#include "algorithms/doubling.hpp"
#include "algorithms/table.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

class RecursiveDoublingAllReduce final : public PairExchange {
 public:
  RecursiveDoublingAllReduce(std::uint32_t ranks, Place from, Place to)
      : PairExchange(ranks), from_(from), to_(to) {}

  [[nodiscard]] std::uint32_t blocks() const override { return 1; }

  [[nodiscard]] Step step(Rank rank, std::uint32_t, std::uint64_t index,
                          const Part& part) const override {
    const auto round = static_cast<std::uint32_t>(index / 2);
    // Who has an extra rank has already added it to its own.
    const Place so_far = round == 0 && !participants().has_extra(rank) ? from_ : to_;
    Step step;
    step.bytes = part.bytes_of(0);
    step.source = part.blocks(so_far, 0);
    if (index % 2 == 0) {
      step.sends = {round, 1};
    } else {
      step.receives = {round, 1};
      step.destination = part.blocks(to_, 0);
    }
    return step;
  }

 private:
  Place from_;
  Place to_;
};

std::unique_ptr<Pattern> all_reduce(std::uint32_t ranks) {
  const Place input = all_blocks(Buffer::Input);
  const Place output = all_blocks(Buffer::Output);
  auto exchanges = std::make_unique<RecursiveDoublingAllReduce>(ranks, input, output);
  if (PowerOfTwo(ranks).extra() == 0) {
    return exchanges;
  }
  return then(then(extra_ranks_contribute(ranks, 1, input, output), std::move(exchanges)),
              extra_ranks_get_all(ranks, 1, output));
}

std::unique_ptr<Program> build(const ProgramRequest& request) {
  const CollectiveCall& call = request.call;
  std::unique_ptr<Pattern> pattern;
  if (call.kind == CollectiveKind::AllReduce) {
    pattern = all_reduce(call.ranks);
  } else {
    COLLSIM_ENSURE(call.kind == CollectiveKind::AllGather,
                   "recursive-doubling does not implement this collective");
    pattern = complete_doubling_all_gather(call.ranks);
  }
  return partition("recursive-doubling", call, std::move(pattern), request.channels,
                   request.chunks);
}

}  // namespace

Algorithm recursive_doubling() {
  using enum CollectiveKind;
  return {"recursive-doubling",
          "exchanges over distances 1, 2, 4, …: the least latency, all data in every round",
          {AllReduce, AllGather},
          no_obstacle,
          build};
}

}  // namespace collsim
