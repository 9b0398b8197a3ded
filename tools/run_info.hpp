#pragma once

// What depends on the machine the program runs on: kept apart from results (--timing).

#include <chrono>
#include <cstdint>
#include <string>

namespace collsim {

struct RunInfo {
  double wall_s = 0;
  double events_per_s = 0;
  double transfers_per_s = 0;
  std::int64_t peak_memory_bytes = 0;
};

/// "Simulated in 0.012 s: 1.2 M events/s, 0.4 M transfers/s, peak memory 14 MiB".
[[nodiscard]] std::string run_info_text(const RunInfo& info);

[[nodiscard]] RunInfo with_rates(RunInfo info, std::uint64_t events, std::uint64_t transfers);

class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  /// Time and memory so far; no rates.
  [[nodiscard]] RunInfo stop() const;
  [[nodiscard]] RunInfo stop(std::uint64_t events, std::uint64_t transfers) const {
    return with_rates(stop(), events, transfers);
  }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace collsim
