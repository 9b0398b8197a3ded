#pragma once

// What a run is like at an instant, as numbers: two instants with the same numbers are followed by the
// same. Times are told relative to the instant. See steady_state.hpp. Internal to the executor.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/refinement.hpp"
#include "topology/units.hpp"

namespace collsim::detail {

class StateRecord {
 public:
  explicit StateRecord(Time now) : now_(now) {}

  StateRecord& add(std::uint64_t number) {
    numbers_.push_back(number);
    return *this;
  }
  StateRecord& add(Duration time) { return add(static_cast<std::uint64_t>(time.count())); }
  StateRecord& add(U128 number) {
    constexpr unsigned half = 64;
    return add(static_cast<std::uint64_t>(number >> half)).add(static_cast<std::uint64_t>(number));
  }
  /// How long ago, or how far ahead; the start of a run stands for never.
  StateRecord& add(Time time) {
    constexpr std::uint64_t never = std::uint64_t{1} << 63U;
    return time == Time{} ? add(never) : add(time - now_);
  }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const std::vector<std::uint64_t>& numbers() const { return numbers_; }
  [[nodiscard]] std::uint64_t hash() const {
    SequenceHash hash;
    for (const std::uint64_t number : numbers_) {
      hash.add(number);
    }
    return hash.value();
  }

 private:
  Time now_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace collsim::detail
