// Who gets which GPU.

#include "validate/cuda/gpu_shares.hpp"

#include "tests/catch.hpp"

using namespace collsim;

using Gpus = std::vector<std::uint32_t>;

TEST_CASE("ranks take a GPU each, or share all of them in blocks") {
  CHECK(gpus_by_rank(2, 8) == Gpus{0, 1});
  CHECK(gpus_by_rank(3, 1) == Gpus{0, 0, 0});
  // 8 ranks on 3 GPUs: rank r is on 3 r / 8, rounded down.
  CHECK(gpus_by_rank(8, 3) == Gpus{0, 0, 0, 1, 1, 1, 2, 2});
  CHECK(gpus_by_rank(0, 2).empty());
}

TEST_CASE("a process counts among those of its host, whatever order ranks have") {
  const std::vector<std::string> hosts{"a", "b", "a", "b", "a"};
  const auto share = [&](std::uint32_t rank) {
    const HostShare found = share_of_host(hosts, rank);
    return std::pair(found.index, found.ranks);
  };
  CHECK(share(0) == std::pair(0U, 3U));
  CHECK(share(3) == std::pair(1U, 2U));
  CHECK(share(4) == std::pair(2U, 3U));
}
