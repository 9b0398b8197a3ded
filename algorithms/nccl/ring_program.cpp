#include "algorithms/nccl/ring_program.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

#include "algorithms/nccl/channel_tables.hpp"
#include "algorithms/nccl/divided_up.hpp"
#include "algorithms/nccl/slices.hpp"
#include "algorithms/rank_circle.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

/// A ring: who stands where, counted from rank 0 on.
class RingOrder {
 public:
  explicit RingOrder(const std::vector<Rank>& ring) : order_(ring), position_(ring.size()) {
    std::ranges::rotate(order_, std::ranges::find(order_, Rank(0)));
    for (std::size_t i = 0; i < order_.size(); ++i) {
      position_.at(order_[i].index()) = static_cast<std::uint32_t>(i);
    }
  }

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::uint32_t position(Rank rank) const { return position_[rank.index()]; }
  /// The rank `distance` places before a position.
  [[nodiscard]] Rank before(std::uint32_t position, std::uint32_t distance) const {
    return order_[collsim::before(Rank(position), distance, ranks()).index()];
  }
  [[nodiscard]] Rank next(Rank rank) const {
    return order_[after(Rank(position(rank)), 1, ranks()).index()];
  }
  [[nodiscard]] Rank previous(Rank rank) const { return before(position(rank), 1); }

 private:
  std::vector<Rank> order_;
  std::vector<std::uint32_t> position_;  // by rank
};

/// An element of a buffer.
struct ElementPlace {
  Buffer buffer;
  std::int64_t first;
};

/// A call of one of the kernel's primitives: what is received is reduced with `source` where both
/// are given.
struct PrimitiveCall {
  std::int64_t count = 0;
  bool receives = false;
  bool sends = false;
  std::optional<ElementPlace> source{};
  std::optional<ElementPlace> destination{};
};

/// Where a rank is in its work: primitive `k` of a loop.
struct RingPlace {
  const RingOrder& ring;
  const ChannelWork& work;
  std::uint32_t position;
  std::int64_t loop;
  std::uint32_t k;
};

/// What the collectives have in common.
class RingProgram : public Program {
 public:
  [[nodiscard]] const CollectiveCall& call() const override { return execution_.call; }
  [[nodiscard]] std::string_view algorithm() const override { return "nccl-ring"; }

  [[nodiscard]] std::uint32_t lane_count(Rank) const override {
    return static_cast<std::uint32_t>(loops_.size());
  }
  [[nodiscard]] Lane lane(Rank, std::uint32_t lane) const override {
    const ChannelWork& work = execution_.work[lane];
    return {work.channel,
            lane,
            static_cast<std::uint32_t>(execution_.fifo),
            wire_protocol(execution_.protocol),
            Kernel::Collective,
            static_cast<std::uint32_t>(execution_.threads),
            work.multiplicity};
  }
  [[nodiscard]] std::uint64_t step_count(Rank, std::uint32_t lane) const override {
    return loops_[lane] * loop_primitives_ * slices();
  }
  [[nodiscard]] std::optional<LaneSchedule> schedule(Rank, std::uint32_t lane) const override {
    const ChannelWork& work = execution_.work[lane];
    if (!all_ranks_alike(work, loops_[lane])) {
      return std::nullopt;
    }
    // Channels with as much work in equal chunks do the same.
    const auto first = std::ranges::find_if(execution_.work, [&work](const ChannelWork& other) {
      return other.count == work.count && other.chunk == work.chunk;
    });
    const auto number = static_cast<std::uint64_t>(first - execution_.work.begin());
    return LaneSchedule{number, 1};
  }
  [[nodiscard]] Step step(Rank rank, std::uint32_t lane, std::uint64_t index) const override {
    const RingOrder& ring = orders_[lane];
    const std::uint64_t primitive = index / slices();
    const std::uint64_t loop = primitive / loop_primitives_;
    const PrimitiveCall asked = primitive_call(
        {ring, execution_.work[lane], ring.position(rank), static_cast<std::int64_t>(loop),
         static_cast<std::uint32_t>(primitive - loop * loop_primitives_)});
    const Slice slice =
        slice_of(execution_, asked.count, static_cast<std::int64_t>(index - primitive * slices()));
    Step step;
    step.bytes = bytes(slice.count);
    step.receives.count = asked.receives ? 1 : 0;
    step.sends.count = asked.sends ? 1 : 0;
    if (asked.source) {
      step.source = span(*asked.source, slice);
    }
    if (asked.destination) {
      step.destination = span(*asked.destination, slice);
    }
    return step;
  }
  [[nodiscard]] Connection send_to(Rank rank, std::uint32_t lane, std::uint32_t) const override {
    return {orders_[lane].next(rank), lane, 0};
  }
  [[nodiscard]] Connection receive_from(Rank rank, std::uint32_t lane,
                                        std::uint32_t) const override {
    return {orders_[lane].previous(rank), lane, 0};
  }
  [[nodiscard]] Bytes scratch_bytes(Rank) const override { return Bytes(0); }

