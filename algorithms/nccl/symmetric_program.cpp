#include "algorithms/nccl/symmetric_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/peer_program.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

constexpr std::int64_t cell_bytes = 1024;
constexpr std::uint32_t block_threads = 512;

enum class Action : std::uint8_t {
  Signal,     ///< tells all peers that it has come so far
  Await,      ///< waits for theirs
  PushAll,    ///< the own part to all
  SendParts,  ///< to each peer its part
  PostParts,  ///< the same: left where the switch reads it
  Store,      ///< the own part to one peer after the other
  Multicast,  ///< the own part to all, through the switch
  Reduce,     ///< what all sent, and the own part
  Switch,     ///< reads all peers' parts, reduced, and writes to all
  SwitchReduce,
  Take,  ///< what each peer sent, one after the other
};

/// An action, and which of a lane's classes of slots it uses: a class is a slot for each peer.
struct Stage {
  Action action{};
  std::uint32_t slots{0};
};

std::vector<Stage> stages_of(SymmetricKernel kernel) {
  using enum Action;
  switch (kernel) {
    case SymmetricKernel::AllReduceLL:
      return {{PushAll, 0}, {Reduce, 0}};
    case SymmetricKernel::AllReduceLLMC:
      return {{Multicast, 0}, {Reduce, 0}};
    case SymmetricKernel::AllReduceLDST:
      return {{Signal, 0}, {Await, 0}, {SendParts, 1}, {Reduce, 1}, {Store, 2}, {Take, 2}};
    case SymmetricKernel::AllReduceLDMC:
      return {{PostParts, 0}, {Switch, 0}, {Take, 1}};
    case SymmetricKernel::AllGatherLL:
      return {{PushAll, 0}, {Take, 0}};
    case SymmetricKernel::AllGatherLLMC:
      return {{Multicast, 0}, {Take, 0}};
    case SymmetricKernel::AllGatherST:
      return {{Signal, 0}, {Await, 0}, {Store, 1}, {Take, 1}};
    case SymmetricKernel::AllGatherSTMC:
      return {{Signal, 0}, {Await, 0}, {Multicast, 1}, {Take, 1}};
    case SymmetricKernel::ReduceScatterLL:
      return {{SendParts, 0}, {Reduce, 0}};
    case SymmetricKernel::ReduceScatterLD:
      return {{Signal, 0}, {Await, 0}, {SendParts, 1}, {Reduce, 1}, {Signal, 2}, {Await, 2}};
    case SymmetricKernel::ReduceScatterLDMC:
      return {{PostParts, 0}, {SwitchReduce, 0}, {Signal, 1}, {Await, 1}};
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

bool a_step_a_peer(Action action) {
  return action == Action::SendParts || action == Action::PostParts || action == Action::Store ||
         action == Action::Take;
}

/// Classes of slots that the stage sends on.
bool sends(Action action) {
  return action != Action::Await && action != Action::Reduce && action != Action::SwitchReduce &&
         action != Action::Take;
}

/// A piece of data: elements.
struct Piece {
  std::int64_t first{0};
  std::int64_t count{0};
};

/// The share of one of `parts` in whole cells of `cell` elements, the first ones a cell more; only the last
/// cell may be short.
Piece share(Piece whole, std::int64_t parts, std::int64_t number, std::int64_t cell) {
  const std::int64_t cells = divided_up(whole.count, cell);
  const std::int64_t begin = cell * (number * (cells / parts) + std::min(number, cells % parts));
  const std::int64_t end = begin + cell * (cells / parts + (number < cells % parts ? 1 : 0));
  const std::int64_t first = std::min(begin, whole.count);
  return {whole.first + first, std::min(end, whole.count) - first};
}

class SymmetricProgram final : public PeerProgram {
 public:
  SymmetricProgram(const CollectiveCall& call, const SymmetricChoice& choice, EqualBlocks equal);

  [[nodiscard]] std::string_view algorithm() const override { return "nccl-symmetric"; }
  [[nodiscard]] std::uint32_t lane_count(Rank) const override {
    return static_cast<std::uint32_t>(blocks_.size());
  }
  [[nodiscard]] Lane lane(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] std::uint64_t step_count(Rank rank, std::uint32_t lane) const override;
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override;
  [[nodiscard]] bool reduces_in_network() const override {
    return sort_of(choice_.kernel).multicast;
  }
  [[nodiscard]] std::uint32_t channels() const override { return choice_.blocks; }
  [[nodiscard]] std::uint64_t transfer_count() const override;

 private:
  struct Block {
    std::uint32_t number{0};
    std::uint32_t multiplicity{1};
  };

  [[nodiscard]] std::uint64_t steps_of(const Stage& stage) const {
    return a_step_a_peer(stage.action) ? others() : 1;
  }
  /// What the block does of the data that belong to a rank: of an all-reduce that every rank reduces for itself,
  /// all.
  [[nodiscard]] Piece piece(Rank owner, std::uint32_t block) const;
  [[nodiscard]] Bytes bytes(Rank owner, std::uint32_t block) const {
    return element_ * piece(owner, block).count;
  }
  [[nodiscard]] Span span(Buffer buffer, Rank owner, std::uint32_t block) const;

  SymmetricChoice choice_;
  std::vector<Stage> stages_;
  Bytes element_;
  bool owned_;  ///< each rank owns a share of the data
  std::vector<Block> blocks_{};
};

SymmetricProgram::SymmetricProgram(const CollectiveCall& call, const SymmetricChoice& choice,
                                   EqualBlocks equal)
    : PeerProgram(call),
      choice_(choice),
      stages_(stages_of(choice.kernel)),
      element_(size_of(call.type)),
      owned_(call.blocked() || !sort_of(choice.kernel).ll) {
  std::map<std::vector<std::int64_t>, std::size_t> alike;
  for (std::uint32_t block = 0; block < choice.blocks; ++block) {
    std::vector<std::int64_t> sizes;
    for (std::uint32_t owner = 0; owner < call.ranks; ++owner) {
      sizes.push_back(piece(Rank(owner), block).count);
    }
    const auto [first, is_new] = alike.try_emplace(std::move(sizes), blocks_.size());
    if (is_new || equal == EqualBlocks::Apart) {
      blocks_.push_back({block, 1});
    } else {
      ++blocks_[first->second].multiplicity;
    }
  }
}

Piece SymmetricProgram::piece(Rank owner, std::uint32_t block) const {
  const std::int64_t cell = std::max<std::int64_t>(1, cell_bytes / element_.count());
  Piece whole{0, call().count};
  if (owned_ && !call().blocked()) {
    whole = share(whole, call().ranks, owner.value(), cell);
  }
  return share(whole, choice_.blocks, block, cell);
}

Span SymmetricProgram::span(Buffer buffer, Rank owner, std::uint32_t block) const {
  const Piece part = piece(owner, block);
  return Span::contiguous(buffer, block_offset(call(), buffer, owner) + element_ * part.first,
                          element_ * part.count);
}

Lane SymmetricProgram::lane(Rank, std::uint32_t lane) const {
  const SymmetricKernelSort& sort = sort_of(choice_.kernel);
  Lane result;
  result.channel = blocks_[lane].number;
  result.group = lane;
  result.protocol = sort.ll ? WireProtocol::LL : WireProtocol::Simple;
  result.kernel = sort.multicast ? Kernel::SymmetricMulticast : Kernel::Symmetric;
  result.threads = block_threads;
  result.multiplicity = blocks_[lane].multiplicity;
  return result;
}

std::uint64_t SymmetricProgram::step_count(Rank, std::uint32_t) const {
  std::uint64_t count = 0;
  for (const Stage& stage : stages_) {
    count += steps_of(stage);
  }
  return count;
}

Step SymmetricProgram::step(Rank rank, std::uint32_t lane, std::uint64_t index) const {
  auto stage = stages_.begin();
  std::uint64_t turn = index;
  for (; turn >= steps_of(*stage); ++stage) {
    turn -= steps_of(*stage);
  }
  const SlotRange all_peers = all(stage->slots);
  const SlotRange one_peer = one(stage->slots, turn);
  const std::uint32_t block = blocks_[lane].number;
  const bool gathers = call().kind == CollectiveKind::AllGather;
  const bool keeps_own = gathers && call().in_place == InPlace::No;

  Step step;
  step.bytes = bytes(rank, block);
  switch (stage->action) {
    case Action::Signal:
      return signal(stage->slots);
    case Action::Await:
      return await(stage->slots);
    case Action::SendParts:
    case Action::PostParts: {
      const Rank peer = receiver(rank, one_peer.first);
      step.bytes = bytes(peer, block);
      step.source = span(Buffer::Input, peer, block);
      step.sends = one_peer;
      step.movement = stage->action == Action::PostParts ? Movement::Post : Movement::Route;
      return step;
    }
    case Action::Take: {
      const Rank peer = sender(rank, one_peer.first);
      step.bytes = bytes(peer, block);
      step.destination = span(Buffer::Output, peer, block);
      step.receives = one_peer;
      return step;
    }
    case Action::PushAll:
    case Action::Multicast:
    case Action::Store:
      step.source = span(gathers || !owned_ ? Buffer::Input : Buffer::Output, rank, block);
      step.sends = stage->action == Action::Store ? one_peer : all_peers;
      step.movement = stage->action == Action::Multicast ? Movement::Multimem : Movement::Route;
      // The switch writes to the sender, too.
      if (gathers && (stage->action == Action::Multicast || (keeps_own && turn == 0))) {
        step.destination = span(Buffer::Output, rank, block);
      }
      return step;
    case Action::Reduce:
    case Action::SwitchReduce:
    case Action::Switch:
      step.receives = all_peers;
      step.source = span(Buffer::Input, rank, block);
      step.destination = span(Buffer::Output, rank, block);
      if (stage->action != Action::Reduce) {
        step.movement = Movement::Multimem;
      }
      if (stage->action == Action::Switch) {
        step.sends = all(stage->slots + 1);
      }
      return step;
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

std::uint64_t SymmetricProgram::transfer_count() const {
  const auto classes = static_cast<std::uint64_t>(
      std::ranges::count_if(stages_, [](const Stage& stage) { return sends(stage.action); }));
  return classes * others() * call().ranks * blocks_.size();
}

}  // namespace

std::unique_ptr<Program> build_symmetric_program(const CollectiveCall& call,
                                                 const SymmetricChoice& choice, EqualBlocks equal) {
  COLLSIM_ENSURE(call.ranks > 1 && sort_of(choice.kernel).collective == call.kind,
                 "a kernel of the collective");
  return std::make_unique<SymmetricProgram>(call, choice, equal);
}

}  // namespace collsim::nccl
