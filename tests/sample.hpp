#pragma once

// Long rows of cases, of which builds with sanitizers, where each takes ten times as long, run a part.

#include <cstdint>

namespace collsim::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// One case of so many under a sanitizer, beginning with the first; else all.
class Sample {
 public:
  explicit Sample(std::uint32_t one_of) : one_of_(one_of) {}

  [[nodiscard]] bool takes_next() { return !sanitized || next_++ % one_of_ == 0; }

 private:
  std::uint32_t one_of_;
  std::uint32_t next_ = 0;
};

}  // namespace collsim::test
