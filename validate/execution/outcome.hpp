#pragma once

// What is asked of an executor for one call of a collective, and what comes back: the same for all of them.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/units.hpp"
#include "validate/execution/test_data.hpp"

namespace collsim {

struct ExecutionRequest {
  std::uint32_t warmup = 1;  ///< calls before those that are timed
  std::uint32_t timed = 20;  ///< calls back to back
  bool check = true;         ///< afterwards, one call on fresh data
  std::string seed = "collsim";
  /// Without any progress for so long, the run has failed.
  std::chrono::milliseconds patience{30'000};
};

struct ExecutionOutcome {
  /// Of one call: the mean over ranks and timed calls.
  Duration time{};
  std::vector<WrongData> wrong;  ///< one a rank that has any
  std::uint64_t emulated_steps =
      0;  ///< steps of a call that stand for the work of an NVLink switch
  std::uint64_t replaced_lanes = 0;  ///< lanes of LL128 that ran as LL
  std::string wire;  ///< of a GPU's interpreter: "Simple", "LL", "LL128"; else empty

  [[nodiscard]] std::uint64_t wrong_elements() const {
    std::uint64_t count = 0;
    for (const WrongData& data : wrong) {
      count += data.count;
    }
    return count;
  }
};

}  // namespace collsim
