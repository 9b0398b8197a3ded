#pragma once

// How far a sweep is, and how long the rest will take if it goes on like this: a line on a terminal.

#include <chrono>
#include <cstddef>

#include "tools/output.hpp"

namespace collsim {

class SweepProgress {
 public:
  /// Of `all` points, `before` were there when it began.
  SweepProgress(const OutputOptions& output, std::size_t all, std::size_t before);

  /// One more point is finished.
  void add(bool failed);

 private:
  void show();

  ProgressLine line_;
  std::size_t all_;
  std::size_t before_;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace collsim