  [[nodiscard]] std::uint32_t channels() const override { return channel_count(execution_); }
  [[nodiscard]] std::uint32_t chunks() const override {
    return static_cast<std::uint32_t>(*std::ranges::max_element(loops_));
  }
  [[nodiscard]] std::uint64_t transfer_count() const override {
    const std::uint64_t loops_of_all =
        std::accumulate(loops_.begin(), loops_.end(), std::uint64_t{0});
    return loops_of_all * slices() * loop_messages_;
  }

 protected:
  /// Primitives a rank calls and messages that all ranks send in a loop (with one slice), and the
  /// chunks of a part that a loop moves.
  struct LoopShape {
    std::uint64_t primitives;
    std::uint64_t messages;
    std::int64_t chunks;
  };

  RingProgram(const Execution& execution, const std::vector<std::vector<Rank>>& rings,
              LoopShape loop)
      : execution_(execution),
        orders_(execution.work, rings),
        loop_primitives_(loop.primitives),
        loop_messages_(loop.messages) {
    for (std::size_t lane = 0; lane < execution_.work.size(); ++lane) {
      const ChannelWork& work = execution_.work[lane];
      COLLSIM_ENSURE(orders_[lane].ranks() == ranks(), "a ring has every rank");
      loops_.push_back(
          static_cast<std::uint64_t>(divided_up(work.count, work.chunk * loop.chunks)));
    }
  }

  /// Whether every rank calls primitives for as many elements, one by one.
  [[nodiscard]] virtual bool all_ranks_alike(const ChannelWork& work,
                                             std::uint64_t loops) const = 0;
  /// In the order in which the kernel calls them.
  [[nodiscard]] virtual PrimitiveCall primitive_call(const RingPlace& at) const = 0;

  [[nodiscard]] std::uint32_t ranks() const { return execution_.call.ranks; }
  [[nodiscard]] bool in_place() const { return execution_.call.in_place == InPlace::Yes; }
  [[nodiscard]] std::int64_t element_bytes() const { return element_bytes_; }

  /// Of calls with a block a rank: the first element of the loop's chunk in the block of a rank.
  [[nodiscard]] static std::int64_t chunk_begin(const RingPlace& at) {
    return at.work.first + at.loop * at.work.chunk;
  }
  [[nodiscard]] static std::int64_t chunk_count(const RingPlace& at) {
    return std::min(at.work.chunk, at.work.count - at.loop * at.work.chunk);
  }
  [[nodiscard]] std::int64_t chunk_begin(const RingPlace& at, Rank block) const {
    return std::int64_t{block.value()} * execution_.call.count + chunk_begin(at);
  }
  /// How many places behind the root the rank stands.
  [[nodiscard]] std::uint32_t distance_from_root(const RingPlace& at) const {
    return distance(Rank(at.ring.position(execution_.call.root)), Rank(at.position), ranks());
  }

