#include "algorithms/nccl/pat_schedule.hpp"

#include <algorithm>
#include <bit>

#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

using Place = PatOperation::Place;

constexpr std::uint32_t slots = 8;

/// One exchange: the blocks as the rank at the far end of the tree's edge names them, which is where
/// they come from in ReduceScatter and go to in AllGather.
struct Exchange {
  std::uint32_t dimension{0};
  PatBlocks far{};

  /// As the rank nearer to the owners of the blocks names them.
  [[nodiscard]] PatBlocks near() const {
    return {far.first - (1U << dimension), far.stride, far.count};
  }
};

/// Blocks that are on their way to a rank.
struct Arriving {
  std::uint32_t dimension{0};
  PatBlocks blocks{};
};

bool contains(const PatBlocks& blocks, std::uint32_t distance) {
  return distance >= blocks.first && (distance - blocks.first) % blocks.stride == 0 &&
         (distance - blocks.first) / blocks.stride < blocks.count;
}

std::vector<PatBlocks> messages_of(const PatBlocks& blocks, std::uint32_t message) {
  std::vector<PatBlocks> messages;
  for (std::uint32_t begin = 0; begin < blocks.count; begin += message) {
    messages.push_back({blocks.first + begin * blocks.stride, blocks.stride,
                        std::min(message, blocks.count - begin)});
  }
  return messages;
}

/// The exchanges of both collectives, in the order of AllGather or of ReduceScatter.
class Exchanges {
 public:
  Exchanges(std::uint32_t ranks, std::uint32_t aggregation)
      : ranks_(ranks), aggregation_(aggregation), delta_(std::bit_ceil(ranks) / aggregation) {}

  [[nodiscard]] std::vector<Exchange> of_all_gather() {
    for (std::uint32_t scale = aggregation_ / 2; scale > 0; scale /= 2) {
      add_doubling(scale);
    }
    add_subtrees(0, delta_);
    return std::move(exchanges_);
  }
  [[nodiscard]] std::vector<Exchange> of_reduce_scatter() {
    for (std::uint32_t distance = delta_ - 1; distance > 0; --distance) {
      add(distance, delta_, aggregation_);
    }
    for (std::uint32_t scale = 1; scale < aggregation_; scale *= 2) {
      add_doubling(scale);
    }
    return std::move(exchanges_);
  }

 private:
  void add_doubling(std::uint32_t scale) {
    add(scale * delta_, 2 * scale * delta_, aggregation_ / (2 * scale));
  }
  /// What is below `distance` in the binomial tree, whose subtree has `size` distances.
  void add_subtrees(std::uint32_t distance, std::uint32_t size) {
    for (std::uint32_t step = size / 2; step > 0; step /= 2) {
      add(distance + step, delta_, aggregation_);
      add_subtrees(distance + step, step);
    }
  }
  /// Only distances of ranks that are there.
  void add(std::uint32_t first, std::uint32_t stride, std::uint32_t count) {
    if (first >= ranks_) {
      return;
    }
    const std::uint32_t present = (ranks_ - first + stride - 1) / stride;
    exchanges_.push_back({static_cast<std::uint32_t>(std::countr_zero(first)),
                          {first, stride, std::min(count, present)}});
  }

  std::uint32_t ranks_;
  std::uint32_t aggregation_;
  std::uint32_t delta_;
  std::vector<Exchange> exchanges_;
};

/// What becomes of the blocks of both collectives; where they are differs.
class Schedule {
 public:
  explicit Schedule(PatAggregation aggregation) : message_(aggregation.message) {}
  virtual ~Schedule() = default;

  [[nodiscard]] std::vector<PatOperation> run(const std::vector<Exchange>& exchanges) {
    for (const Exchange& exchange : exchanges) {
      const PatBlocks outgoing = leaving(exchange);
      if (arriving_ && arriving_->blocks == outgoing) {
        // What has come goes on at once.
        for (const PatBlocks& blocks : messages_of(outgoing, message_)) {
          pass_on(blocks, arriving_->dimension, exchange.dimension);
        }
      } else {
        receive_then_send(outgoing, exchange.dimension);
      }
      arriving_ = {exchange.dimension, coming(exchange)};
    }
    for (const PatBlocks& blocks : messages_of(arriving_->blocks, message_)) {
      receive_last(blocks, arriving_->dimension);
    }
    return std::move(operations_);
  }

 protected:
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;

  [[nodiscard]] virtual PatBlocks leaving(const Exchange& exchange) const = 0;
  [[nodiscard]] virtual PatBlocks coming(const Exchange& exchange) const = 0;
  virtual void pass_on(const PatBlocks& blocks, std::uint32_t from, std::uint32_t to) = 0;
  virtual void receive(const PatBlocks& blocks, std::uint32_t from) = 0;
  virtual void receive_last(const PatBlocks& blocks, std::uint32_t from) = 0;
  virtual void send(const PatBlocks& blocks, std::uint32_t to, bool continues) = 0;

  void add(const PatOperation& operation) { operations_.push_back(operation); }

