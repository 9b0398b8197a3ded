#include "algorithms/nccl/work_split.hpp"

#include <algorithm>

#include "algorithms/nccl/divided_up.hpp"
#include "topology/error.hpp"

namespace collsim::nccl {

namespace {

// Less traffic than this is not worth a channel.
constexpr std::int64_t least_traffic = std::int64_t{16} * 1024;
constexpr std::int64_t cell_grain = 16;

/// Bytes moved for each byte of the count, as NCCL weighs them.
std::int64_t traffic_per_byte(Function function, int ranks) {
  switch (function) {
    case Function::AllReduce:
      return 2;
    case Function::AllGather:
    case Function::ReduceScatter:
      return ranks;
    case Function::Broadcast:
    case Function::Reduce:
      break;
  }
  return 1;
}

// LL sends twice the bytes, at half the speed.
std::int64_t protocol_weight(Protocol protocol) { return protocol == Protocol::LL ? 4 : 1; }

std::int64_t traffic_of(const SplitTask& task, int ranks) {
  return task.count * task.element_size * traffic_per_byte(task.function, ranks) *
         protocol_weight(task.protocol);
}

std::int64_t traffic_per_channel(std::span<const SplitTask> tasks, int ranks, int limit) {
  std::int64_t traffic = 0;
  int channels = 0;
  for (const SplitTask& task : tasks) {
    traffic += std::max(least_traffic, traffic_of(task, ranks));
    channels = std::min(channels + task.channels, limit);
  }
  COLLSIM_ENSURE(channels > 0, "a task's channels exist");
  return std::max(least_traffic, traffic / channels);
}

/// Cells on the first channel, on each of those between, and on the last.
struct Spread {
  std::int64_t low;
  std::int64_t each;
  std::int64_t middle;  ///< channels between
  std::int64_t high;
};

/// Deals one task after another; remembers how full the current channel is.
class Dealer {
 public:
  Dealer(std::int64_t per_channel, int limit) : per_channel_(per_channel), limit_(limit) {}

  std::vector<ChannelPart> deal(const SplitTask& task, int ranks) {
    const std::int64_t weight =
        traffic_per_byte(task.function, ranks) * protocol_weight(task.protocol);
    const std::int64_t cell =
        divided_up(divided_up(least_traffic, weight), cell_grain) * cell_grain;
    const std::int64_t cells = divided_up(task.count * task.element_size, cell);
    const Spread spread = fit(cells, cell * weight);
    const std::int64_t per_cell = cell / task.element_size;
    std::vector<ChannelPart> parts = parts_of(spread, per_cell);
    // The last cell may not be full.
    parts.back().count -= cells * per_cell - task.count;
    advance(spread, per_cell * task.element_size * weight);
    return parts;
  }

 private:
  Spread fit(std::int64_t cells, std::int64_t cell_traffic) {
    Spread spread{};
    spread.each = std::min(cells, divided_up(per_channel_, cell_traffic));
    spread.low = channel_ + 1 == limit_
                     ? cells
                     : std::min(cells, divided_up(per_channel_ - current_, cell_traffic));
    const std::int64_t rest = cells - spread.low;
    spread.middle = rest / spread.each;
    spread.high = rest % spread.each;
    const std::int64_t wanted =
        (spread.low != 0 ? 1 : 0) + spread.middle + (spread.high != 0 ? 1 : 0);
    if (channel_ + wanted > limit_) {  // Too few channels left: more for each.
      spread.middle = limit_ - channel_ - 2;
      spread.each = rest / (spread.middle + 1);
      spread.high = spread.each + rest % (spread.middle + 1);
    }
    if (spread.high == 0 && spread.middle != 0) {
      spread.high = spread.each;
      --spread.middle;
    }
    if (spread.low == 0) {  // The current channel is full: begin at the next.
      ++channel_;
      spread.low = spread.middle == 0 ? spread.high : spread.each;
      spread.high = spread.middle == 0 ? 0 : spread.high;
      spread.middle = std::max<std::int64_t>(spread.middle - 1, 0);
    }
    return spread;
  }

  [[nodiscard]] std::vector<ChannelPart> parts_of(const Spread& spread,
                                                  std::int64_t per_cell) const {
    std::vector<ChannelPart> parts{{channel_, spread.low * per_cell}};
    for (std::int64_t i = 0; i < spread.middle; ++i) {
      parts.push_back({parts.back().channel + 1, spread.each * per_cell});
    }
    if (spread.high != 0) {
      parts.push_back({parts.back().channel + 1, spread.high * per_cell});
    }
    return parts;
  }

  void advance(const Spread& spread, std::int64_t cell_traffic) {
    if (spread.high != 0) {
      channel_ += static_cast<int>(spread.middle) + 1;
      current_ = spread.high * cell_traffic;
    } else {
      current_ += spread.low * cell_traffic;
    }
    if (current_ >= per_channel_ && channel_ + 1 != limit_) {
      ++channel_;
      current_ = 0;
    }
  }

  std::int64_t per_channel_;
  int limit_;
  int channel_ = 0;
  std::int64_t current_ = 0;
};

}  // namespace

std::vector<std::vector<ChannelPart>> split_work(std::span<const SplitTask> tasks, int ranks,
                                                 int limit) {
  std::vector<std::vector<ChannelPart>> result;
  if (tasks.empty()) {
    return result;
  }
  for (const SplitTask& task : tasks) {
    COLLSIM_ENSURE(task.count > 0 && task.element_size > 0, "a task has elements");
    COLLSIM_ENSURE(task.channels >= 1 && task.channels <= limit, "a task's channels exist");
  }
  Dealer dealer(traffic_per_channel(tasks, ranks, limit), limit);
  result.reserve(tasks.size());
  for (const SplitTask& task : tasks) {
    result.push_back(dealer.deal(task, ranks));
  }
  return result;
}

}  // namespace collsim::nccl