 private:
  [[nodiscard]] std::uint64_t slices() const {
    return static_cast<std::uint64_t>(execution_.slices);
  }
  [[nodiscard]] Bytes bytes(std::int64_t elements) const {
    return Bytes(elements * element_bytes_);
  }
  [[nodiscard]] Span span(const ElementPlace& place, const Slice& slice) const {
    return Span::contiguous(place.buffer, bytes(place.first + slice.first), bytes(slice.count));
  }

  Execution execution_;
  std::int64_t element_bytes_ = size_of(execution_.call.type).count();
  ChannelTables<RingOrder> orders_;  // by lane
  std::uint64_t loop_primitives_;
  std::uint64_t loop_messages_;
  std::vector<std::uint64_t> loops_;  // by lane
};

/// A loop has a chunk for each rank: the chunk of position i starts behind that position, collects
/// everyone's contribution on its way round to it, and goes round once more.
class RingAllReduce final : public RingProgram {
 public:
  RingAllReduce(const Execution& execution, const std::vector<std::vector<Rank>>& rings)
      : RingProgram(execution, rings,
                    {std::uint64_t{2} * execution.call.ranks - 1,
                     std::uint64_t{2} * execution.call.ranks * (execution.call.ranks - 1),
                     execution.call.ranks}) {}

 private:
  /// Where the last loop deals out as much to everyone.
  [[nodiscard]] bool all_ranks_alike(const ChannelWork& work, std::uint64_t loops) const override {
    const std::int64_t of_loop = std::int64_t{ranks()} * work.chunk;
    const std::int64_t left = work.count - static_cast<std::int64_t>(loops - 1) * of_loop;
    return left == of_loop || left == ranks() * last_chunk(left);
  }
  [[nodiscard]] PrimitiveCall primitive_call(const RingPlace& at) const override {
    const std::uint32_t n = ranks();
    const std::int64_t begin = at.loop * n * at.work.chunk;
    const std::int64_t left = at.work.count - begin;
    const std::int64_t chunk = left < n * at.work.chunk ? last_chunk(left) : at.work.chunk;

    const std::uint32_t back = at.k < n ? at.k + 1 : at.k + 1 - n;
    const std::int64_t skipped = std::min(left, chunk * before(Rank(at.position), back, n).value());
    const std::int64_t first = at.work.first + begin + skipped;

    PrimitiveCall asked;
    asked.count = std::min(chunk, left - skipped);
    asked.receives = at.k > 0;
    asked.sends = at.k + 2 < 2 * n;
    if (at.k < n) {
      asked.source = {Buffer::Input, first};
    }
    if (at.k + 1 >= n) {
      asked.destination = {Buffer::Output, first};
    }
    return asked;
  }

  /// The last loop's data dealt to all ranks, in units of 16 bytes.
  [[nodiscard]] std::int64_t last_chunk(std::int64_t left) const {
    const std::int64_t unit = 16 / element_bytes();
    return divided_up(divided_up(left, std::int64_t{ranks()}), unit) * unit;
  }
};

/// A loop moves a chunk of every rank's block.
class RingAllGather final : public RingProgram {
 public:
  RingAllGather(const Execution& execution, const std::vector<std::vector<Rank>>& rings)
      : RingProgram(execution, rings,
                    {execution.call.ranks,
                     std::uint64_t{execution.call.ranks} * (execution.call.ranks - 1), 1}) {}

 private:
  [[nodiscard]] bool all_ranks_alike(const ChannelWork&, std::uint64_t) const override {
    return true;
  }
  [[nodiscard]] PrimitiveCall primitive_call(const RingPlace& at) const override {
    PrimitiveCall asked;
    asked.count = chunk_count(at);
    asked.receives = at.k > 0;
    asked.sends = at.k + 1 < ranks();
    if (at.k == 0) {
      asked.source = {Buffer::Input, chunk_begin(at)};
    }
    if (at.k > 0 || !in_place()) {
      const Rank block = at.ring.before(at.position, at.k);
      asked.destination = {Buffer::Output, chunk_begin(at, block)};
    }
    return asked;
  }
};

