#include "sim/delayed_ranks.hpp"

#include <algorithm>

namespace collsim::detail {

std::int64_t* DelayedRanks::add(Rank rank, std::size_t ranks, std::span<const std::int64_t> from) {
  if (vectors_.empty()) {
    width_ = from.size();
    vectors_.resize(ranks * width_);
    stretches_.resize(ranks, no_index);
  }
  std::int64_t* const vector = vectors_.data() + rank.index() * width_;
  std::copy(from.begin(), from.end(), vector);
  return vector;
}

Progress DelayedRanks::progress(Rank rank) const {
  return {vectors_.data() + rank.index() * width_, stretches_[rank.index()]};
}

}  // namespace collsim::detail
