#pragma once

// What the processes of a group tell each other between runs, one rank each, whatever carries it.
//
// All ranks make the same calls in the same order.

#include <cstdint>
#include <string>
#include <vector>

namespace collsim {

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  [[nodiscard]] virtual std::uint32_t rank() const = 0;
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  /// Everyone's text (any bytes, some thousands at most), by rank. Waits until all ranks are here.
  /// Throws: ExecutionError where one is lost or late.
  virtual std::vector<std::string> exchange(std::string own) = 0;
  /// To be called now and then while something else is waited for. Throws: ExecutionError where a rank is lost.
  virtual void require_peers() = 0;

  /// Waits until all ranks are here.
  void meet() { static_cast<void>(exchange({})); }

 protected:
  ProcessGroup() = default;
  ProcessGroup(const ProcessGroup&) = default;
  ProcessGroup& operator=(const ProcessGroup&) = default;
};

}  // namespace collsim
