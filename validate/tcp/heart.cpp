#include "validate/tcp/heart.hpp"

#include <cstdint>
#include <system_error>

#include "validate/execution/execution_error.hpp"

namespace collsim {

Heart::Heart(Mesh& mesh, std::chrono::milliseconds patience)
    : mesh_(mesh), interval_(patience / 4) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& error) {
    throw ExecutionError("cannot start a thread: " + error.code().message());
  }
}

void Heart::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = mesh_.looks();
  while (!stop.stop_requested()) {
    stopped_.wait_for(lock, stop, interval_, [] { return false; });
    const std::uint64_t now = mesh_.looks();
    if (now == seen && !stop.stop_requested()) {
      mesh_.beat();
    }
    seen = now;
  }
}

}  // namespace collsim
