// Uses the installed headers and libraries; the exit code says whether they work.

#include <topology/units.hpp>

int main() {
  using namespace collsim;
  using namespace collsim::literals;
  // 2^30 B at 10^9 B/s take 1.073741824 s.
  const bool right = transfer_time(1_GiB, Rate(1_GBps)) == Duration(1'073'741'824'000);
  return right ? 0 : 1;
}
