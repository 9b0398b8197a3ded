#pragma once

// The critical path as chains of stretches that point backwards. Every lane and every message under
// way knows the stretch that its time follows on; a chain that nothing points to any more is freed,
// so memory follows the length of the paths that may still become critical. Internal to the
// executor.

#include <cstdint>
#include <vector>

#include "sim/executor.hpp"
#include "sim/messages.hpp"

namespace collsim::detail {

/// Stretches with counted references. `no_index` stands for "the start of the run" everywhere.
class CriticalPaths {
 public:
  /// A new stretch behind `previous`; the caller holds one reference to it. `end` is filled in by
  /// path().
  std::uint32_t add(const CriticalStep& step, std::uint32_t previous);
  void retain(std::uint32_t stretch);
  /// Frees the chain as far back as nobody else needs it.
  void release(std::uint32_t stretch);
  /// Makes `place` refer to `stretch` instead of what it referred to.
  void assign(std::uint32_t& place, std::uint32_t stretch);

  /// The chain that ends with this stretch, oldest first; each ends where the next one starts.
  [[nodiscard]] std::vector<CriticalStep> path(std::uint32_t last) const;
  /// Stretches in use.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  struct Stretch {
    CriticalStep step;
    std::uint32_t previous = no_index;
    std::uint32_t references = 0;
  };
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
};

/// What a lane remembers for the critical path.
struct LaneHistory {
  std::uint32_t stretch = no_index;  ///< what its clock follows on
  std::uint32_t sent = no_index;     ///< of the running step's sends: the one that left last
  std::optional<Rank> from;          ///< whose message the running step waited for
  bool waited = false;               ///< the running step waited for somebody else
};

}  // namespace collsim::detail
