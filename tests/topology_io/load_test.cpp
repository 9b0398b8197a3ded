#include "topology/io/load.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/shared_data.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using namespace collsim::literals;

ConfigPath shipped() { return ConfigPath{{test::source_path("configs").string()}}; }

}  // namespace

TEST_CASE("the shipped clusters load", "[load]") {
  const LoadedCluster star = load_cluster("textbook-star", {}, shipped());
  CHECK(star.spec.node.gpus == 8);
  CHECK(star.spec.node.links.at(0).bandwidth == 50_GBps);
  CHECK(star.spec.node.links.at(0).latency == 500'000_ps);
  CHECK(load_cluster("textbook-mesh", {}, shipped()).spec.node.links.at(0).connect ==
        Connect::mesh);
  CHECK(load_cluster("textbook-2x4", {}, shipped()).spec.nodes == 2);
  CHECK(load_cluster("dgx-h100", {}, shipped()).spec.node.name == "dgx-h100");
  const LoadedCluster four = load_cluster("dgx-h100-x4", {}, shipped());
  CHECK(four.spec.fabric.kind == FabricKind::single_switch);
  CHECK(four.spec.fabric.link.bandwidth == 50_GBps);
}

TEST_CASE("the shipped clusters build", "[load]") {
  for (const std::string name : {"textbook-star", "textbook-mesh", "textbook-2x4", "dgx-h100",
                                 "dgx-h100-x4", "textbook-star-8", "textbook-mesh-8"}) {
    CAPTURE(name);
    const Cluster cluster = build_cluster(load_cluster(name, {}, shipped()));
    CHECK(cluster.graph().gpus().size() >= 8);
  }
}

TEST_CASE("an alias is the cluster that it names", "[load]") {
  const LoadedCluster alias = load_cluster("textbook-star-8", {}, shipped());
  CHECK(alias.spec.name == "textbook-star");
  CHECK(alias.digest == load_cluster("textbook-star", {}, shipped()).digest);
}

TEST_CASE("a setting changes the document", "[load]") {
  const LoadedCluster star = load_cluster("textbook-star", {parse_setting("gpus=1024")}, shipped());
  CHECK(star.spec.node.gpus == 1024);
}

}  // namespace collsim
