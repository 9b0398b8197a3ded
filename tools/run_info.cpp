#include "tools/run_info.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include "tools/format_text.hpp"

namespace collsim {

std::string run_info_text(const RunInfo& info) {
  return fmt::format(
      "Simulated in {:.3f} s: {:.3g} M events/s, {:.3g} M transfers/s, peak memory {}", info.wall_s,
      info.events_per_s / 1e6, info.transfers_per_s / 1e6,
      human_bytes(Bytes(info.peak_memory_bytes)));
}

RunInfo with_rates(RunInfo info, std::uint64_t events, std::uint64_t transfers) {
  if (info.wall_s > 0) {
    info.events_per_s = static_cast<double>(events) / info.wall_s;
    info.transfers_per_s = static_cast<double>(transfers) / info.wall_s;
  }
  return info;
}

RunInfo Stopwatch::stop() const {
  RunInfo info;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  info.wall_s = elapsed.count();
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): glibc wraps the field in a union
    info.peak_memory_bytes = usage.ru_maxrss * 1024;
  }
  return info;
}

}  // namespace collsim
