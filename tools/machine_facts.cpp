#include "tools/machine_facts.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <fstream>

#include "tools/format_text.hpp"

namespace collsim {

namespace {

unsigned usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return 1;
  }
  return static_cast<unsigned>(CPU_COUNT(&cores));
}

/// The first "model name" of /proc/cpuinfo.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown CPU";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (gmtime_r(&now, &parts) == nullptr) {
    return "unknown";
  }
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return {text.data(), length};
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  utsname system{};
  const bool known = uname(&system) == 0;
  facts.host = known ? system.nodename : "unknown";
  facts.kernel = known ? fmt::format("{} {}", system.sysname, system.release) : "unknown";
  facts.cores = usable_cores();
  facts.cpu = fmt::format("{}, {}", cpu_model(), counted(facts.cores, "core"));
  facts.compiler = compiler();
  facts.date = today();
  return facts;
}

}  // namespace collsim
