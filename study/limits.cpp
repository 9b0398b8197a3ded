#include "study/limits.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "topology/error.hpp"

namespace collsim {

namespace {

constexpr std::uint64_t looked_at = 512;  ///< lanes

struct LaneOfRank {
  Rank rank;
  std::uint32_t lane = 0;
};

/// Lanes of a program, counted rank by rank.
class LaneCount {
 public:
  explicit LaneCount(const Program& program) {
    const std::uint32_t ranks = program.call().ranks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      total_ += program.lane_count(Rank(rank));
      end_.push_back(total_);
    }
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] LaneOfRank at(std::uint64_t number) const {
    const auto rank =
        static_cast<std::size_t>(std::ranges::upper_bound(end_, number) - end_.begin());
    const std::uint64_t before = rank == 0 ? 0 : end_[rank - 1];
    return {Rank(rank), static_cast<std::uint32_t>(number - before)};
  }

 private:
  std::vector<std::uint64_t> end_;
  std::uint64_t total_ = 0;
};

/// Which lane is looked at as the i-th: all of few, else spread without a pattern, so that no regular
/// order of peers is met or missed (a step of the golden ratio, modulo 2^64).
std::uint64_t sampled(std::uint64_t i, std::uint64_t lanes) {
  if (lanes <= looked_at) {
    return i;
  }
  const std::uint64_t spread = (i + 1) * std::uint64_t{0x9E3779B97F4A7C15};
  return static_cast<std::uint64_t>((static_cast<U128>(spread) * lanes) >> 64U);
}

/// Of up to 4 messages of a lane, evenly chosen, the most links that a route has.
std::size_t links_of(const Cluster& cluster, const Communicator& gpus, const Program& program,
                     LaneOfRank of) {
  constexpr std::uint64_t messages = 4;
  const std::uint64_t steps = program.step_count(of.rank, of.lane);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < std::min(steps, messages); ++i) {
    const Step step = program.step(of.rank, of.lane, i * steps / std::min(steps, messages));
    if (step.sends.count == 0) {
      continue;
    }
    const Connection to = program.send_to(of.rank, of.lane, step.sends.first);
    if (to.peer != of.rank) {
      const Route route = cluster.router().route(gpus[of.rank.index()], gpus[to.peer.index()],
                                                 program.lane(of.rank, of.lane).channel);
      most = std::max(most, route.hops.size());
    }
  }
  return most;
}

/// Links of a lane's route beyond those that every lane has room for.
std::uint64_t more_links(const Cluster& cluster, const Communicator& gpus, const Program& program,
                         const LaneCount& lanes) {
  constexpr std::size_t few = 8;
  const std::uint64_t count = std::min(lanes.total(), looked_at);
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t links = links_of(cluster, gpus, program, lanes.at(sampled(i, lanes.total())));
    const auto more = static_cast<double>(links - std::min(links, few));
    sum += more;
    squares += more * more;
  }
  if (count == 0) {
    return 0;
  }
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  const double variance = std::max(0.0, squares / n - mean * mean);
  const double error = lanes.total() > looked_at ? std::sqrt(variance / n) : 0.0;
  return static_cast<std::uint64_t>(std::ceil(mean + 3 * error));
}

/// In whole MiB; what cannot be counted is as much as can.
Bytes memory_of(std::uint64_t lanes, std::uint64_t links_a_lane, std::uint64_t rank_times) {
  constexpr U128 bytes_per_lane = 1'400;
  constexpr U128 bytes_per_link = 48;
  constexpr U128 mebibyte = U128{1} << 20U;
  constexpr auto most = static_cast<U128>(std::numeric_limits<std::int64_t>::max());
  const U128 bytes = lanes * (bytes_per_lane + links_a_lane * bytes_per_link) +
                     U128{rank_times} * sizeof(Duration);
  return Bytes(static_cast<std::int64_t>(
      std::min((bytes + mebibyte - 1) / mebibyte * mebibyte, most / mebibyte * mebibyte)));
}

}  // namespace

RunSize size_of_run(const Cluster& cluster, const CollectiveJob& job, const Program& program,
                    std::uint64_t calls) {
  const std::uint64_t groups = job.groups();
  const LaneCount lanes(program);
  const std::uint64_t transfers = program.transfer_count();
  if (groups > 0 && transfers > std::numeric_limits<std::uint64_t>::max() / groups) {
    throw RangeError(std::to_string(groups) + " groups of " + std::to_string(transfers) +
                     " transfers are more than can be counted");
  }
  return {transfers * groups, calls,
          memory_of(lanes.total() * groups, more_links(cluster, job.gpus, program, lanes),
                    groups * program.call().ranks * calls)};
}

RunSize folded_size(const RunSize& size, const Folding& folding) {
  if (!folding.folded || folding.lanes.all == 0) {
    return size;
  }
  const auto part = [&folding](std::uint64_t whole) {
    const U128 product = static_cast<U128>(whole) * folding.lanes.classes;
    return (product + folding.lanes.all - 1) / folding.lanes.all;
  };
  RunSize folded = size;
  folded.transfers = static_cast<std::uint64_t>(part(size.transfers));
  folded.memory =
      Bytes(static_cast<std::int64_t>(part(static_cast<std::uint64_t>(size.memory.count()))));
  return folded;
}

WithinLimits check_limits(const RunSize& size, const RunLimits& limits) {
  if (size.calls > 0 && size.transfers > limits.max_transfers / size.calls) {
    return WithinLimits::TooManyTransfers;
  }
  return size.memory > limits.max_memory ? WithinLimits::TooMuchMemory : WithinLimits::Yes;
}

}  // namespace collsim
