#pragma once

// What depends on the machine the program runs on: kept apart from results (--timing).

#include <chrono>
#include <cstdint>

namespace collsim {

struct RunInfo {
  double wall_s = 0;
  double events_per_s = 0;
  double transfers_per_s = 0;
  std::int64_t peak_memory_bytes = 0;
};

class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  [[nodiscard]] RunInfo stop(std::uint64_t events, std::uint64_t transfers) const;

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace collsim