class RingReduceScatter final : public RingProgram {
 public:
  RingReduceScatter(const Execution& execution, const std::vector<std::vector<Rank>>& rings)
      : RingProgram(execution, rings,
                    {execution.call.ranks,
                     std::uint64_t{execution.call.ranks} * (execution.call.ranks - 1), 1}) {}

 private:
  [[nodiscard]] bool all_ranks_alike(const ChannelWork&, std::uint64_t) const override {
    return true;
  }
  [[nodiscard]] PrimitiveCall primitive_call(const RingPlace& at) const override {
    const Rank block = at.ring.before(at.position, at.k + 1);
    PrimitiveCall asked;
    asked.count = chunk_count(at);
    asked.receives = at.k > 0;
    asked.sends = at.k + 1 < ranks();
    asked.source = {Buffer::Input, chunk_begin(at, block)};
    if (!asked.sends) {
      asked.destination = {Buffer::Output, chunk_begin(at)};
    }
    return asked;
  }
};

class RingBroadcast final : public RingProgram {
 public:
  RingBroadcast(const Execution& execution, const std::vector<std::vector<Rank>>& rings)
      : RingProgram(execution, rings, {1, execution.call.ranks - 1, 1}) {}

 private:
  [[nodiscard]] bool all_ranks_alike(const ChannelWork&, std::uint64_t) const override {
    return false;  // the ends of the chain do something else
  }
  [[nodiscard]] PrimitiveCall primitive_call(const RingPlace& at) const override {
    const std::uint32_t place = distance_from_root(at);
    PrimitiveCall asked;
    asked.count = chunk_count(at);
    asked.receives = place > 0;
    asked.sends = place + 1 < ranks();
    if (place == 0) {
      asked.source = {Buffer::Input, chunk_begin(at)};
    }
    if (place > 0 || !in_place()) {
      asked.destination = {Buffer::Output, chunk_begin(at)};
    }
    return asked;
  }
};

class RingReduce final : public RingProgram {
 public:
  RingReduce(const Execution& execution, const std::vector<std::vector<Rank>>& rings)
      : RingProgram(execution, rings, {1, execution.call.ranks - 1, 1}) {}

 private:
  [[nodiscard]] bool all_ranks_alike(const ChannelWork&, std::uint64_t) const override {
    return false;  // the ends of the chain do something else
  }
  [[nodiscard]] PrimitiveCall primitive_call(const RingPlace& at) const override {
    const std::uint32_t place = distance_from_root(at);
    PrimitiveCall asked;
    asked.count = chunk_count(at);
    asked.receives = place != 1;
    asked.sends = place != 0;
    asked.source = {Buffer::Input, chunk_begin(at)};
    if (place == 0) {
      asked.destination = {Buffer::Output, chunk_begin(at)};
    }
    return asked;
  }
};

}  // namespace

std::unique_ptr<Program> build_ring_program(const Execution& execution,
                                            const std::vector<std::vector<Rank>>& rings) {
  COLLSIM_ENSURE(execution.algorithm == Algorithm::Ring, "the execution of a ring");
  switch (execution.call.kind) {
    case CollectiveKind::AllReduce:
      return std::make_unique<RingAllReduce>(execution, rings);
    case CollectiveKind::AllGather:
      return std::make_unique<RingAllGather>(execution, rings);
    case CollectiveKind::ReduceScatter:
      return std::make_unique<RingReduceScatter>(execution, rings);
    case CollectiveKind::Broadcast:
      return std::make_unique<RingBroadcast>(execution, rings);
    case CollectiveKind::Reduce:
      return std::make_unique<RingReduce>(execution, rings);
    default:
      break;
  }
  COLLSIM_ENSURE(false, "NCCL has no ring for this collective");
}

}  // namespace collsim::nccl
