// Where ranks run, as processes tell each other.

#include "tools/rank_place.hpp"

#include "tests/catch.hpp"

using namespace collsim;

namespace {

/// Three ranks, which all say what the own one does.
class Echo final : public ProcessGroup {
 public:
  [[nodiscard]] std::uint32_t rank() const override { return 0; }
  [[nodiscard]] std::uint32_t ranks() const override { return 3; }
  std::vector<std::string> exchange(std::string own) override {
    return std::vector<std::string>(3, own);
  }
  void require_peers() override {}
};

}  // namespace

TEST_CASE("what a rank says of its place arrives, without what would steer a terminal") {
  Echo group;
  const RankPlace own{"node-1", 4711, RankGpu{3, "0000:1b:00.0", "NVIDIA\x1b[2J H200"}};
  const std::vector<RankPlace> places = exchange_places(group, own);
  REQUIRE(places.size() == 3);
  CHECK(places[2].host == "node-1");
  CHECK(places[2].process == 4711);
  REQUIRE(places[2].gpu);
  CHECK(places[2].gpu->device == 3);
  CHECK(places[2].gpu->bus == "0000:1b:00.0");
  CHECK(places[2].gpu->name == "NVIDIA?[2J H200");
  CHECK_FALSE(exchange_places(group, {"node-1", 1, std::nullopt}).front().gpu);
}

TEST_CASE("GPUs are told apart by machine and bus, not by how a process counts them") {
  const auto on = [](const char* host, const char* bus) {
    return RankPlace{host, 1, RankGpu{0, bus, "GPU"}};
  };
  CHECK(gpus_of({on("a", "1b"), on("a", "2b"), on("b", "1b"), on("a", "1b")}) == 3);
  CHECK(gpus_of({RankPlace{"a", 1, std::nullopt}}) == 0);
}
