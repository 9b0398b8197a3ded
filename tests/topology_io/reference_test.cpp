// The documents of the reference are read and built, and its tables name every key that is read.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology_io/description.hpp"

namespace collsim {

namespace {

std::string reference() {
  std::ifstream file(test::source_path("docs/yaml_reference.md"));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> yaml_blocks(const std::string& text) {
  const std::string open = "```yaml\n";
  std::vector<std::string> blocks;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find("```", at);
    blocks.push_back(text.substr(at, end - at));
  }
  return blocks;
}

}  // namespace

TEST_CASE("the clusters of the reference build", "[reference]") {
  const std::vector<std::string> blocks = yaml_blocks(reference());
  CHECK(blocks.size() >= 4);
  for (const std::string& block : blocks) {
    CAPTURE(block);
    CHECK(test::message(block) == "accepted");
  }
}

TEST_CASE("the settings of the reference are legal", "[reference]") {
  const std::vector<std::string> blocks = yaml_blocks(reference());
  REQUIRE(blocks.size() >= 3);
  const std::string& leaf_spine = blocks[2];
  for (const std::string setting :
       {"nodes=64", "gpus=1024", "node=dgx-h100", "node.links[0].bandwidth=100GB/s",
        "fabric.spine.oversubscription=4",
        "fabric={kind: single-switch, link: {bandwidth: 50 GB/s, latency: 1 us}}"}) {
    CAPTURE(setting);
    CHECK(reference().find("`" + setting + "`") != std::string::npos);
    CHECK_NOTHROW(parse_cluster(leaf_spine, "x.yaml", {parse_setting(setting)}, test::shipped()));
  }
}

TEST_CASE("every key that is read has a line in the reference", "[reference]") {
  const std::string text = reference();
  const std::vector<std::string> blocks = yaml_blocks(text);
  for (const std::string& block : blocks) {
    const LoadedCluster loaded = parse_cluster(block, "x.yaml", {}, test::shipped());
    for (const Provenance& value : loaded.spec.values) {
      const std::string key = value.path.substr(value.path.find_last_of('.') + 1);
      CAPTURE(value.path);
      const bool named = text.find("`" + key + "`") != std::string::npos ||
                         text.find("." + key + "`") != std::string::npos;
      CHECK(named);
    }
  }
}

}  // namespace collsim