 private:
  /// What has come is a part of what goes out, or has nothing to do with it. NCCL handles blocks one
  /// by one, and those that come and go in one operation.
  void receive_then_send(const PatBlocks& outgoing, std::uint32_t to) {
    std::size_t received = 0;
    if (arriving_) {
      const auto messages = messages_of(arriving_->blocks, message_);
      for (const PatBlocks& blocks : messages) {
        receive(blocks, arriving_->dimension);
      }
      if (contains(outgoing, arriving_->blocks.first)) {
        received = messages.size();
      }
    }
    for (const PatBlocks& blocks : messages_of(outgoing, message_)) {
      send(blocks, to, received > 0);
      received -= received > 0 ? 1 : 0;
    }
  }

  std::uint32_t message_;
  std::optional<Arriving> arriving_;
  std::vector<PatOperation> operations_;
};

class AllGatherSchedule final : public Schedule {
 public:
  using Schedule::Schedule;

 protected:
  [[nodiscard]] PatBlocks leaving(const Exchange& exchange) const override {
    return exchange.near();
  }
  [[nodiscard]] PatBlocks coming(const Exchange& exchange) const override { return exchange.far; }
  void pass_on(const PatBlocks& blocks, std::uint32_t from, std::uint32_t to) override {
    add({blocks, from, to, Place::None, Place::Kept, false});
  }
  void receive(const PatBlocks& blocks, std::uint32_t from) override {
    add({blocks, from, {}, Place::None, Place::Kept, false});
  }
  void receive_last(const PatBlocks& blocks, std::uint32_t from) override { receive(blocks, from); }
  void send(const PatBlocks& blocks, std::uint32_t to, bool continues) override {
    // The first message is the own block alone.
    if (!has_own_) {
      add({blocks, {}, to, Place::Input, Place::Kept, continues});
      has_own_ = true;
    } else {
      add({blocks, {}, to, Place::Kept, Place::None, continues});
    }
  }

 private:
  bool has_own_ = false;
};

class ReduceScatterSchedule final : public Schedule {
 public:
  ReduceScatterSchedule(std::uint32_t ranks, PatAggregation aggregation)
      : Schedule(aggregation), kept_(ranks) {}

 protected:
  [[nodiscard]] PatBlocks leaving(const Exchange& exchange) const override { return exchange.far; }
  [[nodiscard]] PatBlocks coming(const Exchange& exchange) const override {
    return exchange.near();
  }
  void pass_on(const PatBlocks& blocks, std::uint32_t from, std::uint32_t to) override {
    const Place source = own_part(blocks);
    add({blocks, from, to, source, Place::None, false});
  }
  void receive(const PatBlocks& blocks, std::uint32_t from) override {
    const Place source = own_part(blocks);
    add({blocks, from, {}, source, Place::Kept, false});
    for (std::uint32_t i = 0; i < blocks.count; ++i) {
      kept_[blocks.first + i * blocks.stride] = true;
    }
  }
  void receive_last(const PatBlocks& blocks, std::uint32_t from) override {
    COLLSIM_ENSURE(blocks.first == 0 && blocks.count == 1, "the last sum is the rank's own");
    const Place source = own_part(blocks);
    add({blocks, from, {}, source, Place::Output, false});
  }
  void send(const PatBlocks& blocks, std::uint32_t to, bool continues) override {
    const Place source = own_part(blocks);
    add({blocks, {}, to, source, Place::None, continues});
  }

 private:
  /// Where the sums of blocks are, as far as the rank has them: its input where nothing has come
  /// yet. Where that is so for some, they are copied to the others.
  [[nodiscard]] Place own_part(const PatBlocks& blocks) {
    std::vector<std::uint32_t> fresh;
    for (std::uint32_t i = 0; i < blocks.count; ++i) {
      const std::uint32_t distance = blocks.first + i * blocks.stride;
      if (!kept_[distance]) {
        fresh.push_back(distance);
      }
    }
    if (fresh.size() == blocks.count) {
      return Place::Input;
    }
    for (const std::uint32_t distance : fresh) {
      add({{distance, blocks.stride, 1}, {}, {}, Place::Input, Place::Kept, true});
      kept_[distance] = true;
    }
    return Place::Kept;
  }

  std::vector<bool> kept_;  ///< by distance
};

}  // namespace

PatAggregation pat_aggregation(std::uint32_t ranks, std::int64_t block, std::int64_t slot) {
  std::uint32_t message = 1;
  while (slot / (block * message) >= 2 && message < ranks / 2) {
    message *= 2;
  }
  // More blocks than fit a slot take more of the slots.
  std::uint32_t blocks = message;
  for (std::uint32_t more = slots; more > 1 && blocks < ranks / 2; more /= 2) {
    blocks *= 2;
  }
  return {blocks, message};
}

std::vector<PatOperation> pat_all_gather(std::uint32_t ranks, PatAggregation aggregation) {
  return AllGatherSchedule(aggregation).run(Exchanges(ranks, aggregation.blocks).of_all_gather());
}

std::vector<PatOperation> pat_reduce_scatter(std::uint32_t ranks, PatAggregation aggregation) {
  return ReduceScatterSchedule(ranks, aggregation)
      .run(Exchanges(ranks, aggregation.blocks).of_reduce_scatter());
}

}  // namespace collsim::nccl
