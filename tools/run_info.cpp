#include "tools/run_info.hpp"

#include <sys/resource.h>

namespace collsim {

RunInfo Stopwatch::stop(std::uint64_t events, std::uint64_t transfers) const {
  RunInfo info;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  info.wall_s = elapsed.count();
  if (info.wall_s > 0) {
    info.events_per_s = static_cast<double>(events) / info.wall_s;
    info.transfers_per_s = static_cast<double>(transfers) / info.wall_s;
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) info.peak_memory_bytes = usage.ru_maxrss * 1024;
  return info;
}

}  // namespace collsim
